package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// flowFlags are the flags of simulate for streams that share a path.
type flowFlags struct {
	flows  int
	lanes  int
	beside string
	length time.Duration
	every  time.Duration
	apart  time.Duration
}

const (
	maxFlows  = 256
	maxLength = time.Hour
	slot      = 100 * time.Millisecond // flows.Slot
)

// modelNames are what --beside takes.
var modelNames = []string{"newreno", "cubic", "quic-go", "kcp"}

var models = map[string]tcp.Config{
	"newreno": {Model: tcp.NewReno},
	"cubic":   {Model: tcp.Cubic, HyStart: true},
	"quic-go": {Model: tcp.QuicGo},
	"kcp":     {Model: tcp.Turbo},
}

// onlyFlows are flags that need --flows, onlyBlock those that go without.
var (
	onlyFlows = []string{"lanes", "beside", "for", "every", "apart"}
	onlyBlock = []string{"seeds", "limit", "warm"}
)

func (s *flowFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&s.flows, "flows", 0, "streams that share the path, each of a connection of its own")
	f.IntVar(&s.lanes, "lanes", 8, "with --flows, lanes of each stream, at most 16")
	f.StringVar(&s.beside, "beside", "", "with --flows, a sender of another protocol, too: "+strings.Join(modelNames, ", "))
	f.DurationVar(&s.length, "for", 60*time.Second, "with --flows, virtual time, at most 1h")
	f.DurationVar(&s.every, "every", 0, "with --flows, print the figures of each interval, such as 2s")
	f.DurationVar(&s.apart, "apart", 0, "with --flows, time from the start of one stream to the next")
	completeFrom(cmd, "beside", modelNames)
}

// check checks the flags, and that no other is given that means nothing with these.
func (s *flowFlags) check(cmd *cobra.Command, rate int64) error {
	wrong, says := onlyFlows, "--%s needs --flows"
	if s.flows != 0 {
		wrong, says = onlyBlock, "--%s is for one block; leave it out, or --flows"
	}
	for _, name := range wrong {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf(says, name)
		}
	}
	switch {
	case s.flows < 0 || s.flows > maxFlows:
		return fmt.Errorf("--flows must be 1 to %d", maxFlows)
	case s.flows > 0 && rate == 0:
		return errors.New("--flows needs --rate: on an unlimited link nothing is shared")
	case s.lanes < 1 || s.lanes > lanes.Most:
		return fmt.Errorf("--lanes must be 1 to %d", lanes.Most)
	case s.beside != "" && !slices.Contains(modelNames, s.beside):
		return fmt.Errorf("--beside must be one of: %s", strings.Join(modelNames, ", "))
	}
	return s.checkTimes()
}

func (s *flowFlags) checkTimes() error {
	switch {
	case s.length <= 0 || s.length > maxLength || s.length%slot != 0:
		return errors.New("--for must be above 0 and at most 1h, in steps of 100ms")
	case s.every < 0 || s.every > s.length || s.every%slot != 0:
		return errors.New("--every must be at most --for, in steps of 100ms")
	case s.apart < 0 || s.apart*time.Duration(max(0, s.flows-1)) >= s.length:
		return errors.New("--apart must let the last stream begin within --for")
	}
	return nil
}

// flowsReport is what --flows --json prints.
type flowsReport struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Size  int64  `json:"size"`
	pathReport
	Variant      string           `json:"variant"`
	Profile      string           `json:"profile"`
	SendRateBits int64            `json:"send_rate_bits"`
	Lanes        int              `json:"lanes"`
	Seed         uint64           `json:"seed"`
	ForMS        float64          `json:"for_ms"`
	ApartMS      float64          `json:"apart_ms"`
	Flows        []flowReport     `json:"flows"`
	Total        intervalReport   `json:"total"`
	Jain         float64          `json:"jain"` // of Flows' rates
	Intervals    []intervalReport `json:"intervals,omitempty"`
}

// flowReport is one of the flows, from its start on.
type flowReport struct {
	Name          string    `json:"name"`
	StartMS       float64   `json:"start_ms"`
	RateBits      float64   `json:"rate_bits"` // of distinct data, with all headers
	ResentPercent float64   `json:"resent_percent"`
	Blocks        int       `json:"blocks"` // delivered; 0 of another protocol, which has none
	BlockMS       *quantile `json:"block_ms"`
	GaveUp        bool      `json:"gave_up"`
}

// intervalReport is what all of them did in a time, on the way down.
type intervalReport struct {
	FromMS         float64   `json:"from_ms"`
	ToMS           float64   `json:"to_ms"`
	RatesBits      []float64 `json:"rates_bits"` // of each flow
	Use            float64   `json:"use"`        // of what the link carries
	QueueMeanMS    float64   `json:"queue_mean_ms"`
	Queue95MS      float64   `json:"queue_95_ms"`
	DroppedPercent float64   `json:"dropped_percent"` // of the slices sent, by the queue
	ResentPercent  float64   `json:"resent_percent"`
}

// streams is a world of flows and what is known of each.
type streams struct {
	sim    *simulateFlags
	world  *flows.World
	chunks []*flows.Chunks // of ours
	all    []*flows.Flow
	starts []core.Micros
}

// runFlows lets streams share the path, and reports what they did.
func (sim *simulateFlags) runFlows(ctx context.Context, w io.Writer, p pace.Pace) error {
	s, err := sim.newStreams(p)
	if err != nil {
		return err
	}
	err = orEnd(ctx, func() error { return s.run(ctx) })
	if errors.Is(err, context.Canceled) {
		return err
	}
	report := s.report(p)
	if err = s.failure(); err != nil {
		report.OK, report.Error = false, sentence(err)
	}
	if sim.json {
		return errors.Join(err, json.NewEncoder(w).Encode(report))
	}
	return errors.Join(err, report.print(w))
}

func (sim *simulateFlags) newStreams(p pace.Pace) (*streams, error) {
	path := sim.path()
	world, err := flows.NewWorld(flows.Path{Down: path, Up: path}, sim.firstSeed)
	if err != nil {
		return nil, err
	}
	s := &streams{sim: sim, world: world}
	config := lanes.Config{Lanes: sim.lanes, Repair: sim.repair, Profile: p.Profile, MaxRate: p.Limit(), NewScheduler: p.Base}
	for i := range sim.flows {
		start := core.FromDuration(sim.apart) * core.Micros(i)
		c, err := world.AddChunks(fmt.Sprint("stream ", i+1), flows.Options{Lanes: config, Start: start, Sizes: []int{int(sim.size)}})
		if err != nil {
			return nil, err
		}
		s.chunks, s.all, s.starts = append(s.chunks, c), append(s.all, c.Flow), append(s.starts, start)
	}
	if sim.beside != "" {
		sends, receives := tcp.New(models[sim.beside])
		s.all, s.starts = append(s.all, world.Add(sim.beside, sends, receives)), append(s.starts, 0)
	}
	return s, nil
}

// run lets the time go by, until the end or until the context ends.
func (s *streams) run(ctx context.Context) error {
	end := core.FromDuration(s.sim.length)
	for at := core.Micros(0); at < end && ctx.Err() == nil; {
		at = min(end, at+core.Second)
		s.world.Run(at)
	}
	if ctx.Err() != nil {
		return ended(ctx)
	}
	return nil
}

func (s *streams) failure() error {
	failed := 0
	for _, c := range s.chunks {
		if c.Err() != nil {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return timeoutError(fmt.Sprintf("%d of %s gave up", failed, countOf(int64(len(s.chunks)), "stream")))
}

func (s *streams) report(p pace.Pace) flowsReport {
	sim := s.sim
	end := core.FromDuration(sim.length)
	r := flowsReport{
		OK: true, Size: sim.size, pathReport: sim.pathFlags.report(), Variant: simulate.VariantName(sim.repair), Profile: sim.profile, SendRateBits: p.Rate, Lanes: sim.lanes,
		Seed: sim.firstSeed, ForMS: milliseconds(sim.length), ApartMS: milliseconds(sim.apart),
	}
	var rates []int64
	for i := range s.all {
		r.Flows = append(r.Flows, s.flow(i, end))
		rates = append(rates, int64(r.Flows[i].RateBits))
	}
	r.Jain = flows.Jain(rates)
	r.Total = s.interval(0, end)
	if every := core.FromDuration(sim.every); every > 0 {
		for at := core.Micros(0); at < end; at += every {
			r.Intervals = append(r.Intervals, s.interval(at, min(end, at+every)))
		}
	}
	return r
}

func (s *streams) flow(i int, end core.Micros) flowReport {
	start := s.starts[i] / flows.Slot * flows.Slot
	c := s.all[i].Counts(flows.Down, start, end)
	r := flowReport{Name: s.all[i].Name, StartMS: float64(s.starts[i]) / 1000, RateBits: perSecond(c.NewsBytes, end-start)}
	if c.Data > 0 {
		r.ResentPercent = 100 * float64(max(0, c.Data-c.News)) / float64(c.Data)
	}
	if i < len(s.chunks) {
		var took []float64
		for _, chunk := range s.chunks[i].Delivered(flows.Down) {
			took = append(took, float64(chunk.Delivered-chunk.Submitted)/1000)
		}
		r.Blocks, r.BlockMS, r.GaveUp = len(took), measure.Quantiles(took), s.chunks[i].Err() != nil
	}
	return r
}

func (s *streams) interval(from, to core.Micros) intervalReport {
	f := s.world.Figures(flows.Down, from, to, s.all...)
	r := intervalReport{
		FromMS: float64(from) / 1000, ToMS: float64(to) / 1000, Use: f.Use, QueueMeanMS: f.Wait.Mean, Queue95MS: f.Wait.P95,
		DroppedPercent: 100 * f.LostQueue, ResentPercent: 100 * f.Resent,
	}
	for _, share := range f.Shares {
		r.RatesBits = append(r.RatesBits, perSecond(share, to-from))
	}
	return r
}

func perSecond(bytes int64, d core.Micros) float64 { return float64(bytes) * 8e6 / float64(d) }

// print prints a table of the intervals, if there are any, and one of the flows.
func (r flowsReport) print(w io.Writer) error {
	queue := ", queue unlimited"
	if r.QueueBytes > 0 {
		queue = ", queue " + formatBytes(float64(r.QueueBytes))
	}
	fmt.Fprintf(w, "%s over %s%s, RTT %v, %g %% loss each way; %s, %s each, profile %s, seed %d\n",
		countOf(int64(len(r.Flows)), "flow"), formatBits(float64(r.RateBits)), queue, time.Duration(r.RTTms*float64(time.Millisecond)), r.LossPercent,
		variantText[r.Variant], countOf(int64(r.Lanes), "lane"), r.Profile, r.Seed)
	if len(r.Intervals) > 0 {
		if err := printTable(w, r.printIntervals); err != nil {
			return err
		}
	}
	if err := printTable(w, r.printFlows); err != nil {
		return err
	}
	t := r.Total
	_, err := fmt.Fprintf(w, "\nuse of the link %.3f, Jain's index %.3f; wait in the queue %.0f ms, 95th %.0f ms; dropped by it %.2f %%\n",
		t.Use, r.Jain, t.QueueMeanMS, t.Queue95MS, t.DroppedPercent)
	return err
}

func (r flowsReport) printIntervals(t io.Writer) {
	fmt.Fprint(t, "from s\tto s\t")
	for _, f := range r.Flows {
		fmt.Fprintf(t, "%s, Mbit/s\t", f.Name)
	}
	fmt.Fprintln(t, "queue, ms\t95th\tdropped, %\t")
	for _, i := range r.Intervals {
		fmt.Fprintf(t, "%g\t%g\t", i.FromMS/1000, i.ToMS/1000)
		for _, rate := range i.RatesBits {
			fmt.Fprintf(t, "%.2f\t", rate/1e6)
		}
		fmt.Fprintf(t, "%.0f\t%.0f\t%.1f\t\n", i.QueueMeanMS, i.Queue95MS, i.DroppedPercent)
	}
}

func (r flowsReport) printFlows(t io.Writer) {
	fmt.Fprintln(t, "\tMbit/s\tresent, %\tblocks\tms: median\t95th\tmax\t")
	for _, f := range r.Flows {
		blocks, gaveUp := "-", ""
		if f.Blocks > 0 {
			blocks = fmt.Sprint(f.Blocks)
		}
		if f.GaveUp {
			gaveUp = "gave up"
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.1f\t%s\t%s\t%s\n", f.Name, f.RateBits/1e6, f.ResentPercent, blocks, cells(f.BlockMS), gaveUp)
	}
}

// printTable prints what a function writes with tabs, behind an empty line.
func printTable(w io.Writer, write func(io.Writer)) error {
	var table strings.Builder
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	write(t)
	_ = t.Flush() // into memory
	fmt.Fprintln(w)
	for line := range strings.Lines(table.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
