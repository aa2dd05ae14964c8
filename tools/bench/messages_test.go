package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/tools/bench/channelsim"
)

// messages measures messages instead of blocks.
func (b *bench) messages() {
	// On one processor the goroutines of one virtual instant take turns in nearly the
	// same order each time, and those that write a frame end before others send it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range MessageCells() {
		for _, ordered := range []bool{true, false} {
			s, f := idealMessages(c, ordered)
			b.keepMessages(c, idealName, s, f)
		}
		for _, p := range MessagePeers() {
			runs := make([]MessageRun, b.seeds)
			for i := range runs {
				runs[i] = measureMessages(b.t, p, c, uint64(i+1))
				if err := runs[i].Err; err != nil {
					b.t.Logf("%v, %s, seed %d: %v", c, p.Name, i+1, err)
				}
			}
			s, f := summarizeMessages(runs, p.Ordered)
			b.keepMessages(c, p.Name, s, f)
		}
	}
}

func (b *bench) keepMessages(c Cell, peer string, s Summary, f *MessageFigures) {
	b.keep(Row{Experiment: Messages, Cell: c.String(), X: float64(c.Loss), Peer: peer, Size: MessageBytes, Summary: s, Messages: f})
}

// Without kcp-go, whose timers do not run in virtual time as they are.
func TestMessages(t *testing.T) {
	for _, p := range append(OurMessages(), quicMessages()...) {
		for _, c := range MessageCells() {
			t.Run(p.Name+", "+c.String(), func(t *testing.T) {
				r := measureMessages(t, p, c, 1)
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				if n := len(r.Delays); n != Frames*PerFrame {
					t.Errorf("%d delays", n)
				}
				if least := slices.Min(r.Delays); least < c.RTT/2 {
					t.Errorf("a message took %v", least)
				}
				if c.Loss == 0 && r.Again > 0 || c.Loss == 20 && r.Again == 0 {
					t.Errorf("%.4f was sent again", r.Again)
				}
				if r.Bytes < MessageBytes {
					t.Errorf("%d bytes were sent", r.Bytes)
				}
			})
		}
	}
}

// What is computed of the ideal is what comes of drawing its losses.
func TestIdealMessages(t *testing.T) {
	const runs = 1000
	for _, c := range MessageCells() {
		i := ideal{loss: float64(c.Loss) / 100, rtt: c.RTT}
		var last []time.Duration
		for ordered, chance := range map[bool]func(time.Duration) float64{true: i.ordered, false: i.unordered} {
			var delays []time.Duration
			for seed := range uint64(runs) {
				r := drawIdeal(c, ordered, seed)
				delays, last = append(delays, r.Delays...), append(last, r.Last)
			}
			agree(t, fmt.Sprintf("%v, ordered %v", c, ordered), delays, c, chance, 0.005)
		}
		agree(t, c.String()+", the last", last, c, i.all, 0.05)
	}
}

// agree compares how many of the delays are no longer than each with the chance of
// that.
func agree(t *testing.T, of string, delays []time.Duration, c Cell, chance func(late time.Duration) float64, most float64) {
	t.Helper()
	slices.Sort(delays)
	worst := 0.0
	for i, d := range delays {
		if i+1 == len(delays) || delays[i+1] > d+time.Microsecond {
			drawn := float64(i+1) / float64(len(delays))
			worst = max(worst, math.Abs(drawn-chance(d-c.RTT/2+time.Microsecond)))
		}
	}
	t.Logf("%s: differs by %.4f", of, worst)
	if worst > most {
		t.Errorf("%s: a chance differs by %.4f from what is drawn", of, worst)
	}
}

// drawIdeal is a run of the ideal, a delay for each datagram.
func drawIdeal(c Cell, ordered bool, seed uint64) (r MessageRun) {
	chance := rand.New(rand.NewPCG(seed, 0))
	var newest time.Duration // until all so far have come
	for f := range Frames {
		for range idealPackets {
			at := frameTime(f) + c.RTT/2
			for chance.IntN(100) < c.Loss {
				at += c.RTT
			}
			newest = max(newest, at)
			if ordered {
				at = newest
			}
			r.Delays = append(r.Delays, at-frameTime(f))
		}
	}
	r.Last = newest - frameTime(Frames-1)
	return r
}

// The bench moves messages through sockets and goroutines, the simulation through the
// same machines alone. Their delays agree, unordered: in order each loss delays many
// messages, so that many more runs are needed until they do.
func TestSimulateAndBenchAgreeOnMessages(t *testing.T) {
	const seeds = 20
	for _, c := range MessageCells() {
		w := channelsim.Workload{
			Channel: channel.Config{Kind: channel.Unordered, Format: channel.Format{Window: 2048}},
			Frames:  Frames, PerFrame: PerFrame, Size: MessageSize, Frame: core.Second / FrameRate,
			Down: c.down(), Up: c.up(), Limit: core.FromDuration(patience),
		}
		var bench, simulated []time.Duration
		for seed := range uint64(seeds) {
			r := measureMessages(t, channelTalk(w.Channel.Kind, w.Channel.Window), c, seed+1)
			run, err := w.Run(seed + 1)
			if err := errors.Join(r.Err, err); err != nil {
				t.Fatalf("%v, seed %d: %v", c, seed+1, err)
			}
			bench = append(bench, r.Delays...)
			for _, d := range run.Delays {
				simulated = append(simulated, d.Duration())
			}
		}
		slices.Sort(bench)
		slices.Sort(simulated)
		worst := 0.0
		for percent := 1; percent < 100; percent++ {
			d := quantile(bench, percent)
			least, most := within(simulated, d-time.Millisecond), within(simulated, d+time.Millisecond)
			worst = max(worst, least-within(bench, d), within(bench, d)-most)
		}
		t.Logf("%v: differs by %.4f", c, worst)
		if worst > 0.02 {
			t.Errorf("%v: of the messages %.4f more, or fewer, come within some time", c, worst)
		}
	}
}

// within returns the share of sorted delays that are no longer than d.
func within(sorted []time.Duration, d time.Duration) float64 {
	n, _ := slices.BinarySearch(sorted, d+1)
	return float64(n) / float64(len(sorted))
}
