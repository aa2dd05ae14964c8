package adaptive_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// Flows that send one chunk after the other over one link leave it no pause, so
// the queue never empties by itself. The limit keeps it short (DLY-1).
func TestFlowsThatShareALinkForLong(t *testing.T) {
	for _, n := range []int{2, 3} {
		fs := newFlows(n, measure.Networks["S3"], adaptive.Adaptive())
		fs.run(t, 60*core.Second)
		resent, lowest := fs.sum()
		t.Logf("| %d flows | resent %.1f %% | smallest round trip %d ms |", n, resent, lowest/ms)
		if resent > 5 || lowest > 125*ms {
			t.Errorf("%d flows: %.1f %% resent, smallest round trip %d us", n, resent, lowest)
		}
	}
}

// flows are senders of one chunk after the other, over one link.
type flows []measure.Ends

func newFlows(n int, path netsim.Path, p adaptive.Profile) flows {
	fs := flows{measure.Both(path).Ends(1, with(p))}
	for range n - 1 {
		fs = append(fs, with(p)(fs[0].Links()))
	}
	return fs
}

func (fs flows) run(t *testing.T, until core.Micros) {
	t.Helper()
	over := func() bool {
		fs.serve(t)
		return fs[0].Now() >= until
	}
	if !measure.Together(until+measure.Limit, over, fs...) {
		t.Fatal("stalled")
	}
}

// serve reads and submits at once.
func (fs flows) serve(t *testing.T) {
	t.Helper()
	for _, e := range fs {
		if e.Ready() {
			if _, err := e.Read(); err != nil {
				t.Fatal(err)
			}
		}
		if !e.Sending() {
			if err := e.Submit(measure.FullChunk); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sum returns how many slices of a hundred were resends, and the largest of what
// the flows hold for the smallest round trip.
func (fs flows) sum() (percent float64, lowest core.Micros) {
	var sent, resent uint64
	for _, e := range fs {
		s := e.Stats()
		sent += uint64(s.SlicesSent)
		resent += uint64(s.SlicesResent)
		lowest = max(lowest, s.Schedule.MinRTT)
	}
	return 100 * float64(resent) / float64(sent), lowest
}
