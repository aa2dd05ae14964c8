package rateless

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
)

// RPL-1, RPL-2, ROOM-1, ROOM-4: a cold chunk begins with 16 slices, and two more for each that
// arrived.
func TestTheFirstFlight(t *testing.T) {
	f := fly(t, Default(), 256)
	f.sends(16)
	f.at(50*ms).acked(10, 10)
	check.Equal(t, "then", f.within(45*ms), 30) // ten have left, and the limit is larger by twenty
}

// RPL-3: where nothing is lost as many go out as are missing.
func TestAFlightWithoutLoss(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100)
	f.sends(100)
	f.at(10*second+60*ms).acked(40, 40)
	f.sends(0)
	f.acked(100, 100)
	check.Equal(t, "deadline", f.Deadline(), core.Never)
}

// RPL-3, RPL-4: with one in five lost a chunk of 100 is a flight of 138, and as soon as
// something is known to be lost more goes out.
func TestAFlightWithLoss(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100).loses(64, 256) // a mean of 25, two deviations of 13
	f.sends(138)
	f.at(10*second+60*ms).acked(10, 20) // ten of twenty are lost
	f.sends(need(f.path.Losses(), 90, &f.profile) - 118)
}

// RPL-3: the timer's doubts end with what arrives.
func TestWhatIsUnderWay(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100)
	f.sends(100)
	check.Equal(t, "under way", f.InFlight(0), 100)
	f.at(10*second+60*ms).acked(10, 30)
	check.Equal(t, "above the highest that arrived", f.InFlight(0), 70)
	f.gone = 90
	check.Equal(t, "above what is gone", f.InFlight(0), 10)
}

// RPL-14: burst and fixed do not look at the window. The spacing of a burst is that of the
// slices of the chunk.
func TestProfilesWithoutAWindow(t *testing.T) {
	f := fly(t, Fixed(8_528_000), 256)
	check.Equal(t, "fixed", f.within(99*ms), 100)
	f = fly(t, Burst(), 256)
	f.Next(0)
	f.silentUntil(85)
	check.Equal(t, "burst", f.within(24*ms), 255+25)
	f = warm(t, Burst(), 50*ms, 1_142_858, 2).loses(256, 256)
	for _, next := range []core.Micros{85, 170} {
		f.Next(f.clock)
		f.silentUntil(10*second + next)
	}
}

// RPL-14: redundant adds three standard deviations.
func TestRedundantIsMoreCertain(t *testing.T) {
	for p, want := range map[Profile]int{Default(): 138, Redundant(): 145} {
		warm(t, p, 50*ms, 10_000, 100).loses(64, 256).sends(want)
	}
}

// RPL-14, PRO-1, RPX-11: what is outside is refused.
func TestARateOutsideIsRefused(t *testing.T) {
	for _, p := range []Profile{Fixed(0), Fixed(-8), Fixed(statemachine.MinRate - 1), Fixed(statemachine.MaxRate + 1)} {
		if _, err := New(p); !errors.Is(err, core.ErrConfig) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	p := Default()
	p.MaxRate = 852_800 // a slice in 10 ms
	f := fly(t, p, 256)
	f.Next(0)
	f.silentUntil(10 * ms)
}

// RPL-5, step 1: every ack that moves top gives a sample, of the latest that arrived.
func TestSamplesOfTheRoundTrip(t *testing.T) {
	f := fly(t, Default(), 8) // 85 us apart
	f.sends(9)
	f.seen = nil
	f.at(50_170).acked(1, 3)
	check.Equal(t, "observed", f.seen, []eventlog.Event{{Kind: eventlog.RTTSampled, At: 50_170, ChunkID: 7, SliceID: 2, RTT: 50 * ms}})
	f.seen = nil
	f.at(55*ms).acked(2, 3)
	check.Equal(t, "what comes late gives none", len(f.seen), 0)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 50*ms)
	check.Equal(t, "smallest", f.Stats().MinRTT, 50*ms)
}

// RPL-5, step 1: the ack of a complete chunk that a probe draws is no sample.
func TestTheAckOfACompleteChunk(t *testing.T) {
	f := fly(t, Default(), 1)
	f.sends(1)
	f.silentUntil(250 * ms)
	f.sends(1)
	f.at(400*ms).acked(1, 1)
	check.Equal(t, "unknown", f.Stats().SmoothedRTT, 0)
	f.at(second).begin(1)
	check.Equal(t, "a bound, from START on", f.Stats().SmoothedRTT, 400*ms)
	check.Equal(t, "known", f.path.RTT.Known, rtt.Bounded)

	f = warm(t, Default(), 50*ms, 10_000, 1)
	f.sends(1)
	f.silentUntil(10*second + 75*ms)
	f.sends(1)
	f.at(10*second+125*ms).acked(1, 1)
	check.Equal(t, "measured before", f.Stats().SmoothedRTT, 50*ms)

	f = warm(t, Default(), 50*ms, 10_000, 1)
	f.sends(1)
	f.silentUntil(10*second + 75*ms)
	f.sends(1)
	f.at(10*second+137*ms).acked(1, 2) // the probe itself: 62 ms
	check.Equal(t, "a probe that arrived", f.Stats().SmoothedRTT, 50*ms+12*ms/8)
}

// RPL-5, step 1: of what went out more than 1,024 transmissions ago no time is kept.
func TestTimesAreKeptForAWhile(t *testing.T) {
	for behind, want := range map[int]int{1023: 1, 1024: 0} {
		f := fly(t, Fixed(statemachine.MaxRate), 256)
		f.path.Losses().Lost = 32 * f.path.Losses().Arrived // need is 1,024
		check.Equal(t, "sent", f.within(10*ms), 1024)
		f.silentUntil(1023*7 + 250*ms)
		f.within(0)
		f.seen = nil
		f.at(300*ms).acked(1, f.sent-behind)
		check.Equal(t, "samples", len(f.seen), want)
	}
}

// RPL-5, step 2: what has a number below and did not arrive is lost, until it comes late.
func TestLossesAreCounted(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100)
	f.sends(100)
	f.at(10*second+60*ms).acked(30, 40)
	f.counted(10, 256+30)
	check.Equal(t, "lost", f.Stats().Lost, 10)
	f.acked(36, 40)
	f.counted(4, 256+36)
	f.acked(47, 41)
	f.counted(0, 256+47) // never below 0
	check.Equal(t, "lost", f.Stats().Lost, 10)
}

// RPL-5, step 2: what the timer has given up is neither lost nor did it arrive.
func TestAnOutageIsNoLoss(t *testing.T) {
	for _, c := range []struct {
		have, top     int
		lost, arrived int64
	}{
		{1, 101, 0, 1},   // one probe: of the hundred before nothing is counted
		{50, 102, 0, 50}, // two probes, and half of what seemed gone
		{1, 102, 1, 1},   // one of two probes
		{40, 50, 10, 40}, // nothing above what is gone
		{60, 100, 40, 60},
	} {
		f := warm(t, Default(), 50*ms, 10_000, 100)
		f.sends(100)
		f.at(10*second + 200*ms).sends(2)
		f.after(50*ms).acked(c.have, c.top)
		f.counted(c.lost, 256+c.arrived)
	}
}

// RPL-5, step 2: a slice that arrives late counts as lost, also behind an outage.
func TestWhatComesLateBehindAnOutage(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100)
	f.sends(100)
	f.at(10*second + 200*ms).sends(2)
	f.after(50*ms).acked(50, 100)
	f.counted(50, 256+50)
	f.acked(53, 101)
	f.counted(48, 256+53)
}

// CAP-8
func TestTheFirstValuesStay(t *testing.T) {
	f := fly(t, Burst(), 256) // without a window
	f.counted(1, 32)
	f.within(4 * ms)
	f.at(50*ms).acked(32, 32)
	f.within(4 * ms)
	f.after(50*ms).acked(63, 63)
	f.counted(1, 32+63)
	f.acked(64, 64)
	f.counted(1, 32+64)
	f.within(4 * ms)
	f.after(50*ms).acked(100, 100)
	f.counted(1, 32+100)
}

// RPL-10, RPL-11, PTO-3: a round trip and a margin after the latest slice, then as long
// again, twice as long each time, and a second at most.
func TestTwoProbesThenPatience(t *testing.T) {
	f := warm(t, Default(), 100*ms, 100_000, 100) // a delay of 150 ms
	f.within(4 * ms)
	f.at(10*second + 4*ms).within(20 * ms)
	f.silentUntil(f.mainAt + 150*ms)
	f.sends(2)
	check.Equal(t, "under way", f.InFlight(0), 2)
	f.silentUntil(f.clock + 150*ms)
	f.sends(2)
	check.Equal(t, "timeouts", f.Stats().Timeouts, 2)
	for f.clock < 15*second {
		f.at(f.Deadline()).within(0)
	}
	check.Equal(t, "wait after 5 s", f.path.ProbeAt()-f.clock, second)
	f.after(100*ms).acked(1, f.sent)
	check.Equal(t, "after news", []core.Micros{f.path.ProbeAt(), core.Micros(f.quota)}, []core.Micros{0, unlimited})
	check.Equal(t, "sent", f.within(ms) > 0, true) // as many as the limit lets go (PTO-7)
}

// RPL-5, step 5: a peer that denies everything, on and on, makes the sender send MOST_NEED
// slices, and then what the timer allows: 2 each second. What arrives ends that.
func TestAPeerThatDeniesEverything(t *testing.T) {
	for _, n := range []int{1, 256} {
		f := fly(t, Default(), n)
		for f.top <= mostNeed {
			f.within(ms)
			f.after(ms).acked(0, f.sent)
		}
		before := f.sent
		for start := f.clock; f.clock < start+20*second; {
			f.within(0)
			if f.after(ms); f.sent > f.top {
				f.acked(0, f.sent)
			}
		}
		if more := f.sent - before; more < 20 || more > 40 {
			t.Errorf("%d slices: %d more went out in 20 s", n, more)
		}
		if n > 1 {
			f.acked(1, f.sent)
			check.Equal(t, "quota after an arrival", f.quota, unlimited)
		}
	}
}

// RPL-5, step 5: more than MOST_NEED are missing, and nothing arrives.
func TestWhenAPeerDenies(t *testing.T) {
	for _, c := range []struct {
		before, have, top, quota int
	}{{0, 0, 1024, unlimited}, {0, 0, 1025, 0}, {0, 1, 1100, unlimited}, {200, 200, 1100, unlimited}} {
		f := fly(t, Burst(), 256)
		f.have, f.sent = c.before, 2000
		f.acked(c.have, c.top)
		check.Equal(t, "quota", f.quota, c.quota)
	}
}

// RPL-16: what arrives late of the path before counts if later ones of it have arrived.
func TestWhatComesLateOfAnotherPath(t *testing.T) {
	f := fly(t, Default(), 256)
	f.sends(16)
	f.at(50*ms).acked(10, 16)
	f.Moved()
	lost := f.path.Losses().Lost
	f.acked(12, 16)
	check.Equal(t, "lost", f.path.Losses().Lost-lost, -2*16)
}

// RPL-11, PTO-3: a delay of 250 ms while nothing is known of the round trip, and another; 50 ms
// when it is bounded.
func TestProbesOfACoolConnection(t *testing.T) {
	f := fly(t, Default(), 64)
	f.within(4 * ms)
	f.silentUntil(f.mainAt + 250*ms)
	f.sends(2)
	f.silentUntil(f.clock + 250*ms)
	f.sends(2)
	f.path.RTT.Bound(40 * ms)
	f.begin(64)
	f.within(4 * ms)
	f.silentUntil(f.path.ProbeAt()) // of the chunk before
	check.Equal(t, "probes", f.within(0), 1)
}

// RPL-10: news puts the timer off by the margin.
func TestNewsPutsTheTimerOff(t *testing.T) {
	f := warm(t, Default(), 100*ms, 10_000, 2)
	f.sends(2)
	f.at(10*second+149*ms).acked(1, 1)
	_, margin := f.path.RTT.Delay()
	f.silentUntil(10*second + 149*ms + margin)
	f.sends(1)
}

// RPL-10, RPL-12: while the peer cannot take the chunk one slice asks, rarer and rarer.
func TestAHoldLeavesOneProbe(t *testing.T) {
	f := warm(t, Default(), 10*ms, 10_000, 256)
	f.within(2 * ms)
	f.at(10*second + 10*ms).Held(f.clock)
	check.Equal(t, "under way", f.InFlight(0), 0)
	start := f.clock
	var waits []core.Micros
	for f.clock < start+2*second {
		before := f.clock
		f.at(f.Deadline())
		f.sends(1)
		f.Held(f.clock + 10*ms)
		waits = append(waits, (f.clock-before)/ms)
	}
	check.Equal(t, "waits", waits, []core.Micros{10, 10, 10, 10, 10, 12, 15, 19, 24, 30, 38, 47, 59, 74, 93, 116, 145, 181, 227, 250, 250, 250, 250})
	sent := f.sent
	f.after(11*ms).acked(1, sent)
	check.Equal(t, "held", f.held, false)
	f.sends(255)
}

// RPL-5, step 2: what the peer could not take is not lost.
func TestAHoldIsNoLoss(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100)
	f.sends(100)
	f.at(10*second + 50*ms).Held(f.clock)
	f.after(5*ms).acked(20, 90) // it took the chunk while these came
	f.counted(0, 256+20)
	f.acked(25, 100)
	f.counted(5, 256+25)
}

// RPL-5, step 2: above what the peer took everything is under way again.
func TestWhatIsUnderWayAfterAHold(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 100)
	f.sends(100)
	f.at(10*second + 50*ms).Held(f.clock)
	check.Equal(t, "under way", f.InFlight(0), 0)
	f.after(5*ms).acked(20, 90)
	check.Equal(t, "under way", f.InFlight(0), 10)
	f.sends(70)
}

// RPL-12: a second hold begins nothing anew.
func TestHoldsOfOneChunk(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 8)
	f.sends(8)
	f.at(10*second + 50*ms).Held(f.clock)
	f.after(20 * ms).Held(f.clock)
	f.silentUntil(10*second + 100*ms)
	f.sends(1)
}

// RPL-12: a hold before the first slice.
func TestAHoldBeforeTheFirstSlice(t *testing.T) {
	f := fly(t, Default(), 3)
	f.Held(0)
	f.silentUntil(250 * ms)
	f.sends(1)
}

// RPL-2: a chunk begins with one slice if the one before was held for more than two
// round trips, and the one after that as any other.
func TestAfterALongHoldOneSliceAsks(t *testing.T) {
	for _, c := range []struct {
		held core.Micros
		want int
	}{{100 * ms, 8}, {100*ms + 1, 1}} {
		f := warm(t, Default(), 50*ms, 10_000, 8)
		f.sends(8)
		f.at(10*second + 50*ms).Held(f.clock)
		f.silentUntil(10*second + 100*ms)
		f.sends(1)
		f.at(10*second+50*ms+c.held).acked(1, 9)
		f.sends(7)
		f.after(50*ms).acked(8, 16)
		f.begin(8)
		f.sends(c.want)
		f.after(50*ms).acked(1, 1)
		f.within(4 * ms)
		f.after(50*ms).acked(8, 8)
		f.begin(8)
		f.sends(8)
	}
}

// RPL-2: if that slice is lost, the timer asks again.
func TestTheSliceThatAsksIsLost(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 8)
	f.wasHeld = true
	f.begin(8)
	f.sends(1)
	f.silentUntil(10*second + 75*ms)
	f.sends(2)
	f.begin(8)
	f.sends(8)
}

// RPL-2: nothing of a chunk is left when the next one begins.
func TestAChunkBeginsAnew(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 8)
	f.sends(8)
	f.at(10*second+50*ms).acked(3, 4)
	f.within(4 * ms)
	f.at(11 * second).within(0)
	check.Equal(t, "probing", f.quota >= 0 && f.path.ProbeAt() > f.clock, true)
	f.at(12 * second).begin(5)
	check.Equal(t, "counts", []int{f.sent, f.have, f.top, f.gone, f.quota}, []int{0, 0, 0, 0, unlimited})
	check.Equal(t, "times", []core.Micros{f.mainAt, f.lastAt, f.newsAt}, []core.Micros{f.clock, f.clock, f.clock})
}

// RPL-13
func TestDeadlines(t *testing.T) {
	f := warm(t, Default(), 50*ms, 80_572, 4) // 70,500 ns apart
	check.Equal(t, "at once", f.Deadline() <= f.clock, true)
	f.Next(f.clock)
	f.silentUntil(10*second + 71)
	f.sends(3)
	f.at(10*second+50*ms).acked(4, 4)
	check.Equal(t, "all have arrived", f.Deadline(), core.Never)
}

// RPL-15: lanes have one estimate of the losses and of the round trip; rate and pace are
// taken over.
func TestALaneAdoptsWhatAnotherKnows(t *testing.T) {
	known := warm(t, Default(), 50*ms, 1_142_858, 256) // 1 ms apart
	known.Next(known.clock)
	f := fly(t, Default(), 256)
	f.Adopt(known.Scheduler)
	f.at(known.clock).begin(256)
	check.Equal(t, "path", f.PathSlices(), known.PathSlices())
	f.silentUntil(known.clock + ms)
	known.after(50*ms).acked(0, 1)
	check.Equal(t, "one estimate of the losses", f.path.Losses() == known.path.Losses(), true)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, known.Stats().SmoothedRTT)
	before := f.path.Vars()
	f.Adopt(another{})
	check.Equal(t, "of another kind", f.path.Vars(), before)
}

type another struct{ statemachine.Scheduler }

// RPL-3, RPL-15: what is in flight on the path: nothing of a peer that holds, nor of a chunk that has arrived; and the
// slices of a lane go with it to another path (CXL-10).
func TestWhatALaneHasInFlight(t *testing.T) {
	f, other := fly(t, Default(), 8), fly(t, Default(), 8)
	old := f.path
	f.sends(9)
	other.sends(9)
	f.Adopt(other.Scheduler)
	check.Equal(t, "on the old path, and on the new one", []int{old.Vars().Flight, f.path.Vars().Flight}, []int{0, 18})
	f.Held(f.clock)
	check.Equal(t, "with a hold", f.path.Vars().Flight, 9)
	f.at(50*ms).acked(1, 1)
	check.Equal(t, "after it", f.path.Vars().Flight, 9+8)
	f.acked(8, 8)
	check.Equal(t, "of a chunk that has arrived", f.path.Vars().Flight, 9)
	other.expire(other.clock)
	check.Equal(t, "what the timer gave up", f.path.Vars().Flight, 0)
}

// RPL-16: what was sent on another path is no sample of this one, and opens nothing.
func TestWhatWasSentBeforeAMoveSaysNothing(t *testing.T) {
	f := fly(t, Default(), 256)
	f.sends(16)
	f.Moved()
	losses := *f.path.Losses()
	f.at(50*ms).acked(10, 14)
	check.Equal(t, "losses", *f.path.Losses(), losses)
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 0)
	check.Equal(t, "then", f.within(45*ms), 14)
}

// LAN-7: pace, window and quota do not make a chunk want less.
func TestWhatAChunkWants(t *testing.T) {
	f := fly(t, Default(), 256)
	f.sends(16) // the limit is reached
	check.Equal(t, "wants", f.Wants(false), true)
	f.Held(f.clock)
	check.Equal(t, "wants", f.Wants(false), true)
	f = warm(t, Default(), 50*ms, 10_000, 8)
	f.sends(8)
	check.Equal(t, "wants", f.Wants(false), false)
	f.at(10*second+50*ms).acked(7, 8)
	check.Equal(t, "wants", f.Wants(false), true)
	f.acked(8, 9)
	check.Equal(t, "wants", f.Wants(false), false)
}

// Rest gives back the memory, and the next chunk takes it anew.
func TestRestKeepsNoTimes(t *testing.T) {
	f := warm(t, Default(), 50*ms, 10_000, 4)
	f.sends(4)
	f.at(10*second+50*ms).acked(4, 4)
	f.Rest()
	check.Equal(t, "kept", f.sentAt == nil, true)
	f.begin(3)
	f.sends(3)
}

// Once a chunk was sent no event allocates.
func TestNothingIsAllocatedOnceRunning(t *testing.T) {
	s := check.Must(New(Default()))
	now := core.Micros(0)
	chunk := func() {
		s.Begin(statemachine.Flight{Now: now, NumSlices: 100})
		have, top := 0, 0
		for have < 100 {
			for _, ok := s.Next(now); ok; _, ok = s.Next(now) {
				if top++; top%3 > 0 && have < 100 {
					have++
				}
			}
			s.Acked(now, statemachine.Progress{Have: have, Top: top})
			now += 10 * ms
		}
	}
	chunk()
	if n := testing.AllocsPerRun(20, chunk); n != 0 {
		t.Errorf("a chunk allocates %v times", n)
	}
}

// Each rule can be left out, and only it.
func TestARuleThatIsLeftOut(t *testing.T) {
	for i, out := range Rules {
		p := Default().Without(i)
		for _, r := range Rules {
			if left := p.has(r.rule); left != (r.ID != out.ID) {
				t.Errorf("without %s: %s is %v", out.ID, r.ID, left)
			}
		}
	}
}
