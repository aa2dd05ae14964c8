package adaptive

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
)

const second = core.Second

// ROOM-1, ROOM-4
// A scheduler begins without an estimate (REC-8), and with the figures of the
// document (REC-10).
func TestTheFirstLimitGrowsByTwiceWhatArrives(t *testing.T) {
	f := fly(t, Adaptive(), 256)
	check.Equal(t, "first flight", len(f.all()), 16)
	f.at(50 * ms).acked(chunktest.Range(0, 9)...)
	check.Equal(t, "then", len(f.all()), 30) // ten have left, and it is larger by twenty
}

// ROOM-1, REC-9: what was lost comes first, and no more than there is room for.
func TestResendsWaitForRoom(t *testing.T) {
	f := fly(t, Adaptive(), 100)
	check.Equal(t, "first flight", len(f.all()), 16)
	f.at(50 * ms).acked(3)
	check.Equal(t, "sent", f.within(20*ms), []int{0, 1, 16, 17, 18}) // the limit is 18 now, and 13 are in flight

	f = warm(t, Burst(), 50*ms, 0, 100)
	check.Equal(t, "a burst has room", len(f.all()), 100)
}

// PAC-4, PAC-5
func TestALateCallerMakesUpForTwentyMilliseconds(t *testing.T) {
	f := warm(t, Fixed(8_528_000), 50*ms, 0, 100) // 1 ms apart
	f.Next(f.clock)
	f.after(second)
	sent := 0
	for _, ok := f.Next(f.clock); ok; _, ok = f.Next(f.clock) {
		sent++
	}
	check.Equal(t, "at once", sent, 20+1)
	f = warm(t, Fixed(8_528_000), 50*ms, 0, 1)
	f.Next(f.clock)
	f.silentUntil(10*second + 75*ms)
	f.after(second).Next(f.clock) // time with nothing to send earned nothing
	check.Equal(t, "pace", f.path.Vars().PaceAt, 11*second+76*ms)
}

// PRO-1
func TestTheApplicationLimitsTheRate(t *testing.T) {
	for _, p := range []Profile{Adaptive(), Burst(), Redundant(), Fixed(1)} {
		p.MaxRate = 852_800 // a slice in 10 ms
		f := fly(t, p, 256)
		f.Next(0)
		f.silentUntil(10 * ms)
		check.Equal(t, p.Name, len(f.within(100*ms)), 11)
	}
	for _, c := range []struct{ rate, wait int64 }{{statemachine.MinRate, 1_000_000}, {statemachine.MaxRate, 7}} {
		f := fly(t, Fixed(c.rate), 2)
		f.Next(0)
		check.Equal(t, "wait", int64(f.Deadline()), c.wait)
	}
}

// PRO-1: what is outside is refused, by the field's name.
func TestARateOutsideIsRefused(t *testing.T) {
	limited := Adaptive()
	limited.MaxRate = statemachine.MinRate - 1
	for _, p := range []Profile{Fixed(0), Fixed(-8), Fixed(statemachine.MinRate - 1), Fixed(statemachine.MaxRate + 1), limited} {
		if _, err := New(p); !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "Profile.MaxRate") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// PRO-2
func TestABurstIsEvenlySpaced(t *testing.T) {
	f := fly(t, Burst(), 256)
	f.Next(0)
	f.silentUntil(85)
	check.Equal(t, "sent", len(f.within(22*ms)), 255)
}

// PRO-4
func TestAFixedRateLearnsNothing(t *testing.T) {
	f := fly(t, Fixed(8_528_000), 256) // a slice a millisecond
	check.Equal(t, "sent", f.within(49*ms), chunktest.Range(0, 49))
	f.at(50 * ms).acked(chunktest.Range(0, 20)...)
	f.at(50*ms + 10).acked(chunktest.Range(21, 49)...)
	check.Equal(t, "sent", f.within(9*ms), chunktest.Range(50, 59))
}

// PRO-4: the interval is the profile's, though the path is known to be slower.
func TestAFixedRateHoldsOnASlowerPath(t *testing.T) {
	f := warm(t, Fixed(8_528_000), 50*ms, 5_000_000, 100) // a slice a millisecond; the path takes 5
	check.Equal(t, "sent", f.within(9*ms), chunktest.Range(0, 9))
}

// LOS-2
func TestASliceOvertakenByTwoIsLost(t *testing.T) {
	f := fly(t, Adaptive(), 12)
	f.sends(chunktest.Range(0, 11)...)
	f.at(50 * ms).acked(1)
	f.sends() // 0 was overtaken by one
	f.acked(2)
	f.sends(0) // by two
	check.Equal(t, "lost", f.Stats().Lost, 1)
}

// LOS-1, EST-5
func TestAnAckThatIsTooSoonIsOfTheOriginal(t *testing.T) {
	for _, c := range []struct {
		after    core.Micros
		spurious int64
	}{{46_874, 1}, {46_875, 0}} { // 15/16 of 50 ms
		f := fly(t, Adaptive(), 12)
		f.sends(chunktest.Range(0, 11)...)
		f.at(50*ms + 255).acked(3) // sent at 255 us: a round trip of 50 ms
		f.takes(0)
		f.sends(0, 1, 0, 1)
		f.at(50*ms + 255 + c.after).acked(0) // resent at once
		check.Equal(t, "spurious", f.Stats().Spurious, c.spurious)
	}
}

// LOS-3, LOS-4
func TestPatienceWithAPathThatReorders(t *testing.T) {
	f := fly(t, Adaptive(), 12)
	f.sends(chunktest.Range(0, 11)...)
	f.at(50 * ms).acked(3)
	f.takes(0)
	f.sends(0, 1, 0, 1)
	f.at(56 * ms).acked(0) // not lost, but 6 ms late
	check.Equal(t, "patience", f.patience, 63*ms)
	f.acked(4, 5)
	f.silentUntil(63*ms + 170) // 2 went out at 170 us
	f.sends(2, 2)
	f.at(second).begin(1)
	check.Equal(t, "patience in the next chunk", f.patience, 63*ms-63*ms/16)
}

// EST-3
func TestCopiesMayLowerTheEstimateOnly(t *testing.T) {
	for _, c := range []struct {
		after, want core.Micros
	}{{80 * ms, 100 * ms}, {65 * ms, 100 * ms}, {48 * ms, 87 * ms}} {
		f := warm(t, Adaptive(), 50*ms, 100_000, 4)
		f.all()
		f.path.RTT.Smoothed = 100 * ms
		f.at(10*second + 50*ms).acked(3) // 100 -> 87.5
		f.path.RTT.Smoothed = 100 * ms
		f.within(10 * ms) // 0 and 1, and a copy of each
		f.path.RTT.Variation = 0
		before := f.path.RTT.Smoothed
		f.after(c.after).acked(0)
		if c.after < before != (f.path.RTT.Smoothed < before) {
			t.Errorf("after %d: %d -> %d", c.after, before, f.path.RTT.Smoothed)
		}
	}
}

// EST-4, and what is kept for the next chunk (REC-8)
func TestABoundMendsATimerThatIsTooShort(t *testing.T) {
	f := fly(t, Adaptive(), 1)
	f.sends(0)
	f.silentUntil(250 * ms)
	f.sends(0)
	f.at(400 * ms).acked(0)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 0)
	f.at(second).begin(1)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 400*ms)
	f.sends(0)
	f.silentUntil(second + 500*ms)
}

// ROOM-1: in a drain
func TestADrainHasFourSlicesInFlight(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 100_000, 256) // a window of 788
	f.far()
	f.all()
	f.after(80 * ms).acked(0) // the latest near one was 10 s ago
	check.Equal(t, "allowance", f.window(), 4)
	sent := f.fresh
	f.acked(chunktest.Range(1, sent-5)...)
	f.within(50 * ms)
	check.Equal(t, "fresh", f.fresh, sent)
	f.after(60 * ms).acked(sent - 4)
	f.within(50 * ms)
	check.Equal(t, "fresh", f.fresh, sent+1)
	f.after(51 * ms).acked(sent)
	check.Equal(t, "window", f.window() > 4, true)
}

// PTO-1, PTO-2
func TestTheTimerOfTheOldestSlice(t *testing.T) {
	f := warm(t, Adaptive(), 100*ms, 100_000, 2) // delay 150 ms, margin 50 ms
	f.Next(f.clock)
	f.after(10 * ms).Next(f.clock)
	f.silentUntil(10*second + 150*ms)
	f = warm(t, Adaptive(), 100*ms, 100_000, 4)
	f.all()
	f.at(10*second + 120*ms).acked(0)
	f.path.RTT = rtt.Estimator{Smoothed: 100 * ms, Variation: 12_500, Known: rtt.Measured}
	f.silentUntil(10*second + 170*ms) // the latest newly acked slice was 50 ms ago
}

// PTO-3, PTO-4
func TestTwoProbesThenPatience(t *testing.T) {
	f := warm(t, Adaptive(), 100*ms, 100_000, 100)
	f.within(50 * ms)
	f.silentUntil(10*second + 150*ms)
	f.sends(98, 99) // the newest
	f.silentUntil(10*second + 300*ms)
	f.sends(96, 97)
	for f.clock < 15*second {
		f.clock = f.Deadline()
		f.within(0)
	}
	check.Equal(t, "wait after 5 s", f.path.ProbeAt()-f.clock, second)
	f.acked(99)
	check.Equal(t, "after an ack", f.path.ProbeAt(), 0)
}

// ROOM-7: a flight of which all is lost does not block its own repair.
func TestWhatATimerGaveUpNeedsNoRoomInASilence(t *testing.T) {
	f := fly(t, Adaptive(), 100)
	f.all()
	f.at(250*ms).sends(14, 15)
	check.That(t, !f.path.HasRoom(), "14 are in flight, and the limit is eight")
}

// PTO-5, REC-4, SUS-5
func TestAHoldLeavesOneProbe(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 100_000, 256)
	f.within(2 * ms)
	fresh := f.fresh
	f.at(10*second + 50*ms).Held(f.clock)
	for range 5 {
		f.at(f.Deadline())
		f.sends(fresh - 1)
		f.Held(f.clock + 50*ms)
	}
	lost := f.path.Losses().Lost
	f.after(51 * ms).acked(fresh - 1)
	check.Equal(t, "lost by the path", f.path.Losses().Lost, lost) // the peer may have refused them
	f.sends(chunktest.Range(0, 11)...)                             // all were lost, and go out again at the pace
}

// PTO-5: a round trip at first, then a quarter of the time that the hold has
// lasted, and 250 ms at most.
func TestProbesOfAHoldBecomeRarer(t *testing.T) {
	f := warm(t, Adaptive(), 10*ms, 100_000, 256)
	f.within(2 * ms)
	f.at(10*second + 10*ms).Held(f.clock)
	start := f.clock
	var waits []core.Micros
	for f.clock < start+2*second {
		before := f.clock
		f.at(f.Deadline())
		f.sends(f.fresh - 1)
		f.Held(f.clock + 10*ms)
		waits = append(waits, (f.clock-before)/ms)
	}
	check.Equal(t, "waits", waits, []core.Micros{10, 10, 10, 10, 10, 12, 15, 19, 24, 30, 38, 47, 59, 74, 93, 116, 145, 181, 227, 250, 250, 250, 250})
}

// CPY-1, CPY-2
func TestSlicesThatWereLostAreCopied(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3)
	f.at(10*second+50*ms).acked(2, 3)
	f.sends(0, 1, 0, 1) // twice each, since lost once
	check.Equal(t, "more", len(f.after(ms).within(60*ms)), 0)
}

// PRO-3
func TestRedundantCopiesWhatWasNot(t *testing.T) {
	f := warm(t, Redundant(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3, 0, 1, 2, 3)
}

// CPY-2
func TestManySlicesAreNotCopied(t *testing.T) {
	for n, copied := range map[int]bool{32: true, 33: false} {
		f := warm(t, Adaptive(), 50*ms, 10_000, n+2)
		f.all()
		f.at(10*second+50*ms).acked(n, n+1)
		check.Equal(t, "copied", len(f.within(10*ms)) > n, copied)
	}
}

func TestSpuriousResendsAreObserved(t *testing.T) {
	f := fly(t, Adaptive(), 12)
	f.sends(chunktest.Range(0, 11)...)
	f.at(50 * ms).acked(3)
	f.takes(0)
	f.sends(0, 1, 0, 1)
	f.seen = nil
	f.at(60 * ms).acked(0)
	check.Equal(t, "observed", f.seen[0], eventlog.Event{Kind: eventlog.SliceSpurious, At: 60 * ms, SliceID: 0})
}

// An idle or a finished scheduler waits for nothing.
func TestNothingInFlight(t *testing.T) {
	f := fly(t, Adaptive(), 1)
	f.sends(0)
	f.at(50 * ms).acked(0)
	check.Equal(t, "deadline", f.Deadline(), core.Never)
	f.sends()
}

// Once a chunk of that size was sent no event allocates.
func TestNothingIsAllocatedOnceRunning(t *testing.T) {
	s := newScheduler(t, Adaptive())
	now := core.Micros(0)
	chunk := func() {
		s.Begin(statemachine.Flight{Now: now, NumSlices: 100, LastBytes: 1})
		left := core.FirstN(100)
		for round := 0; !left.Empty(); round++ {
			var news core.Set
			for id, ok := s.Next(now); ok; id, ok = s.Next(now) {
				if left.Has(id) && (id+round)%3 > 0 {
					news.Add(id)
				}
			}
			now = min(s.Deadline(), now+10*ms)
			if left = left.Minus(news); !news.Empty() {
				s.Acked(now, statemachine.Progress{News: news})
			}
		}
	}
	chunk()
	if n := testing.AllocsPerRun(20, chunk); n != 0 {
		t.Errorf("a chunk allocates %v times", n)
	}
}
