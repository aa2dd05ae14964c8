package base

import (
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/statemachine"
)

// One that came later is no evidence, two are (GAP-2).
func TestASliceOvertakenByTwoIsLost(t *testing.T) {
	f := fly(t, atOnce, 5)
	f.sends(0, 1, 2, 3, 4)
	f.at(50 * ms).acked(1)
	f.sends() // 0 was overtaken by one
	f.acked(2)
	f.sends(0) // by two
	f.acked(4)
	f.sends() // 3 by one; 0 is out again
	check.Equal(t, "lost", f.Stats().Lost, 1)
}

// A resend has to be overtaken itself (GAP-2).
func TestAResentSliceIsOvertakenByItsLatestTransmission(t *testing.T) {
	f := fly(t, atOnce, 5)
	f.sends(0, 1, 2, 3, 4)
	f.at(50 * ms).acked(2)
	f.sends(0) // the sixth transmission
	f.acked(4)
	f.sends(1) // the seventh
	f.at(100 * ms).acked(1)
	f.sends(3) // 3 was fourth; 0 was overtaken by one
	f.at(150 * ms).acked(3)
	f.sends(0) // by two: the seventh and the eighth
}

// It was sent before them (GAP-1).
func TestALateOriginalOvertakesNothingThatWasSentAfterIt(t *testing.T) {
	f := fly(t, atOnce, 5)
	f.sends(0, 1, 2, 3, 4)
	f.at(50*ms).acked(3, 4)
	f.sends(0, 1, 2)
	f.at(99*ms).acked(1, 2) // sooner than any slice before: these are the originals
	f.sends()
	check.Equal(t, "spurious", f.Stats().Spurious, 2)
	f.at(100 * ms).acked(0) // this one can be the resend
	check.Equal(t, "spurious", f.Stats().Spurious, 2)
}

// To the microsecond (GAP-1).
func TestTheSmallestRoundTripTellsResendsFromOriginals(t *testing.T) {
	for _, c := range []struct {
		after    machine.Micros
		spurious int64
		overtook bool
	}{
		{50*ms - 1, 1, false},
		{50 * ms, 0, true},
	} {
		f := fly(t, atOnce, 4)
		f.sends(0, 1, 2, 3)
		f.at(50 * ms).acked(3)
		f.sends(0, 1)
		f.at(50*ms + c.after).acked(1)
		check.Equal(t, "spurious", f.Stats().Spurious, c.spurious)
		if c.overtook {
			f.sends(2) // the third transmission, by the sixth
		} else {
			f.sends()
		}
	}
}

func TestSpuriousResendsAreObserved(t *testing.T) {
	f := fly(t, atOnce, 3)
	f.sends(0, 1, 2)
	f.at(50 * ms).acked(2)
	f.sends(0)
	f.seen = nil
	f.at(60 * ms).acked(0)
	check.Equal(t, "observed", f.seen, []statemachine.Observation{{Kind: statemachine.Spurious, At: 60 * ms, SliceID: 0}})
}

// While no round trip was measured nothing distinguishes a resend from its original,
// and nothing is called spurious (GAP-1).
func TestWithoutARoundTripTheOriginalCounts(t *testing.T) {
	f := fly(t, atOnce, 6)
	f.sends(chunktest.Range(0, 5)...)
	f.at(250*ms).sends(4, 5)
	f.at(300 * ms).acked(4)
	f.sends(0, 1, 2) // overtaken by the original, not by the resend of 4
	check.Equal(t, "spurious", f.Stats().Spurious, 0)
}

func TestWhatIsLostCountsOnce(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 4)
	for id := range 4 {
		f.at(machine.Micros(id) * ms).sends(id)
	}
	f.at(50 * ms).acked(2)
	f.acked(3) // 0 is in line already, 1 is lost too
	check.Equal(t, "lost", f.Stats().Lost, 2)
	f.sends(0)
	f.at(51 * ms).sends(1)
}
