package base

import (
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
)

// One sample for three slices (RTT-1, RTT-2).
func TestTheNewestSliceThatWasSentOnceIsTheSample(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 3)
	for id := range 3 {
		f.at(machine.Micros(id) * ms).sends(id)
	}
	f.at(50*ms).acked(0, 1, 2)
	check.Equal(t, "samples", f.sampled(), []machine.Micros{48 * ms})
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 48*ms)
	check.Equal(t, "minimum", f.Stats().MinRTT, 48*ms)
}

// The fresh one is sure (RTT-1, RTT-2).
func TestAResentSliceGivesNoSampleBesideAFreshOne(t *testing.T) {
	f := fly(t, atOnce, 5)
	f.sends(0, 1, 2, 3, 4)
	f.at(50 * ms).acked(2)
	f.sends(0)
	f.at(120*ms).acked(0, 3)
	check.Equal(t, "samples", f.sampled(), []machine.Micros{50 * ms, 120 * ms})
}

// What came back too fast was the original (RTT-3).
func TestTheNewestResentSliceThatCanHaveArrivedIsTheSample(t *testing.T) {
	f := fly(t, atOnce, 6)
	f.sends(0, 1, 2, 3, 4, 5)
	f.at(50 * ms).acked(3)
	f.sends(0, 1)
	f.at(55 * ms).acked(5)
	f.sends(2)
	f.at(104*ms).acked(0, 2) // 2 cannot have come in 49 ms, 0 can in 54
	check.Equal(t, "samples", f.sampled(), []machine.Micros{50 * ms, 55 * ms, 54 * ms})
	check.Equal(t, "minimum", f.Stats().MinRTT, 50*ms)
}

// Of two resent slices the one that was sent later counts, also when it is the
// one with the smaller id.
func TestNewerIsWhatWasSentLater(t *testing.T) {
	f := fly(t, atOnce, 8)
	f.sends(chunktest.Range(0, 7)...)
	f.at(50*ms).acked(1, 2, 4, 5)
	f.sends(0, 3)
	f.at(60 * ms).acked(7)
	f.sends() // 6 by one only
	f.at(100 * ms)
	f.slices[0].last, f.slices[0].lastAt = 11, 70*ms // as if 0 was sent again
	f.at(125*ms).acked(0, 3)
	check.Equal(t, "samples", f.sampled(), []machine.Micros{50 * ms, 60 * ms, 55 * ms})
}

func TestAResentSliceThatCannotHaveArrivedGivesNoSample(t *testing.T) {
	f := fly(t, atOnce, 3)
	f.sends(0, 1, 2)
	f.at(50 * ms).acked(2)
	f.sends(0)
	f.at(99 * ms).acked(0)
	check.Equal(t, "samples", f.sampled(), []machine.Micros{50 * ms})
}

// A timer shorter than the round trip makes every slice ambiguous. What is
// known then is a bound, and the next chunk waits long enough to measure (RTT-4,
// RTT-6).
func TestABoundMendsATimerThatIsTooShort(t *testing.T) {
	f := fly(t, atOnce, 1)
	f.sends(0)
	f.at(250 * ms).sends(0)
	f.at(400 * ms).acked(0)
	check.Equal(t, "samples", f.sampled(), []machine.Micros(nil))
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 0)

	f.at(machine.Second).begin(1)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 400*ms)
	check.Equal(t, "minimum", f.Stats().MinRTT, 0)
	f.sends(0)
	f.silentUntil(machine.Second + 500*ms)
	f.now = machine.Second + 400*ms
	f.acked(0)
	check.Equal(t, "samples", f.sampled(), []machine.Micros{400 * ms})
	check.Equal(t, "minimum", f.Stats().MinRTT, 400*ms)
}

func TestTheBoundIsOfTheNewestSlice(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 2)
	f.sends(0)
	f.at(ms).sends(1)
	f.at(251 * ms).sends(0)
	f.at(252 * ms).sends(1)
	f.at(400*ms).acked(0, 1)
	f.begin(1)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 399*ms)
}

func TestTheSmallestBoundCounts(t *testing.T) {
	f := fly(t, atOnce, 2)
	f.sends(0, 1)
	f.at(250*ms).sends(0, 1)
	f.at(300 * ms).acked(0)
	f.at(400 * ms).acked(1)
	f.begin(1)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 300*ms)
}

// The chunk in which a bound is found goes on with the timer that it had.
func TestABoundIsForTheNextChunk(t *testing.T) {
	f := fly(t, atOnce, 3)
	f.sends(0, 1, 2)
	f.at(6*machine.Second).sends(1, 2)
	f.at(6*machine.Second + 50*ms).acked(1)
	f.silentUntil(6*machine.Second + 250*ms)
	f.sends(0, 2)
}

// When resends were answered and no original was, the originals are lost.
func TestUnansweredOriginalsAreLostWhenTheTimerRunsOut(t *testing.T) {
	f := fly(t, atOnce, 20)
	f.sends(chunktest.Range(0, 19)...)
	f.at(250*ms).sends(18, 19)
	f.at(500 * ms).sends(chunktest.Range(14, 17)...)
	f.at(750 * ms).sends(chunktest.Range(6, 13)...)
	f.at(751*ms).acked(6, 7)
	f.sends(chunktest.Range(0, 5)...) // overtaken even if these were the originals
	f.silentUntil(1001 * ms)
	f.sends(14, 15, 16, 17, 18, 19) // these too, since they were the resends
	check.Equal(t, "lost", f.Stats().Lost, 6+6)
}

// Outages do not pass for round trips.
func TestTheTimerIsNeverAboveThreeSeconds(t *testing.T) {
	f := measuredFlight(t, atOnce, 7*machine.Second, 1)
	f.silentUntil(10*machine.Second + 3*machine.Second)
	f.sends(0)
}

func TestEstimatesOutliveTheChunk(t *testing.T) {
	f := measuredFlight(t, atOnce, 80*ms, 1)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 80*ms)
	f.at(10*machine.Second + 72*ms).acked(0)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 78*ms)
	check.Equal(t, "minimum", f.Stats().MinRTT, 72*ms)
}
