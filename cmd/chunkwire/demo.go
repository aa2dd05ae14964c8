package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// demo is what the flags of demo say.
type demo struct {
	pathFlags
	paceFlags
	variantFlags
	logFlag
	size    int64
	seed    uint64
	timeout time.Duration
	json    bool
	events  *eventLog // of --log
}

// demoRate is how fast the profiles of a fixed rate send over an unlimited link,
// in bits a second: without a limit they overflow the sockets' buffers.
const demoRate = 100_000_000

func newDemo() *cobra.Command {
	d := demo{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Push a world to a player through a bad network, on this machine",
		Long: `demo runs a server and a client over real UDP sockets on loopback, with a relay in
between that delays and loses datagrams. The client joins, the server pushes a block of
data, and the bytes are compared. On a terminal it shows how many slices have arrived,
since almost any set of enough slices makes the block, or with --plain which.

--rate is the rate of the link, --max-rate the limit of the sender. The profiles fixed and
article send at --max-rate, otherwise at the rate of the link, or at 100M if it is unlimited.
` + variantHelp + `slices_spurious counts
slices that were resent needlessly.
` + exitHelp,
		Example: `  chunkwire demo
  chunkwire demo --loss 20 --plain
  chunkwire demo --loss 20 --rtt 120ms
  chunkwire demo --rate 2M --queue 64K --size 100K
  chunkwire demo --loss 1 --duplicate 10 --reorder 10 --profile fixed --seed 7
  chunkwire demo --jitter 20ms --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := d.check()
			if err != nil {
				return usageError(cmd, err)
			}
			return d.run(cmd.Context(), newScreen(cmd.OutOrStdout()), cmd.ErrOrStderr(), p)
		},
	}
	f := cmd.Flags()
	f.Var(byteSize(&d.size, codec.MaxChunkSize, codec.MaxChunkSize), "size", "size of the block, at most 256K")
	d.loss = 5
	d.pathFlags.add(f)
	d.paceFlags.add(cmd, "")
	d.variantFlags.add(cmd, plainSlices)
	f.Uint64Var(&d.seed, "seed", 1, "seed of the relay's chance and of the block's bytes")
	f.DurationVar(&d.timeout, "timeout", time.Minute, "longest time of the transfer; 0: no limit")
	d.logFlag.add(f)
	f.BoolVar(&d.json, "json", false, "print one JSON object, also after a failure, and nothing else")
	return cmd
}

// check returns the sender's pace.
func (d *demo) check() (pace.Pace, error) {
	switch {
	case d.size < 1:
		return pace.Pace{}, fmt.Errorf("--size must be 1 to %d", codec.MaxChunkSize)
	case d.timeout < 0:
		return pace.Pace{}, errors.New("--timeout must not be negative")
	}
	err := d.pathFlags.check()
	if err == nil {
		err = d.resolve(d.profile)
	}
	if err != nil {
		return pace.Pace{}, err
	}
	if d.rate == 0 {
		return d.pace(demoRate)
	}
	return d.pace(d.rate)
}

func (d *demo) run(ctx context.Context, out screen, errOut io.Writer, p pace.Pace) error {
	report := io.Discard
	if d.json {
		report, out.w, out.live = out.w, io.Discard, false
	}
	result, slices, err := d.transfer(ctx, out, errOut, p)
	if d.json {
		return errors.Join(err, d.writeJSON(report, slices.totals(), result, err))
	}
	if err == nil || errors.Is(err, errMismatch) {
		d.report(out, slices, result)
	}
	return err
}

// transfer shows the transfer and returns its result.
func (d *demo) transfer(ctx context.Context, out screen, errOut io.Writer, p pace.Pace) (result pushed, slices *sliceMap, err error) {
	ctx, cancel := withTimeout(ctx, d.timeout, fmt.Sprintf("the block did not get through within %v; allow more with --timeout", d.timeout))
	defer cancel()
	slices = newSliceMap(int(d.size), d.repair)
	if d.events, err = d.logFlag.open("demo", eventlog.Network); err != nil {
		return result, slices, err
	}
	defer d.events.close(note{errOut})
	stage, err := d.setUp(ctx, slices, p)
	if err != nil {
		return result, slices, err
	}
	defer stage.close()
	warnOfSmallBuffers(errOut, plainGate{stage.server}.socket())
	out.print(fmt.Sprintf("server %v → relay %v → client %v", stage.server.Addr(), stage.relayAddr, stage.client.LocalAddr()))
	out.print(d.headline(p))
	world := simulate.Pattern(int(d.size), d.seed)
	stop := watch(out, slices)
	result, err = stage.push(ctx, world)
	stop()
	switch {
	case err != nil:
		return result, slices, stuck(err)
	case !bytes.Equal(result.got, world):
		return result, slices, errMismatch
	}
	return result, slices, nil
}

// headline says what is sent, and over what.
func (d *demo) headline(p pace.Pace) string {
	line := fmt.Sprintf("%s, RTT %v, %g %% loss each way", countOf(d.size, "byte"), d.rtt, d.loss)
	if d.rate > 0 {
		line += ", " + formatBits(float64(d.rate))
	}
	switch {
	case pace.NeedsRate(d.profile) && p.Rate != d.rate:
		line += ", sent at " + formatBits(float64(p.Rate))
	case d.maxRate > 0:
		line += ", sent at no more than " + formatBits(float64(p.Rate))
	}
	return line
}

// stuck returns why nothing came of it.
func stuck(err error) error {
	if errors.Is(err, plain.ErrGaveUp) {
		return timeoutError(fmt.Sprintf("the block did not get through: nothing arrived for %v", statemachine.DefaultGiveUp.Duration()))
	}
	return fmt.Errorf("the block did not get through: %w", err)
}
