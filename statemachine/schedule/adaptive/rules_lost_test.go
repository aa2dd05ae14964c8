package adaptive

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

// Sections 7 to 9, where a microsecond or a slice decides.

// LOS-4: nine eighths of how late it was, and at most half as much again as the
// round trip, which is 50 ms.
func TestPatienceIsBounded(t *testing.T) {
	for _, c := range []struct{ late, want core.Micros }{
		{56 * ms, 63 * ms},
		{80 * ms, 75 * ms},
	} {
		f := overtaken(t)
		f.at(10*second + c.late).acked(0)
		check.Equal(t, "spurious", f.Stats().Spurious, 1)
		check.Equal(t, "patience", f.patience, c.want)
	}
}

// overtaken returns a flight of 40 slices at 10 s of which 0 and 1 were found lost
// after 50 ms, and sent again.
func overtaken(t *testing.T) *flight {
	t.Helper()
	f := warm(t, Adaptive(), 50*ms, 80_000, 40)
	f.within(20 * ms)
	f.at(10*second + 50*ms + 210).acked(3) // 70 us apart: a round trip of 50 ms
	f.sends(0, 1)
	return f
}

// LOS-4: what a timer gave up shows nothing of the order that the path keeps: that of
// PTO-4, and that of a hold (PTO-5).
func TestWhatATimerGaveUpTeachesNoPatience(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 2)
	f.sends(0, 1)
	f.silentUntil(10*second + 75*ms)
	f.within(0)
	f.at(10*second + 80*ms).acked(0) // the timer gave it up
	check.Equal(t, "spurious, by the timer", f.Stats().Spurious, 1)
	check.Equal(t, "patience", f.patience, 0)

	f = warm(t, Adaptive(), 50*ms, 80_000, 8)
	f.Next(f.clock)
	f.after(10 * ms).Held(f.clock)
	f.silentUntil(10*second + 60*ms) // PTO-5: a round trip after the hold
	f.sends(0)
	f.after(10 * ms).acked(0)
	check.Equal(t, "spurious, in a hold", f.Stats().Spurious, 1)
	check.Equal(t, "patience", f.patience, 0)
}

// LOS-4: the same of what was overtaken, given up and sent again twice.
func TestWhatWasLostTwiceTeachesNoPatience(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 42)
	f.within(20 * ms)
	f.at(10*second+60*ms).acked(40, 41)
	f.within(10 * ms) // 0 to 39 again
	f.at(10*second + 120*ms).acked(2)
	f.sends(0)
	f.after(10 * ms).acked(0) // too soon for the second resend
	check.Equal(t, "spurious", f.Stats().Spurious, 1)
	check.Equal(t, "patience", f.patience, 0)
}

// LOS-2: being overtaken says that it was not the timer, which gave up the slice of
// the same number in the chunk before.
func TestOvertakenAfterAChunkOfTimeouts(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 1)
	f.sends(0)
	f.silentUntil(10*second + 75*ms)
	f.sends(0, 0)
	f.at(10*second + 125*ms).acked(0)
	f.at(11 * second).begin(40)
	f.within(20 * ms)
	f.at(11*second + 56*ms).acked(3)
	f.sends(0, 1)
	f.at(11*second + 64*ms).acked(0)
	check.Equal(t, "spurious", f.Stats().Spurious, 1)
	check.Equal(t, "patience", f.patience, 72*ms)
}

// PTO-1: the timer is that of the slice that is oldest once the acked one is gone.
func TestTheTimerOfTheOldestThatIsLeft(t *testing.T) {
	f := warm(t, Adaptive(), 100*ms, 80_000, 2)
	f.Next(f.clock)
	f.after(60 * ms).Next(f.clock)
	f.at(10*second + 100*ms).acked(0) // rttvar falls by a quarter, to 9,375 us
	f.silentUntil(10*second + 60*ms + 100*ms + 4*9375)
}

// PTO-1, PRO-3: a copy makes a slice younger than one that was sent later.
func TestACopyPutsTheTimerOff(t *testing.T) {
	f := warm(t, Redundant(), 50*ms, 80_000, 2)
	f.Next(f.clock)
	f.after(20 * ms).Next(f.clock)
	id, _ := f.after(4 * ms).Next(f.clock)
	check.Equal(t, "a copy", id, 0)
	f.at(10*second + 45*ms) // too late for one of 1 (CPY-2)
	f.silentUntil(10*second + 20*ms + 75*ms)
}

// REC-5, step 2: while a lost slice waits, no timer runs out.
func TestALostSliceGoesBeforeTheTimer(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 3)
	f.sends(0, 1, 2)
	f.at(10*second + 50*ms).acked(2) // 0 is lost
	f.at(10*second + 200*ms).Next(f.clock)
	check.Equal(t, "timeouts", f.Stats().Timeouts, 0)
	f.after(ms).Next(f.clock)
	check.Equal(t, "timeouts", f.Stats().Timeouts, 1)
}

// PTO-4: when all were resent as often, again the newest first, which has not the
// largest number.
func TestProbesOfWhatWasResentAsOften(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 34) // too many for copies
	f.within(20 * ms)
	f.after(20 * ms)
	var probed []int
	for len(probed) < 38 {
		f.at(f.Deadline())
		probed = append(probed, f.within(ms)...)
	}
	var want []int
	for id := 32; id >= 0; id -= 2 {
		want = append(want, id, id+1)
	}
	check.Equal(t, "probed", probed, append(want, 0, 1, 2, 3))
	check.Equal(t, "timeouts", f.Stats().Timeouts, 19)
}

// REC-2: a chunk that was given up leaves no timer, but the wait between the probes is the
// path's (PTO-3).
func TestAChunkThatWasGivenUpLeavesNoTimer(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 1)
	f.sends(0)
	for f.clock < 15*second {
		f.at(f.Deadline())
		f.within(0)
	}
	check.Equal(t, "no probe before", f.path.ProbeAt(), f.clock+second)
	f.begin(1)
	f.after(ms).Next(f.clock)
	f.silentUntil(f.path.ProbeAt())

	f = warm(t, Adaptive(), 50*ms, 80_000, 4)
	f.patience = 60 * ms
	f.sends(0, 1, 2, 3)
	f.at(10*second + 50*ms).acked(2)
	check.Equal(t, "lost at", f.Deadline(), 10*second+60*ms)
	f.begin(1)
	f.after(ms).Next(f.clock)
	delay, _ := f.path.RTT.Delay()
	f.silentUntil(f.clock + delay)
}

// REC-4: a hold forgets what was lost, and lets nothing but a probe go: no copy
// either (REC-9).
func TestAHoldLetsNoCopyGo(t *testing.T) {
	f := warm(t, Redundant(), 50*ms, 80_000, 4) // 70 us apart
	check.Equal(t, "sent", f.within(210), chunktest.Range(0, 3))
	f.after(ms).Held(f.clock)
	f.silentUntil(10*second + ms + 50*ms)
	f.sends(3)
	f = warm(t, Adaptive(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3)
	f.at(10*second + 75*ms).Next(f.clock) // two are lost, of which one goes out
	f.Held(f.clock)
	f.silentUntil(10*second + 75*ms + 50*ms)
}

// REC-7: the deadline is as of the latest event, be it an ack: 50 ms after it was
// sent a slice has no copies (CPY-2).
func TestTheDeadlineIsAsOfTheAck(t *testing.T) {
	f := warm(t, Redundant(), 50*ms, 80_000, 2)
	check.Equal(t, "sent", f.within(70), []int{0, 1})
	f.at(10*second + 50*ms + 70).acked(1)
	delay, margin := f.path.RTT.Delay()
	check.Equal(t, "deadline", f.Deadline(), max(10*second+delay, f.clock+margin))
}

// CPY-2: the budget is 64 copies, so two of each of 32 slices, or half of what may be in flight (PRO-3: the same
// for redundant).
func TestCopiesShareABudget(t *testing.T) {
	for n, copied := range map[int]bool{32: true, 33: false} {
		f := warm(t, Adaptive(), 50*ms, 0, n+2)
		f.within(25 * ms)
		f.at(10*second+74*ms).acked(n, n+1)
		check.Equal(t, "copied", len(f.within(20*ms)) > n, copied)
	}
	for n, copied := range map[int]bool{4: true, 5: false} {
		f := fly(t, Redundant(), 1)
		f.all()
		f.at(50 * ms).acked(0) // now 18 may be in flight
		f.begin(n)
		check.Equal(t, "half of what may be in flight", len(f.within(20*ms)) > n, copied)
	}
}

// CPY-2: a copy goes less than half a round trip after what it copies.
func TestCopiesGoWithinHalfARoundTrip(t *testing.T) {
	for after, want := range map[core.Micros][]int{25*ms - 1: {0}, 25 * ms: nil} {
		f := warm(t, Redundant(), 50*ms, 80_000, 1)
		f.Next(f.clock)
		f.after(after)
		check.Equal(t, "copied", f.within(0), want)
	}
}

// CPY-3: the silence begins after four delays, 300 ms.
func TestCopiesGoForFourDelays(t *testing.T) {
	for silent, want := range map[core.Micros][]int{300 * ms: {0}, 300*ms + 1: nil} {
		f := warm(t, Adaptive(), 50*ms, 80_000, 1)
		f.Next(f.clock)
		f.at(10*second + 290*ms).Next(f.clock) // the timer has run out
		f.at(10*second + silent)
		check.Equal(t, "copied", f.within(0), want)
	}
}

// Rest gives back the memory, and the next chunk takes it anew.
func TestRestKeepsNoSlices(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3)
	f.at(10*second+50*ms).acked(0, 1, 2, 3)
	f.Rest()
	check.Equal(t, "kept", cap(f.slices), 0)
	f.at(11 * second).begin(3)
	f.sends(0, 1, 2)
}

// Each rule can be left out, and only it.
func TestARuleThatIsLeftOut(t *testing.T) {
	for i, out := range Rules {
		p := Adaptive().Without(i)
		for _, r := range Rules {
			if left := p.has(r.rule); left != (r.ID != out.ID) {
				t.Errorf("without %s: %s is %v", out.ID, r.ID, left)
			}
		}
	}
}
