package adaptive

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
)

// LAN-9: what one lane has learned the next one knows, without a chunk of its own.
func TestALaneAdoptsWhatAnotherKnows(t *testing.T) {
	known := warm(t, Adaptive(), 50*ms, 900_000, 256)
	f := fly(t, Adaptive(), 256)
	f.Adopt(known.Scheduler)
	check.Equal(t, "window", f.window(), known.window())
	check.Equal(t, "round trip", f.Stats().MinRTT, known.Stats().MinRTT)
}

// ROOM-1: a drain is all lanes', or the next chunk would fill the queue again.
func TestALaneAdoptsADrain(t *testing.T) {
	known := warm(t, Adaptive(), 50*ms, 100_000, 1)
	known.far()
	known.all()
	known.after(80 * ms).acked(0)
	check.Equal(t, "path", known.PathSlices(), 4)
	f := fly(t, Adaptive(), 256)
	f.Adopt(known.Scheduler)
	check.Equal(t, "window", f.window(), 4)
}

// LAN-9: the acks of a chunk come when the next one has begun, and its timers are
// to know.
func TestLanesHaveOneEstimate(t *testing.T) {
	known := warm(t, Adaptive(), 50*ms, 100_000, 1)
	known.all()
	f := fly(t, Adaptive(), 256)
	f.Adopt(known.Scheduler)
	known.after(60 * ms).acked(0) // 80 ms
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 50*ms+(76*ms-50*ms)/8)
}

// LAN-9: lanes do not send at the same time, each at the path's pace.
func TestLanesHaveOnePace(t *testing.T) {
	known := warm(t, Fixed(8_528_000), 50*ms, 0, 8) // 1 ms apart
	known.Next(known.clock)
	f := fly(t, Adaptive(), 8)
	f.Adopt(known.Scheduler)
	f.at(known.clock).begin(8)
	f.silentUntil(known.clock + 1*ms)
}

// LAN-10: what all lanes may have in flight is the window of a chunk without end.
func TestThePathHoldsMoreThanAChunk(t *testing.T) {
	check.Equal(t, "nothing known", newScheduler(t, Adaptive()).PathSlices(), 16)
	f := warm(t, Adaptive(), 48*ms, 50_000, 256)
	check.Equal(t, "window of a chunk", f.window(), 256)
	check.That(t, f.PathSlices() > 1000, "of all lanes")
}

// REC-12: what was sent on another path is no sample of this one, and opens and closes nothing.
func TestWhatWasSentBeforeAMoveSaysNothing(t *testing.T) {
	f := fly(t, Adaptive(), 256)
	check.Equal(t, "first flight", len(f.all()), 16)
	f.Moved()
	losses := *f.path.Losses()
	f.samples()
	f.at(50 * ms).acked(chunktest.Range(4, 9)...)
	check.Equal(t, "samples", len(f.samples()), 0)
	check.Equal(t, "losses", *f.path.Losses(), losses)
	check.Equal(t, "then", f.all(), []int{0, 1, 2, 3, 16, 17, 18, 19, 20, 21})
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 0)
}
