package adaptive

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// Section 3, where a microsecond or a slice decides.

// samples returns the samples that were observed since the last call.
func (f *flight) samples() (taken []eventlog.Event) {
	for _, o := range f.seen {
		if o.Kind == eventlog.RTTSampled {
			taken = append(taken, o)
		}
	}
	f.seen = nil
	return taken
}

// EST-6: a sample counts as 1 us at least.
func TestAPathWithoutARoundTrip(t *testing.T) {
	f := fly(t, Adaptive(), 1)
	f.sends(0)
	f.at(0).acked(0)
	check.Equal(t, "smoothed, smallest", []core.Micros{f.Stats().SmoothedRTT, f.Stats().MinRTT}, []core.Micros{1, 1})
}

// EST-3, EST-5: what was resent gives a sample from 15/16 of 50 ms on. With copies
// it must be below the estimate, too, which is 50 ms.
func TestWhichResendsAreSamples(t *testing.T) {
	for _, c := range []struct {
		n     int // in flight; two of them arrive, and up to 32 others are copied
		after core.Micros
		is    bool
	}{
		{42, 46_874, false}, {42, 46_875, true}, {42, 60 * ms, true},
		{4, 46_874, false}, {4, 46_875, true}, {4, 50*ms - 1, true}, {4, 50 * ms, false}, {4, 60 * ms, false},
	} {
		f := warm(t, Adaptive(), 50*ms, 80_000, c.n) // 70 us apart
		last := 10*second + core.Micros(c.n-1)*70
		f.within(20 * ms)
		f.at(last+50*ms).acked(c.n-2, c.n-1)
		f.within(10 * ms) // at once slice 0; with four in flight also a copy of it
		f.samples()
		f.after(c.after).acked(0)
		var want []eventlog.Event
		if c.is {
			want = append(want, eventlog.Event{Kind: eventlog.RTTSampled, At: f.clock, SliceID: 0, RTT: c.after})
		}
		check.Equal(t, "samples", f.samples(), want)
	}
}

// EST-1, EST-3: the latest of several is the one that was sent last, not the largest.
func TestTheSampleIsOfTheLatestResend(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 42)
	f.within(20 * ms)
	f.at(10*second+60*ms).acked(40, 41)
	f.within(10 * ms) // 0 to 39 again
	f.at(10*second + 120*ms).acked(2)
	f.sends(0) // overtaken by two, 1 only by one
	f.samples()
	f.at(10*second+180*ms).acked(0, 1)
	check.Equal(t, "samples", f.samples(), []eventlog.Event{{Kind: eventlog.RTTSampled, At: f.clock, SliceID: 0, RTT: 60 * ms}})
}

// EST-4: the bound is the time since the first transmission, whenever that was.
func TestABoundCountsFromTheFirstTransmission(t *testing.T) {
	f := fly(t, Adaptive(), 1)
	f.at(second).begin(1)
	f.sends(0)
	f.silentUntil(second + 250*ms)
	f.sends(0)
	f.at(second + 400*ms).acked(0)
	f.at(2 * second).begin(1)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 400*ms)
}

// EST-1, REC-2: what was resent in a chunk is sent once in the next, and was never
// lost (CPY-2).
func TestAChunkForgetsTheResendsOfTheOneBefore(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3)
	f.at(10*second+60*ms).acked(2, 3)
	f.sends(0, 1, 0, 1)
	f.at(10*second+120*ms).acked(0, 1)
	f.at(11 * second).begin(4)
	f.sends(0, 1, 2, 3)
	f.samples()
	f.at(11*second + 60*ms).acked(0)
	check.Equal(t, "samples", f.samples(), []eventlog.Event{{Kind: eventlog.RTTSampled, At: f.clock, SliceID: 0, RTT: 60 * ms}})
}

// REC-6: resends are counted up to 255, so that a slice that was resent 256 times is
// none that was sent once (EST-1).
func TestASliceThatIsResentForLong(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 1)
	f.profile.without = ruleCopies
	f.sends(0)
	for range 256 {
		f.at(f.Deadline())
		f.sends(0)
	}
	f.after(ms).acked(0)
	check.Equal(t, "smallest round trip", f.Stats().MinRTT, 50*ms)
}
