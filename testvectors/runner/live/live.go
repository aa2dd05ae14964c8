// Package live lets ports send and receive real chunks over UDP: with the reference
// implementation at the other end, or with another port.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/runner"
)

// The environment of a live port (testvectors/LIVE.md).
const (
	EnvAddress    = "CHUNKWIRE_ADDRESS"     // host:port
	EnvProtocolID = "CHUNKWIRE_PROTOCOL_ID" // decimal
	EnvMode       = "CHUNKWIRE_MODE"        // Send or Recv
	EnvVariant    = "CHUNKWIRE_VARIANT"     // Slices, Repair or Connection
)

// The modes of a live port.
const (
	Send = "send"
	Recv = "recv"
)

// The variants of a live port. With Repair the protocol id of the datagrams is
// connection.RepairIDs above the one in the environment (RPI-1). With Connection a chunk goes over a
// connection, and again as messages of its channel.
const (
	Slices     = "slices"
	Repair     = "repair"
	Connection = "connection"
)

const (
	// Quiet is how long a live port that received goes on answering: no scheduler is silent for longer (SND-20).
	Quiet = 3 * time.Second
	// DefaultTimeout is how long one transfer may take, with the ports' start.
	DefaultTimeout = 30 * time.Second
	// atOnce is how many transfers run at the same time: a receiving port mostly
	// waits.
	atOnce = 4
)

// sizes are a byte, a full slice, one more, and a full chunk.
var sizes = []int{1, codec.SliceSize, codec.SliceSize + 1, codec.MaxChunkSize}

// The slow link: 1 Mbit/s with a queue of 64 KiB, a round trip of 100 ms and 1 % loss. The base
// algorithm, which does not ask what a path carries, overflows its queue.
const (
	slowRate  = 1_000_000
	slowQueue = 64 << 10
	slowDelay = 50 * time.Millisecond
	slowLoss  = 1
	// mostBytes is how many times a chunk's bytes its sender may need there.
	mostBytes = 1.3
)

// Config is what to transfer, and between whom.
type Config struct {
	Command []string
	With    []string      // the command at the other end; nil is the reference
	Variant string        // Slices, which is "", Repair or Connection
	Loss    float64       // percent, in the second half of the transfers; 0 leaves them out
	Slow    bool          // one more chunk, which the port sends over a slow link
	Timeout time.Duration // 0 is DefaultTimeout
}

// Result is the outcome of a transfer.
type Result struct {
	Mode    string  `json:"mode"` // what Command does
	Size    int     `json:"size"`
	Loss    float64 `json:"loss"` // percent
	Slow    bool    `json:"slow,omitempty"`
	Bytes   float64 `json:"bytes"` // that came from the sender, with IP and UDP headers, over the chunk's
	OK      bool    `json:"ok"`
	Message string  `json:"message,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Report is the outcome of all transfers.
type Report struct {
	Command []string  `json:"command"`
	With    []string  `json:"with,omitempty"`
	Variant string    `json:"variant"`
	OK      bool      `json:"ok"`
	Error   string    `json:"error,omitempty"`
	Results []*Result `json:"results"`
}

// Run makes all transfers, through a relay. The report is never nil. The error
// matches runner.ErrPort or the context's; transfers that fail are no error.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	cfg.Timeout, cfg.Variant = cmp.Or(cfg.Timeout, DefaultTimeout), cmp.Or(cfg.Variant, Slices)
	report := &Report{Command: cfg.Command, With: cfg.With, Variant: cfg.Variant, OK: true}
	losses := []float64{0, cfg.Loss}
	if cfg.Loss == 0 {
		losses = losses[:1]
	}
	for _, loss := range losses {
		for _, mode := range []string{Send, Recv} {
			for _, size := range sizes {
				report.Results = append(report.Results, &Result{Mode: mode, Size: size, Loss: loss})
			}
		}
	}
	if cfg.Slow {
		report.Results = append(report.Results, &Result{Mode: Send, Size: codec.MaxChunkSize, Loss: slowLoss, Slow: true})
	}
	err := runAll(ctx, cfg, report.Results)
	for _, r := range report.Results {
		report.OK = report.OK && r.OK
	}
	if err != nil {
		report.OK, report.Error = false, err.Error()
	}
	return report, err
}

// runAll runs all transfers, some at once, and returns the first error after which it
// makes no sense to go on.
func runAll(ctx context.Context, cfg Config, results []*Result) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, r := range results {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if ctx.Err() != nil {
				r.Message = "not run"
				return
			}
			began := time.Now()
			err := newTransfer(cfg, r, i).run(ctx)
			r.Seconds = time.Since(began).Seconds()
			if r.OK = err == nil; err != nil {
				r.Message = err.Error()
			}
			if errors.Is(err, runner.ErrPort) {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// Failed returns how many transfers failed.
func (r *Report) Failed() (n int) {
	for _, result := range r.Results {
		if !result.OK {
			n++
		}
	}
	return n
}

// Print writes the report for people.
func (r *Report) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "the port\tbytes\tloss\t\tseconds\tbytes on the link")
	for _, result := range r.Results {
		verb, outcome := "sends", "FAILED"
		if result.Mode == Recv {
			verb = "receives"
		}
		if result.OK {
			outcome = "passed"
		}
		if result.Slow {
			verb += " at 1 Mbit/s"
		}
		fmt.Fprintf(t, "%s\t%d\t%g %%\t%s\t%.2f\t%.2f times\n", verb, result.Size, result.Loss, outcome, result.Seconds, result.Bytes)
	}
	_ = t.Flush()
	for _, result := range r.Results {
		if !result.OK {
			fmt.Fprintf(w, "\n%s, %d bytes, %g %% loss:\n  %s\n", result.Mode, result.Size, result.Loss, result.Message)
		}
	}
}
