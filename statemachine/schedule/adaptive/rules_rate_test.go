package adaptive

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
)

// Sections 4 and 6, where a microsecond or a slice decides. What is known of the
// rate shows in the window: half as much again as it holds, and 8
// (WIN-2).

// RAT-5: a sample counts for one to two epochs of 10 ms. A sender that never ran dry
// counts slower ones, too (RAT-4), however early it is.
func TestARateIsForgottenAfterTwoEpochs(t *testing.T) {
	for _, c := range []struct {
		epoch core.Micros
		want  int
	}{
		{10 * ms, 4*3/2 + 8},    // 16 slices in 10 ms, so 4 in 3 ms: the fast train was two epochs ago
		{10*ms - 1, 24*3/2 + 8}, // 16 in 2 ms
	} {
		p := Adaptive().WithoutPace(control.Limit) // it never holds the sender back
		p.MaxRate = 85_280_000                     // a slice in 100 us
		f := fly(t, p, 256)
		f.within(3 * ms)
		f.at(ms).acked(0)
		f.at(3 * ms).acked(chunktest.Range(1, 16)...) // 2 ms
		f.within(ms)
		f.after(c.epoch).acked(chunktest.Range(17, 32)...)
		f.within(ms)
		f.after(c.epoch).acked(chunktest.Range(33, 48)...)
		check.Equal(t, "path", f.path.Window(), c.want)
	}
}

// RAT-5: an epoch is no shorter at the begin of time.
func TestARateInTheFirstMilliseconds(t *testing.T) {
	f := fly(t, Adaptive(), 256)
	f.within(ms / 2)
	f.at(ms).acked(0)
	f.at(3 * ms).acked(chunktest.Range(1, 16)...)
	check.Equal(t, "path", f.path.Window(), 24*3/2+8)
}

// RAT-3: what comes late was not lost, so what arrived is all that counts.
func TestSlicesThatComeLateAreNoLoss(t *testing.T) {
	f := fly(t, Adaptive(), 256)
	f.all()
	f.at(50 * ms).acked(30)
	f.at(52 * ms).acked(append(chunktest.Range(0, 14), 31)...) // sixteen, and newest grows by one
	check.Equal(t, "rate", f.path.PerSlice(), 2*int64(ms)*1000/16)
}

// RAT-4: who runs dry has measured himself, for a round trip from then on. The
// limit is 10 ms a slice on a path that takes 0.1 ms, and each ack comes after
// 50 ms: with 2 ms for the ack that is 5 slices, or the 520 that were known.
func TestASampleCountsARoundTripAfterTheSenderRanDry(t *testing.T) {
	const start = 11 * second
	for _, c := range []struct {
		ranDry core.Micros
		want   int
	}{{start - 1, 5*3/2 + 8}, {start, 520*3/2 + 8}} {
		f := limited(t)
		f.at(c.ranDry).sends() // all is acked
		f.at(start).begin(256)
		check.Equal(t, "sent", f.within(50*ms), chunktest.Range(0, 5))
		f.at(start + 50*ms).acked(0)
		check.Equal(t, "sent", f.within(40*ms), chunktest.Range(6, 9))
		f.at(start+90*ms).acked(1, 2, 3, 4)
		f.within(50 * ms)
		f.at(start+140*ms).acked(5, 6, 7, 8, 9)
		check.Equal(t, "path", f.path.Window(), c.want)
	}
}

// limited returns a flight with a limit of 10 ms a slice on a path that takes 0.1 ms,
// after a chunk of which all was acked.
func limited(t *testing.T) *flight {
	t.Helper()
	p := Adaptive()
	p.MaxRate = 852_800
	f := warm(t, p, 50*ms, 100_000, 1)
	f.sends(0)
	f.at(10*second + 50*ms).acked(0)
	return f
}

// PAC-4, RAT-4: a driver that comes more than 20 ms late has measured itself.
func TestALateDriverMeasuresItself(t *testing.T) {
	const start = 11 * second
	for _, c := range []struct {
		late core.Micros // more than 20 ms
		want int
	}{{0, 5*3/2 + 8}, {1, 520*3/2 + 8}} {
		f := limited(t)
		f.at(start).begin(256)
		check.Equal(t, "at the begin", f.within(0), []int{0})
		f.at(start + 10*ms + 20*ms + c.late)
		check.Equal(t, "late", f.within(0), []int{1, 2, 3})
		check.Equal(t, "then in time", f.within(20*ms), []int{4, 5})
		f.after(20 * ms).acked(0)
		check.Equal(t, "and so on", f.within(40*ms), chunktest.Range(6, 9))
		f.after(40*ms).acked(1, 2, 3, 4)
		f.within(50 * ms)
		f.after(50*ms).acked(5, 6, 7, 8, 9)
		check.Equal(t, "path", f.path.Window(), c.want)
	}
}

// REC-5, step 3: while there is something fresh or lost, the sender is not dry.
func TestWhenTheSenderRunsDry(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 4) // 70 us apart
	before := f.path.Vars().RanDryAt
	f.Next(f.clock)
	f.after(ms).Next(f.clock)
	check.Equal(t, "fresh slices are left", f.path.Vars().RanDryAt, before)
	f.after(ms).sends(2, 3)
	dry := f.path.Vars().RanDryAt
	check.Equal(t, "all are sent", dry >= f.clock, true)
	f.at(10*second+52*ms).acked(2, 3)
	f.Next(f.clock)
	f.after(ms).Next(f.clock)
	check.Equal(t, "lost slices were left", f.path.Vars().RanDryAt, dry)
	f.after(ms).Next(f.clock)
	check.Equal(t, "copies are left", f.path.Vars().RanDryAt, f.clock)
}

// PTO-3: the time of a timeout is no rate.
func TestATimeoutEndsTheTrain(t *testing.T) {
	f := fly(t, Adaptive().WithoutPace(control.Limit), 64)
	f.all()
	f.at(50 * ms).acked(0) // a train begins
	f.silentUntil(75*ms + 7)
	f.sends(62, 63)
	f.at(second).acked(chunktest.Range(1, 16)...) // another one
	check.Equal(t, "rate", f.path.PerSlice(), 0)
	f.at(second + 32*ms).acked(chunktest.Range(17, 32)...)
	check.Equal(t, "rate", f.path.PerSlice(), 2*int64(ms)*1000)
}

// Section 6: the rest below a microsecond is kept, and the smallest one waits.
func TestThePaceCountsNanoseconds(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_572, 50)
	for i, want := range []core.Micros{0, 71, 141, 212, 282} { // 70,500 ns apart, rounded up
		if i > 0 {
			f.silentUntil(10*second + want)
		}
		f.Next(f.clock)
	}
	f = warm(t, Adaptive(), 50*ms, 80_002, 50)
	f.Next(f.clock)
	f.silentUntil(10*second + 71) // 70,001 ns
}

// REC-5, step 5: pace_at stays where it is ahead of now, be it by a nanosecond.
func TestTheNextChunkWaitsForThePace(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_572, 1)
	f.Next(f.clock)
	f.at(10*second + 70).begin(1)
	f.silentUntil(10*second + 71) // 70,500 ns after the slice before
	f.sends(0)
}

// PAC-5, REC-2: the pause between two chunks is not made up for.
func TestAPauseIsNotMadeUpFor(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 1_142_858, 1) // 1 ms apart
	f.Next(f.clock)
	f.at(10*second + 50*ms).acked(0)
	f.at(11 * second).begin(10)
	f.Next(f.clock)
	f.silentUntil(11*second + ms)
}
