package tcp

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	ms      = core.Millisecond
	second  = core.Second
	headers = 28 // of IP and UDP
)

// wire is a path without loss: bits a second, a round trip, and a queue in datagrams.
func wire(rate int64, roundTrip time.Duration, queue int) netsim.Path {
	return netsim.Path{Rate: rate, Delay: roundTrip / 2, Queue: queue * (dataSize + headers), Overhead: headers}
}

// Paths whose queue holds what the link carries in a round trip.
var (
	middle = wire(10_000_000, 50*time.Millisecond, 60)
	narrow = wire(1_000_000, 100*time.Millisecond, 12)
	large  = wire(100_000_000, 50*time.Millisecond, 587)
)

// over lets flows share a path, with a way back of the same delay.
func over(p netsim.Path, seed uint64, flow ...Config) *flows.World {
	w := check.Must(flows.NewWorld(flows.Path{Down: p, Up: netsim.Path{Delay: p.Delay, Overhead: headers}}, seed))
	for _, c := range flow {
		sends, receives := New(c)
		w.Add(c.Model.String(), sends, receives)
	}
	return w
}

// figures are what all flows did from one time to another.
func figures(w *flows.World, from, to core.Micros) flows.Figures {
	w.Run(to)
	return w.Figures(flows.Down, from, to, w.Flows()...)
}

func within(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	t.Logf("%s: %.3f", what, got)
	if got < least || got > most {
		t.Errorf("%s: %.3f, want %.3f to %.3f", what, got, least, most)
	}
}

// Alone on a link each model fills it. That without congestion control has more that arrives
// twice, the shorter the queue.
func TestAloneOnALink(t *testing.T) {
	for _, c := range []struct {
		Config
		least float64
	}{
		{Config{}, 0.95},
		{Config{Beta: Ratio{7, 10}}, 0.95},
		{Config{Paced: true}, 0.95},
		{Config{Model: Cubic}, 0.95},
		{Config{Model: Cubic, HyStart: true}, 0.95},
		{Config{Model: Cubic, HyStart: true, Paced: true}, 0.95},
		{Config{Model: QuicGo}, 0.95},
		{Config{Model: Turbo}, 0.7},
	} {
		for _, p := range []netsim.Path{narrow, middle, large} {
			f := figures(over(p, 1, c.Config), 10*second, 40*second)
			what := fmt.Sprintf("%v, HyStart %v, paced %v, beta %d/%d, %d kbit/s, use (queue drops %.2f %%)",
				c.Model, c.HyStart, c.Paced, c.Beta.Up, c.Beta.Down, p.Rate/1000, 100*f.LostQueue)
			within(t, what, f.Use, c.least, 1.001)
		}
	}
}

// The throughput of NewReno under random loss is about 1.22 / (RTT sqrt p) datagrams a
// second (Mathis and others, 1997).
func TestThroughputUnderLoss(t *testing.T) {
	for _, percent := range []float64{1, 0.1} {
		p := wire(1_000_000_000, 100*time.Millisecond, 10_000)
		p.Loss = percent
		got := float64(figures(over(p, 7, Config{}), 20*second, 620*second).Total.News)
		formula := 600 * 1.22 / 0.1 / math.Sqrt(percent/100)
		within(t, fmt.Sprintf("%.1f %%, of the formula", percent), got/formula, 2./3, 4./3)
	}
}

// What two flows share is known: the same model is fair to itself, and CUBIC takes more than
// NewReno where a round trip carries much.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		a, b        Config
		path        netsim.Path
		least, most float64 // of what is carried, for the first
	}{
		{Config{}, Config{Start: 137 * ms}, middle, 0.4, 0.6},
		{Config{Model: Cubic}, Config{Model: Cubic, Start: 5 * second}, middle, 0.4, 0.6},
		{Config{Model: QuicGo}, Config{Model: QuicGo, Start: 5 * second}, middle, 0.4, 0.6},
		{Config{}, Config{Model: Cubic}, middle, 0.25, 0.5},
		{Config{}, Config{Model: Cubic}, large, 0.08, 0.3},
		{Config{}, Config{Beta: Ratio{7, 10}}, middle, 0.25, 0.45},
		{Config{}, Config{Model: QuicGo}, middle, 0.2, 0.45},
		{Config{Model: Cubic}, Config{Model: Turbo}, large, 0, 0.1},
	} {
		f := figures(over(c.path, 1, c.a, c.b), 30*second, 90*second)
		what := fmt.Sprintf("%v beside %v, %d kbit/s, share (use %.2f)", c.a.Model, c.b.Model, c.path.Rate/1000, f.Use)
		within(t, what, float64(f.Shares[0])/float64(f.Shares[0]+f.Shares[1]), c.least, c.most)
	}
}

// Jain's index of two and of four NewReno over a minute.
func TestNewRenoIsFairToItself(t *testing.T) {
	two := figures(over(middle, 1, Config{}, Config{Start: second}), 10*second, 70*second)
	within(t, "two", two.Jain, 0.95, 1)
	four := figures(over(middle, 1, Config{}, Config{Start: second}, Config{Start: 2 * second}, Config{Start: 3 * second}), 10*second, 70*second)
	within(t, "four", four.Jain, 0.95, 1)
}

// After an outage a sender waits for its timer, which has doubled, and then takes the link
// again. What it sends meanwhile are single segments, but for the two models that probe, or
// send whatever comes.
func TestOutage(t *testing.T) {
	for _, c := range []struct {
		Config
		most int64 // datagrams in the last two of four seconds of outage
	}{
		{Config{}, 1}, {Config{Model: Cubic}, 1}, {Config{Model: QuicGo}, 4}, {Config{Model: Turbo}, 100_000},
	} {
		good, out := middle, middle
		out.Loss = 100
		back := netsim.Path{Delay: good.Delay, Overhead: headers}
		w := check.Must(flows.NewWorld(flows.Path{Down: good, Up: back, Changes: []flows.Change{
			{At: 20 * second, Down: out, Up: back}, {At: 24 * second, Down: good, Up: back},
		}}, 1))
		sends, receives := New(c.Config)
		w.Add("", sends, receives)
		during := figures(w, 22*second, 24*second)
		if n := during.Total.Sent; n > c.most {
			t.Errorf("%v: %d datagrams in an outage, want at most %d", c.Model, n, c.most)
		}
		after := figures(w, 30*second, 40*second)
		within(t, c.Model.String()+" after an outage, use", after.Use, 0.7, 1.001)
	}
}

// A sender has nothing to say before and after its application.
func TestStartAndStop(t *testing.T) {
	for m := NewReno; m <= Turbo; m++ {
		w := over(middle, 1, Config{Model: m, Start: 10 * second, Stop: 20 * second})
		check.Equal(t, "before", figures(w, 0, 10*second).Total.Sent, 0)
		within(t, m.String()+", while it is there", figures(w, 12*second, 20*second).Use, 0.7, 1.001)
		check.Equal(t, "after", figures(w, 20*second, 60*second).Total.Sent, 0)
	}
}
