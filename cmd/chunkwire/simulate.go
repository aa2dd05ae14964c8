package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/sim/chunk"
	repaired "github.com/chunkwire/chunkwire/sim/repair"
	"github.com/chunkwire/chunkwire/statemachine"
)

// simulation is what the flags of simulate say.
type simulation struct {
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
}

const (
	maxSeeds = 1_000_000
	maxLimit = 1000 * time.Hour
)

func newSimulate() *cobra.Command {
	sim := simulation{}
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Transfer one block many times in virtual time, or let streams share a path, and report how long it takes",
		Long: `simulate transfers one block from a sender to a receiver over a simulated network,
once for each seed, in virtual time: exact, repeatable, and much faster than the
real thing. Loss is random, independent, in each direction, behind the bottleneck;
every datagram costs 28 bytes more on the link, for IP and UDP. With --warm, the block is
the second one of its connection: the sender knows the path.

Slices go as repair slices, and with --plain are sent again when they were lost: the
--json of both says how much sooner, in which bytes, a block is there.

--rate is the link's, --max-rate the sender's. The profiles fixed and article send at
--max-rate, or else at the link's rate.

Transfers that are not done within --limit count as failed, and are in none of the other
figures; if all are, that is a time-out.

With --flows, so many streams of blocks share the path for a while, each of a connection of
its own with --lanes blocks under way, and the report says what each of them got, and what all
of them did to the queue. --beside adds a model of another protocol's sender. Rates count
each slice once, with all headers. A stream that gave up is a time-out.
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
			p, err := sim.checked()
			if err == nil {
				err = sim.flowFlags.check(cmd, sim.rate)
			}
			switch {
			case err != nil:
				return usageError(cmd, err)
			case sim.flows > 0:
				return sim.runFlows(cmd.Context(), cmd.OutOrStdout(), p)
			}
			return sim.run(cmd.Context(), cmd.OutOrStdout(), p)
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
	f.DurationVar(&sim.limit, "limit", 10*time.Minute, "virtual time that a transfer may take")
	f.BoolVar(&sim.warm, "warm", false, "measure the second block of a connection")
	f.BoolVar(&sim.json, "json", false, "print one JSON object")
	return cmd
}

// checked checks the flags and returns the pace.
func (sim *simulation) checked() (pace, error) {
	err := sim.pathFlags.check()
	if err == nil {
		err = sim.resolve(sim.profile)
	}
	switch {
	case err != nil:
	case sim.size < 1:
		err = fmt.Errorf("--size must be 1 to %d", codec.MaxChunkSize)
	case sim.seeds < 1 || sim.seeds > maxSeeds:
		err = fmt.Errorf("--seeds must be 1 to %d", maxSeeds)
	case sim.limit <= 0 || sim.limit > maxLimit:
		err = errors.New("--limit must be above 0, and at most 1000h")
	}
	if err != nil {
		return pace{}, err
	}
	return sim.pace(sim.rate)
}

func (sim *simulation) run(ctx context.Context, w io.Writer, p pace) error {
	transfers, err := sim.transfers(ctx, p)
	report := sim.report(p, transfers)
	if err == nil && report.Failed == sim.seeds {
		err = timeoutError(fmt.Sprintf("none of %s was done within %v of virtual time; allow more with --limit", countOf(int64(sim.seeds), "transfer"), sim.limit))
	}
	if err != nil {
		report.OK, report.Error = false, sentence(err)
	}
	switch {
	case sim.json:
		return errors.Join(err, json.NewEncoder(w).Encode(report))
	case ctx.Err() != nil:
		return err
	}
	return errors.Join(err, report.print(w))
}

// transfers runs all seeds, as many at once as there are processors. A failed
// one is nil. When the context ends there are none.
func (sim *simulation) transfers(ctx context.Context, p pace) ([]*chunk.Transfer, error) {
	results := make([]*chunk.Transfer, sim.seeds)
	err := orEnd(ctx, func() error {
		next := make(chan int)
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for i := range next {
					if t, err := sim.transfer(p, sim.firstSeed+uint64(i)); err == nil {
						results[i] = &t
					}
				}
			})
		}
		for i := 0; i < len(results) && ctx.Err() == nil; i++ {
			next <- i
		}
		close(next)
		workers.Wait()
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

func (sim *simulation) transfer(p pace, seed uint64) (chunk.Transfer, error) {
	limit := machine.FromDuration(sim.limit)
	down, err1 := netsim.NewLink(sim.path(), 2*seed)
	up, err2 := netsim.NewLink(sim.path(), 2*seed+1)
	if err := errors.Join(err1, err2); err != nil {
		return chunk.Transfer{}, err
	}
	c, err := sim.conversation(p, limit, down, up)
	if err == nil && sim.warm {
		_, err = c.Transfer(pattern(int(sim.size), seed+1), limit)
	}
	if err != nil {
		return chunk.Transfer{}, err
	}
	return c.Transfer(pattern(int(sim.size), seed), limit)
}

// conversation is two machines of either variant.
type conversation interface {
	Transfer(chunk []byte, limit machine.Micros) (chunk.Transfer, error)
}

func (sim *simulation) conversation(p pace, giveUp machine.Micros, down, up *netsim.Link) (conversation, error) {
	if sim.repair {
		scheduler, err := p.repairScheduler()
		if err != nil {
			return nil, err
		}
		return repaired.NewConversation(repair.SenderConfig{Scheduler: scheduler, GiveUp: giveUp}, repair.ReceiverConfig{GiveUp: giveUp}, down, up)
	}
	scheduler, err := p.scheduler()
	if err != nil {
		return nil, err
	}
	return chunk.NewConversation(statemachine.SenderConfig{Scheduler: scheduler, GiveUp: giveUp}, statemachine.ReceiverConfig{GiveUp: giveUp}, down, up)
}

// simulationReport is what --json prints.
type simulationReport struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Size  int64  `json:"size"`
	pathReport
	Variant        string    `json:"variant"` // repair, or slices, which are sent again
	Profile        string    `json:"profile"`
	SendRateBits   int64     `json:"send_rate_bits"`
	Warm           bool      `json:"warm"`
	Seed           uint64    `json:"seed"`
	Seeds          int       `json:"seeds"`
	LimitMS        float64   `json:"limit_ms"`
	Failed         int       `json:"failed"`
	DeliverMS      *quantile `json:"deliver_ms"` // nil, as the others, when all failed
	AckedMS        *quantile `json:"acked_ms"`
	BytesDownRatio *float64  `json:"bytes_down_ratio"`
	BytesUpRatio   *float64  `json:"bytes_up_ratio"`
	SlicesSent     *float64  `json:"slices_sent"`
}

func (sim *simulation) report(p pace, transfers []*chunk.Transfer) simulationReport {
	r := simulationReport{
		OK: true, Size: sim.size, pathReport: sim.pathFlags.report(), Variant: variantName(sim.repair), Profile: sim.profile, SendRateBits: p.rate, Warm: sim.warm,
		Seed: sim.firstSeed, Seeds: sim.seeds, LimitMS: milliseconds(sim.limit),
	}
	var deliver, acked, down, up, slices []float64
	for _, t := range transfers {
		if t == nil {
			r.Failed++
			continue
		}
		deliver = append(deliver, float64(t.Delivered)/1000)
		acked = append(acked, float64(t.Acked)/1000)
		down = append(down, float64(t.BytesDown)/float64(sim.size))
		up = append(up, float64(t.BytesUp)/float64(sim.size))
		slices = append(slices, float64(t.SlicesSent))
	}
	r.DeliverMS, r.AckedMS = quantiles(deliver), quantiles(acked)
	r.BytesDownRatio, r.BytesUpRatio = quantiles(down).median(), quantiles(up).median()
	r.SlicesSent = quantiles(slices).median()
	return r
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func (r simulationReport) print(w io.Writer) error {
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
		fmt.Fprintf(t, "delivered, ms\t%s\t\n", r.DeliverMS.cells())
		fmt.Fprintf(t, "acked, ms\t%s\t\n", r.AckedMS.cells())
		fmt.Fprintf(t, "slices sent, median\t%s\t\t\t\n", figure("%g", r.SlicesSent))
		fmt.Fprintf(t, "bytes down / size, median\t%s\t\t\t\n", figure("%.3f", r.BytesDownRatio))
		fmt.Fprintf(t, "bytes up / size, median\t%s\t\t\t\n", figure("%.3f", r.BytesUpRatio))
		fmt.Fprintf(t, "failed, of %d\t%d\t\t\t\n", r.Seeds, r.Failed)
	})
}
