package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/channel"
	simulated "github.com/chunkwire/chunkwire/conform/sim/channel"
	"github.com/chunkwire/chunkwire/conform/sim/simulation"
	"github.com/chunkwire/chunkwire/core"
)

// channels is what the flags of channels say.
type channels struct {
	pathFlags
	messages, frames, fps int
	size                  int64
	window                int
	ordered, unordered    bool
	atFrames              bool
	seeds                 int
	firstSeed             uint64
	limit                 time.Duration
	json                  bool
}

const (
	leastMessage = 4 // bytes: the number of the message
	mostMessages = 1 << 20
	mostFPS      = 1000
)

func newChannels() *cobra.Command {
	c := channels{}
	cmd := &cobra.Command{
		Use:   "channels",
		Short: "Send messages over a reliable channel in virtual time, and report their delay",
		Long: `channels sends small messages over a reliable channel, --messages in each frame of a
game, --fps frames a second, through a simulated network, once for each seed, in virtual
time: exact, repeatable, and much faster than the real thing. An ordered channel delivers
in the order of sending, so that a message waits for those before it that were lost; an
unordered one delivers what arrives.

The delay of a message is the time from its send call until the application at the other
end reads it, which it does at once, or with --read-at-frames in its next frame. "Sent
again" is the share of all records sent that were not sent for the first time;
"needlessly", of those whose earlier transmission arrived, too, or will.

--window is how many messages the receiver keeps that are not all read or that it waits
for. What is sent in a round trip must fit it, and with loss what is sent in one more round
trip for each time that a message is lost; else messages wait before they are sent.

Each message that is read is compared with what was sent: one that is wrong, comes twice or
out of order is a mismatch. Runs that are not done within --limit are a time-out.
` + exitHelp,
		Example: `  chunkwire channels
  chunkwire channels --loss 20 --window 2048 --seeds 100
  chunkwire channels --ordered --messages 4 --fps 30 --rtt 40ms --jitter 5ms
  chunkwire channels --unordered --loss 5 --reorder 50 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.check(); err != nil {
				return usageError(cmd, err)
			}
			show, end := showBar(cmd.ErrOrStderr(), "simulating")
			defer end()
			return c.run(cmd.Context(), newScreen(cmd.OutOrStdout()), show)
		},
	}
	f := cmd.Flags()
	c.loss, c.rtt = 5, 100*time.Millisecond
	c.pathFlags.add(f)
	f.IntVar(&c.messages, "messages", 64, "messages in a frame")
	f.Var(byteSize(&c.size, 64, int64(channel.Format{}.MaxMessage())), "size", "size of a message, 4 bytes to 64K")
	f.IntVar(&c.fps, "fps", 60, "frames a second, at most 1000")
	f.IntVar(&c.frames, "frames", 64, "frames in which messages are sent")
	f.IntVar(&c.window, "window", channel.DefaultWindow, "window of the channel: a power of two, 32 to 16384")
	f.BoolVar(&c.ordered, "ordered", false, "only an ordered channel")
	f.BoolVar(&c.unordered, "unordered", false, "only an unordered channel")
	f.BoolVar(&c.atFrames, "read-at-frames", false, "read once a frame, instead of at once")
	f.IntVar(&c.seeds, "seeds", 20, "number of runs of each kind of channel")
	f.Uint64Var(&c.firstSeed, "seed", 1, "seed of the first run")
	f.DurationVar(&c.limit, "limit", 10*time.Minute, "virtual time that a run may take")
	f.BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

func (c *channels) check() error {
	switch {
	case c.ordered && c.unordered:
		return errors.New("--ordered and --unordered exclude each other; without both, both are measured")
	case c.messages < 1 || c.frames < 1 || c.messages > mostMessages/c.frames:
		return fmt.Errorf("--messages and --frames must be 1 or more, and their product at most %d", mostMessages)
	case c.size < leastMessage:
		return errors.New("--size must be 4 bytes to 64K")
	case c.fps < 1 || c.fps > mostFPS:
		return fmt.Errorf("--fps must be 1 to %d", mostFPS)
	case c.seeds < 1 || c.seeds > simulation.MaxSeeds:
		return fmt.Errorf("--seeds must be 1 to %d", simulation.MaxSeeds)
	case c.limit <= 0 || c.limit > simulation.MaxLimit:
		return errors.New("--limit must be above 0, and at most 1000h")
	}
	if _, err := channel.NewSender(c.workload(channel.Ordered).Channel); err != nil {
		return errors.New("--window must be a power of two, 32 to 16384")
	}
	return c.pathFlags.check()
}

// kinds returns those that are to be measured.
func (c *channels) kinds() []channel.Kind {
	switch {
	case c.ordered:
		return []channel.Kind{channel.Ordered}
	case c.unordered:
		return []channel.Kind{channel.Unordered}
	}
	return []channel.Kind{channel.Ordered, channel.Unordered}
}

func (c *channels) workload(kind channel.Kind) simulated.Workload {
	return simulated.Workload{
		Channel: channel.Config{Kind: kind, Format: channel.Format{Window: c.window}},
		Frames:  c.frames, PerFrame: c.messages, Size: int(c.size), Frame: core.Second / core.Micros(c.fps),
		Down: c.path(), Up: c.path(), Limit: core.FromDuration(c.limit), ReadAtFrames: c.atFrames,
	}
}

func (c *channels) run(ctx context.Context, out screen, show func(done, total int64)) error {
	figures, err := c.measure(ctx, show)
	if c.json {
		return errors.Join(err, json.NewEncoder(out.w).Encode(c.report(figures, err)))
	}
	if err != nil {
		return err
	}
	c.print(out, figures)
	return nil
}

// measure runs all seeds of each kind.
func (c *channels) measure(ctx context.Context, show func(done, total int64)) (figures []simulated.Figures, err error) {
	kinds := c.kinds()
	done, total := int64(0), int64(len(kinds)*c.seeds)
	err = orEnd(ctx, func() error {
		for _, kind := range kinds {
			f, err := simulated.Measure(c.workload(kind), c.firstSeed, c.seeds, func() bool {
				done++
				show(done, total)
				return ctx.Err() == nil
			})
			switch {
			case errors.Is(err, simulated.ErrWrong):
				return fmt.Errorf("%w: %w", errMismatch, err)
			case err != nil:
				return timeoutError(fmt.Sprintf("%d of %s were not done within %v of virtual time; allow more with --limit", f.Failed, countOf(int64(c.seeds), "run"), c.limit))
			}
			figures = append(figures, f)
		}
		return nil
	})
	if err == nil && ctx.Err() != nil {
		err = ended(ctx)
	}
	if err != nil {
		return nil, err
	}
	return figures, nil
}

// headline says what is sent, and over what.
func (c *channels) headline() string {
	total := int64(c.messages) * int64(c.frames)
	line := fmt.Sprintf("%s of %s a frame, %d frames a second, %s in all; window %d; RTT %v, %g %% loss each way",
		countOf(int64(c.messages), "message"), countOf(c.size, "byte"), c.fps, countOf(total, "message"), c.window, c.rtt, c.loss)
	if c.jitter > 0 {
		line += fmt.Sprintf(", jitter %v", c.jitter)
	}
	if c.reorder > 0 {
		line += fmt.Sprintf(", %g %% 10 ms late", c.reorder)
	}
	if c.rate > 0 {
		line += ", " + formatBits(float64(c.rate))
	}
	return line + "; " + countOf(int64(c.seeds), "seed")
}

func (c *channels) print(out screen, figures []simulated.Figures) {
	out.print(c.headline())
	fmt.Fprintln(out.w)
	rows := [][]string{{""}}
	for _, kind := range c.kinds() {
		rows[0] = append(rows[0], kind.String())
	}
	row := func(name string, figure func(f *simulated.Figures) string) {
		cells := []string{name}
		for i := range figures {
			cells = append(cells, figure(&figures[i]))
		}
		rows = append(rows, cells)
	}
	times := func(name string, of func(f *simulated.Figures) simulated.Quantiles) {
		row(name+", median, ms", func(f *simulated.Figures) string { return inMS(of(f).Median) })
		row("  95th", func(f *simulated.Figures) string { return inMS(of(f).P95) })
		row("  max", func(f *simulated.Figures) string { return inMS(of(f).Max) })
	}
	count := func(name string, of func(f *simulated.Figures) float64) {
		row(name, func(f *simulated.Figures) string { return fmt.Sprintf("%.0f", of(f)) })
	}
	times("delay of a message", func(f *simulated.Figures) simulated.Quantiles { return f.Delay })
	times("all read after the last send", func(f *simulated.Figures) simulated.Quantiles { return f.Last })
	row("sent again, of all records", func(f *simulated.Figures) string { return fmt.Sprintf("%.2f %%", 100*f.Again) })
	row("  needlessly", func(f *simulated.Figures) string { return fmt.Sprintf("%.3f %%", 100*f.Needless) })
	count("datagrams of the sender, mean", func(f *simulated.Figures) float64 { return f.DatagramsDown })
	count("datagrams of the reader, mean", func(f *simulated.Figures) float64 { return f.DatagramsUp })
	row("bytes of the sender / of messages", func(f *simulated.Figures) string { return fmt.Sprintf("%.3f", f.BytesDown/c.content()) })
	row("bytes of the reader / of messages", func(f *simulated.Figures) string { return fmt.Sprintf("%.3f", f.BytesUp/c.content()) })
	count("send calls refused, queue full", func(f *simulated.Figures) float64 { return f.Refused })
	if !out.table(rows) {
		for i, kind := range rows[0][1:] {
			out.print(kind + ":")
			for _, row := range rows[1:] {
				out.print("  " + row[0] + ": " + row[i+1])
			}
		}
	}
	out.print("each message arrived once and unchanged; on an ordered channel in order")
}

// content returns how many bytes of messages a run has.
func (c *channels) content() float64 {
	return float64(c.messages) * float64(c.frames) * float64(c.size)
}

func inMS(m core.Micros) string { return fmt.Sprintf("%.1f", milliseconds(m.Duration())) }

// channelReport is what --json prints of a kind of channel. Counts are means of a run.
type channelReport struct {
	Kind            string   `json:"kind"`
	DelayMS         quantile `json:"delay_ms"`
	LastMS          quantile `json:"last_ms"` // from the last send call until all was read
	AgainPercent    float64  `json:"again_percent"`
	NeedlessPercent float64  `json:"needless_percent"`
	Records         float64  `json:"records"`
	Reports         float64  `json:"reports"`
	DatagramsDown   float64  `json:"datagrams_down"`
	DatagramsUp     float64  `json:"datagrams_up"`
	BytesDown       float64  `json:"bytes_down"`
	BytesUp         float64  `json:"bytes_up"`
	Refused         float64  `json:"refused"`
}

// channelsReport is what --json prints.
type channelsReport struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error,omitempty"`
	Messages int    `json:"messages"` // in a frame
	Frames   int    `json:"frames"`
	FPS      int    `json:"fps"`
	Size     int64  `json:"size"`
	Window   int    `json:"window"`
	pathReport
	Seed     uint64          `json:"seed"`
	Seeds    int             `json:"seeds"`
	LimitMS  float64         `json:"limit_ms"`
	Channels []channelReport `json:"channels"`
}

func (c *channels) report(figures []simulated.Figures, err error) channelsReport {
	r := channelsReport{
		OK: err == nil, Messages: c.messages, Frames: c.frames, FPS: c.fps, Size: c.size, Window: c.window, pathReport: c.pathFlags.report(),
		Seed: c.firstSeed, Seeds: c.seeds, LimitMS: milliseconds(c.limit), Channels: []channelReport{},
	}
	if err != nil {
		r.Error = sentence(err)
	}
	in := func(q simulated.Quantiles) quantile {
		return quantile{Median: milliseconds(q.Median.Duration()), P95: milliseconds(q.P95.Duration()), Max: milliseconds(q.Max.Duration())}
	}
	for i, f := range figures {
		r.Channels = append(r.Channels, channelReport{
			Kind: c.kinds()[i].String(), DelayMS: in(f.Delay), LastMS: in(f.Last), AgainPercent: 100 * f.Again, NeedlessPercent: 100 * f.Needless,
			Records: f.Records, Reports: f.Reports, DatagramsDown: f.DatagramsDown, DatagramsUp: f.DatagramsUp, BytesDown: f.BytesDown, BytesUp: f.BytesUp, Refused: f.Refused,
		})
	}
	return r
}
