package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// simulateFlags are what the flags of simulate say.
type simulateFlags struct {
	pathFlags
	paceFlags
	variantFlags
	flowFlags
	size      int64
	seeds     int
	firstSeed uint64
	limit     time.Duration
	warm      bool
	json      bool
	log       string
}

func newSimulate() *cobra.Command {
	sim := simulateFlags{}
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Transfer one block many times in virtual time, or let streams share a path, and report how long it takes",
		Long: `simulate transfers one block from a sender to a receiver over a simulated network,
once for each seed, in virtual time: exact, repeatable, and much faster than the
real thing. Loss is random, independent, in each direction, after the bottleneck;
every datagram has 28 more bytes on the link, for IP and UDP. With --warm, the block is
the second one of its connection: the sender knows the path.

Blocks are sent with repair slices; with --plain lost slices are resent. The --json of
both shows the times and the bytes that a block needs.

--rate is the rate of the link, --max-rate the limit of the sender. The profiles fixed and
article send at --max-rate, otherwise at the rate of the link.

Transfers that are not complete within --limit count as failed, and are not in the other
figures; if all fail, the exit code is 3.

With --flows, this number of streams of blocks share the path, each of its own connection
with --lanes blocks under way. The report shows the share of each stream and the length of
the queue. --beside adds a model of another protocol's sender. Rates count each slice
once, with all headers. A stream that gave up counts as a timeout.
` + exitHelp,
		Example: `  chunkwire simulate --rate 100M --rtt 50ms
  chunkwire simulate --rate 1M --queue 64K --loss 5 --profile fixed
  chunkwire simulate --rate 10M --queue 256K --loss 5 --warm
  chunkwire simulate --rate 10M --queue 256K --loss 5 --warm --plain
  chunkwire simulate --rate 10M --loss 5 --profile redundant
  chunkwire simulate --loss 20 --seeds 1000 --json
  chunkwire simulate --flows 4 --rate 10M --queue 256K --for 30s --every 5s
  chunkwire simulate --flows 1 --lanes 1 --beside cubic --rate 20M --rtt 30ms --queue 64K
  chunkwire simulate --flows 8 --apart 2s --rate 5M --queue 64K --every 1s --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := sim.settings()
			if err == nil {
				err = sim.flowFlags.check(cmd, sim.rate)
			}
			switch {
			case err != nil:
				return usageError(cmd, err)
			case sim.flows > 0 && sim.log != "":
				return usageError(cmd, errors.New("--log is for one transfer and cannot be used with --flows"))
			case sim.flows > 0:
				return sim.runFlows(cmd.Context(), cmd.OutOrStdout(), settings.Pace)
			}
			return sim.run(cmd.Context(), cmd.OutOrStdout(), settings)
		},
	}
	f := cmd.Flags()
	f.Var(byteSize(&sim.size, codec.MaxChunkSize, codec.MaxChunkSize), "size", "size of the block, at most 256K")
	sim.pathFlags.add(f)
	sim.paceFlags.add(cmd, "send-rate")
	sim.variantFlags.add(cmd, plainSlices)
	sim.flowFlags.add(cmd)
	f.IntVar(&sim.seeds, "seeds", 100, "number of transfers")
	f.Uint64Var(&sim.firstSeed, "seed", 1, "seed of the first transfer")
	f.DurationVar(&sim.limit, "limit", 10*time.Minute, "longest virtual time of a transfer")
	f.BoolVar(&sim.warm, "warm", false, "measure the second block of a connection")
	f.StringVar(&sim.log, "log", "", "write the events of the transfer with the first seed to this `FILE`, compressed if its name ends with .gz")
	f.BoolVar(&sim.json, "json", false, "print one JSON object")
	return cmd
}

// settings checks the flags and returns what they ask for.
func (sim *simulateFlags) settings() (simulate.Settings, error) {
	settings := simulate.Settings{Path: sim.simulated(), Size: sim.size, Seeds: sim.seeds, Seed: sim.firstSeed, Limit: sim.limit, Warm: sim.warm}
	err := settings.Check()
	if err == nil {
		err = sim.resolve(sim.profile)
	}
	if err == nil {
		settings.Repair = sim.repair
		settings.Pace, err = sim.pace(sim.rate)
	}
	return settings, err
}

func (sim *simulateFlags) run(ctx context.Context, w io.Writer, settings simulate.Settings) error {
	transfers, err := transfers(ctx, settings)
	if err == nil && sim.log != "" {
		err = writeTransfer(sim.log, settings)
	}
	report := settings.Report(transfers)
	switch {
	case err != nil:
		report.OK, report.Error = false, sentence(err)
	case !report.OK:
		err = timeoutError(report.Error)
	}
	switch {
	case sim.json:
		return errors.Join(err, json.NewEncoder(w).Encode(report))
	case ctx.Err() != nil:
		return err
	}
	return errors.Join(err, printSimulation(w, report))
}

// writeTransfer writes the log of the first seed's transfer: it is run once more, which gives
// the same.
func writeTransfer(path string, settings simulate.Settings) error {
	file := eventlog.AppendHeader(nil, logHeader("simulate", eventlog.Network))
	settings.Log = func(e eventlog.Event) { file = eventlog.Append(file, &e) }
	_, _ = settings.Transfer(settings.Seed) // one that fails has a log, too
	f, err := createLog(path)
	if err != nil {
		return err
	}
	_, err = f.Write(file)
	return errors.Join(err, f.Close())
}

// transfers runs all seeds, as many at once as there are processors. A failed
// one is nil. When the context ends there are none.
func transfers(ctx context.Context, settings simulate.Settings) ([]*chunk.Transfer, error) {
	var results []*chunk.Transfer
	err := orEnd(ctx, func() error {
		results = measure.Seeds(settings.Seed, settings.Seeds, func() bool { return ctx.Err() == nil }, func(seed uint64) *chunk.Transfer {
			if t, err := settings.Transfer(seed); err == nil {
				return &t
			}
			return nil
		})
		return nil
	})
	if err == nil && ctx.Err() != nil {
		err = ended(ctx)
	}
	if err != nil {
		return nil, err
	}
	return results, nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func printSimulation(w io.Writer, r simulate.Report) error {
	rate, queue := "an unlimited link", ""
	if r.RateBits > 0 {
		rate, queue = formatBits(float64(r.RateBits)), ", queue unlimited"
	}
	if r.QueueBytes > 0 {
		queue = ", queue " + formatBytes(float64(r.QueueBytes))
	}
	rtt := time.Duration(r.RTTms * float64(time.Millisecond))
	block := formatBytes(float64(r.Size))
	if r.Warm {
		block += " after as much,"
	}
	fmt.Fprintf(w, "%s over %s%s, RTT %v, %g %% loss each way; %s, profile %s, %s\n",
		block, rate, queue, rtt, r.LossPercent, variantText[r.Variant], r.Profile, countOf(int64(r.Seeds), "seed"))
	return printTable(w, func(t io.Writer) {
		fmt.Fprintln(t, "\tmedian\t95th\tmax\t")
		fmt.Fprintf(t, "delivered, ms\t%s\t\n", cells(r.DeliverMS))
		fmt.Fprintf(t, "acked, ms\t%s\t\n", cells(r.AckedMS))
		fmt.Fprintf(t, "slices sent, median\t%s\t\t\t\n", figure("%g", r.SlicesSent))
		fmt.Fprintf(t, "bytes down / size, median\t%s\t\t\t\n", figure("%.3f", r.BytesDownRatio))
		fmt.Fprintf(t, "bytes up / size, median\t%s\t\t\t\n", figure("%.3f", r.BytesUpRatio))
		fmt.Fprintf(t, "failed, of %d\t%d\t\t\t\n", r.Seeds, r.Failed)
	})
}
