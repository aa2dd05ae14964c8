package channelsim_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/tools/bench/channelsim"
)

const ms = core.Millisecond

var seedsFlag = flag.Int("channel.seeds", 0, "seeds for each figure, instead of each test's own number; -v prints the tables")

// seedsOr returns the number of seeds that was asked for, or else n.
func seedsOr(n int) int {
	if *seedsFlag > 0 {
		return *seedsFlag
	}
	return n
}

// roundTrip is that of all figures.
const roundTrip = 100 * time.Millisecond

func lossy(percent float64) netsim.Path { return netsim.Path{Delay: roundTrip / 2, Loss: percent} }

// figures fails the test unless all messages of every seed were delivered as they must be.
func figures(t *testing.T, name string, w channelsim.Workload, seeds int) channelsim.Figures {
	t.Helper()
	f, err := channelsim.Measure(w, 1, seeds)
	if err != nil || f.Runs != seeds {
		t.Fatalf("%s: %d of seeds 1 to %d failed, the first with %v", name, f.Failed, seeds, err)
	}
	t.Logf("| %s | %s | %s | %.2f %% | %.3f %% | %.0f, %.0f |", name, inMS(f.Delay), inMS(f.Last), 100*f.Again, 100*f.Needless, f.DatagramsDown, f.DatagramsUp)
	return f
}

func inMS(q measure.Quantile[core.Micros]) string {
	return fmt.Sprintf("%.1f, %.1f, %.1f", float64(q.Median)/1000, float64(q.P95)/1000, float64(q.Max)/1000)
}

var kinds = []protocol.Kind{protocol.Ordered, protocol.Unordered}

// within4 is how the end of a run must be: all was read within 4 round trips of the last send.
type within4 uint8

const (
	notAlways within4 = iota // the window is too small for so much loss
	medianRun
	everyRun
)

// doneIn returns how a window must do. What is sent in a round trip, 384 messages, must fit it
// where nothing is lost; with loss, what is sent in a round trip more for each time that a
// message is lost. At 20 % some message is lost so often that even the ideal is later in 3 %
// of the runs.
func doneIn(window int, loss float64) within4 {
	switch {
	case loss <= 1, loss <= 5 && window >= 1024:
		return everyRun
	case loss <= 5, window >= 1024:
		return medianRun
	}
	return notAlways
}

// All messages of the game's workload arrive once; at most loss + 4 % are sent again, and
// without loss none; and all is done within 4 round trips of the last send.
func TestGame(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, window := range []int{512, 1024, 2048, 4096} {
			for _, loss := range []float64{0, 1, 5, 20} {
				name := fmt.Sprintf("%v, W %d, %g %%", kind, window, loss)
				f := figures(t, name, channelsim.Game(kind, window, lossy(loss)), seedsOr(20))
				if f.Again > loss/100+0.04 || loss == 0 && f.Again > 0 || f.Needless > 0.001*max(1, loss/5) {
					t.Errorf("%s: %.2f %% sent again, %.3f %% needless", name, 100*f.Again, 100*f.Needless)
				}
				late := map[within4]core.Micros{medianRun: f.Last.Median, everyRun: f.Last.Max}[doneIn(window, loss)]
				if late > 4*core.FromDuration(roundTrip) {
					t.Errorf("%s: all is read %d us after the last send", name, late)
				}
				if window >= 2048 && loss == 20 && f.Late > 0.15 {
					t.Errorf("%s: %.0f %% of the runs are late", name, 100*f.Late)
				}
			}
		}
	}
}

// An unordered channel delays what is lost alone; an ordered one all behind it. With a window
// that is wide enough the delays stay near the ideal: half a round trip, one more for each
// loss, and the time until a loss is noticed, which is up to a frame.
func TestGameDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        protocol.Kind
		loss        float64
		median, p95 core.Micros
	}{
		{kind: protocol.Unordered, loss: 0, median: 50, p95: 50},
		{kind: protocol.Unordered, loss: 1, median: 50, p95: 50},
		{kind: protocol.Unordered, loss: 5, median: 50, p95: 150},
		{kind: protocol.Unordered, loss: 20, median: 50, p95: 210},
		{kind: protocol.Ordered, loss: 0, median: 50, p95: 50},
		{kind: protocol.Ordered, loss: 1, median: 50, p95: 150},
		{kind: protocol.Ordered, loss: 5, median: 120, p95: 220},
		{kind: protocol.Ordered, loss: 20, median: 250, p95: 450},
	} {
		name := fmt.Sprintf("%v, %g %%", c.kind, c.loss)
		f := figures(t, name, channelsim.Game(c.kind, 2048, lossy(c.loss)), seedsOr(20))
		if f.Delay.Median > c.median*ms || f.Delay.P95 > c.p95*ms {
			t.Errorf("%s: delay %s", name, inMS(f.Delay))
		}
	}
}

// Where datagrams overtake others, or take longer, less than 1 % is sent needlessly.
func TestGameOutOfOrder(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, c := range []struct{ reorder, by, jitter, loss float64 }{
			{reorder: 1, by: 2}, {reorder: 5, by: 10}, {reorder: 50, by: 2}, {reorder: 50, by: 10},
			{jitter: 5}, {jitter: 20}, {jitter: 5, reorder: 50, by: 10}, {jitter: 20, reorder: 50, by: 10},
			{reorder: 50, by: 10, loss: 5},
		} {
			path := lossy(c.loss)
			path.Jitter = time.Duration(c.jitter) * time.Millisecond
			path.Reorder, path.ReorderDelay = c.reorder, time.Duration(c.by)*time.Millisecond
			name := fmt.Sprintf("%v, %g %% late by %g ms, jitter %g ms, %g %% loss", kind, c.reorder, c.by, c.jitter, c.loss)
			f := figures(t, name, channelsim.Game(kind, 1024, path), seedsOr(20))
			if f.Needless > 0.01 {
				t.Errorf("%s: %.2f %% needless", name, 100*f.Needless)
			}
		}
	}
}

// A workload that cannot be done says so.
func TestAWorkloadThatFails(t *testing.T) {
	t.Parallel()
	w := channelsim.Game(protocol.Ordered, 512, lossy(100))
	f, err := channelsim.Measure(w, 1, 2)
	if !errors.Is(err, channelsim.ErrNotDelivered) || f.Failed != 2 || f.Runs != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Any other workload is measured in the same way: messages of several fragments, a reader that
// reads once a frame, traffic the other way, and more than the send queue takes.
func TestOtherWorkloads(t *testing.T) {
	t.Parallel()
	w := channelsim.Game(protocol.Ordered, 0, lossy(5))
	w.Frames, w.PerFrame = 20, 4

	large := w
	large.Size = 5000
	f := figures(t, "5 fragments", large, 5)
	if f.Records < 5*80 || f.Again == 0 || f.BytesDown < 80*5000 {
		t.Errorf("%+v", f)
	}
	frames := w
	frames.ReadAtFrames, frames.Down.Loss, frames.Up.Loss = true, 0, 0
	f = figures(t, "read at frames", frames, 2)
	if f.Delay.Median <= 50*ms || f.Delay.Max > 50*ms+w.Frame {
		t.Errorf("%+v", f)
	}
	back := w
	back.Back = 4
	if g := figures(t, "both ways", back, 5); g.BytesUp < 80*64 || g.Delay.Median > 2*figures(t, "one way", w, 5).Delay.Median {
		t.Errorf("%+v", g)
	}
	full := w
	full.Channel.SendQueue, full.PerFrame, full.Channel.Window = 64, 40, 32
	if f = figures(t, "more than the queue takes", full, 2); f.Refused == 0 || f.Delay.Median < 100*ms {
		t.Errorf("%+v", f)
	}
	w.Channel.Window = 33
	if _, err := w.Run(1); !errors.Is(err, core.ErrConfig) {
		t.Errorf("window 33: %v", err)
	}
	w.Channel.Window, w.Up.Loss = 32, -1
	if _, err := w.Run(1); err == nil {
		t.Error("a loss of -1 % is taken")
	}
}
