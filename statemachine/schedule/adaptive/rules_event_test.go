package adaptive

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// Section 2, event by event. What is learned of each is in rules_test.go.

// REC-1, REC-3: the round trip is known before it is asked which transmission
// arrived.
func TestNewsIsMeasuredFirst(t *testing.T) {
	f := fly(t, Adaptive(), 3)
	f.sends(0, 1, 2)
	f.silentUntil(250 * ms)
	f.sends(1, 2)
	f.at(270*ms).acked(0, 2) // 270 ms: what was resent 20 ms ago was not needed
	check.Equal(t, "spurious", f.Stats().Spurious, 1)
}

// REC-3, LOS-1: a slice that is lost again when its ack comes was not resent in
// vain only once.
func TestWhatIsLostAgainArrivedTheFirstTime(t *testing.T) {
	f := fly(t, Adaptive(), 12)
	f.sends(chunktest.Range(0, 11)...)
	f.at(50 * ms).acked(3)
	f.takes(0)
	f.sends(0, 1, 0, 1)
	f.acked(5)
	f.sends(2, 2)
	f.at(100 * ms).acked(2) // overtakes 0, which was resent before it
	f.acked(0)
	check.Equal(t, "spurious", f.Stats().Spurious, 1)
}

// LOS-1: an ack may be that of any copy, and the first claims the least.
func TestACopyIsNotTakenToHaveArrived(t *testing.T) {
	f := warm(t, Redundant(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3, 0, 1, 2, 3)
	f.at(10*second + 50*ms).acked(3)
	f.sends() // the copies of 0 and 1 are younger than what arrived
}

// REC-3: a newly acked slice ends a hold.
func TestNewsEndsAHold(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 8)
	f.Next(f.clock)
	f.at(10*second + 50*ms).Held(f.clock)
	f.silentUntil(10*second + 100*ms)
	f.acked(0)
	f.sends(chunktest.Range(1, 7)...)
}

// REC-5: what was lost, then what is fresh, then copies.
// What is lost, then what is fresh, then copies (REC-9).
func TestWhatGoesOutNext(t *testing.T) {
	f := warm(t, Redundant(), 50*ms, 80_000, 8)
	check.Equal(t, "first", f.within(210), chunktest.Range(0, 3)) // 70 us apart
	f.at(10*second + 50*ms).acked(3)
	f.sends(0, 1, 4, 5, 6, 7, 0, 1, 4, 5, 6, 7, 0, 1)
}

// REC-6
func TestTransmissionsAreNumbered(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 4) // 70 us apart
	f.sends(0, 1, 2, 3)
	const start, again = 10 * second, 10*second + 50*ms
	f.at(again).acked(2, 3)
	f.sends(0, 1, 0, 1)
	got := f.slices[0]
	check.Equal(t, "resends, copies", []uint8{got.resends, got.copies}, []uint8{1, 1})
	check.Equal(t, "first, main, last", []uint32{uint32(got.first), got.main, got.last}, []uint32{1, 5, 7})
	check.Equal(t, "their times", []core.Micros{got.firstAt, got.mainAt, got.lastAt}, []core.Micros{start, again, again + 140})
	check.Equal(t, "in all", f.count, 8)
	check.Equal(t, "the latest", f.lastSentAt, again+210)
	f.lost.Add(0)
	f.after(ms)
	f.Next(f.clock)
	check.Equal(t, "resends, copies", []uint8{f.slices[0].resends, f.slices[0].copies}, []uint8{2, 0})
}

// REC-7: the earlier of both timers.
func TestTheDeadlineIsTheEarlierTimer(t *testing.T) {
	for _, c := range []struct{ patience, want core.Micros }{
		{60 * ms, 60 * ms},  // LOS-3: when 0 is lost
		{200 * ms, 75 * ms}, // PTO-1: delay 75 ms
	} {
		f := warm(t, Adaptive(), 50*ms, 80_000, 4)
		f.sends(0, 1, 2, 3)
		f.patience = c.patience
		f.at(10*second + 50*ms).acked(2)
		f.path.RTT.Variation = 6_250
		f.silentUntil(10*second + c.want)
	}
}

// EST-1, EST-2
func TestTheRoundTripIsOfTheNewestSentOnce(t *testing.T) {
	f := fly(t, Adaptive(), 4)
	f.sends(0, 1, 2, 3) // 85 us apart
	sampled := func() (o eventlog.Event) {
		for _, e := range f.seen {
			if e.Kind == eventlog.RTTSampled {
				o = e
			}
		}
		f.seen = nil
		return o
	}
	f.at(50_170).acked(1, 2)
	check.Equal(t, "sample", sampled(), eventlog.Event{Kind: eventlog.RTTSampled, At: 50_170, SliceID: 2, RTT: 50 * ms})
	check.Equal(t, "estimate", []core.Micros{f.path.RTT.Smoothed, f.path.RTT.Variation, f.Stats().MinRTT}, []core.Micros{50 * ms, 6_250, 50 * ms})
	f.takes(0)
	f.sends(0, 0) // 0 is newer now, but not sent once
	f.at(101_255).acked(0, 3)
	check.Equal(t, "sample", sampled(), eventlog.Event{Kind: eventlog.RTTSampled, At: 101_255, SliceID: 3, RTT: 101 * ms})
}
