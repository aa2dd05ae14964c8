package control

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

const second = core.Second

// The constants are the specification's (REC-10).
func TestConstants(t *testing.T) {
	err := tabletest.CheckConstants("../../../spec/recovery.json", map[string]int64{
		"ACK_DELAY": int64(ackDelay), "MIN_RTT_LIFE": int64(rttLife), "DRAIN_FIRST": int64(drainFirst), "DRAIN_EVERY": int64(drainEvery),
		"DRAIN_LATE": int64(drainLate), "DRAIN_SOON": int64(drainSoon), "DRAIN_MISSES": drainMiss, "FALL": int64(fall),
		"LONG_TRAIN": longTrain, "SHORT_TRAIN": shortTrain, "TRAIN_TIME": int64(trainTime), "RATE_EPOCH": int64(rateEpoch),
		"FASTEST": fastest, "SLOWEST": slowest, "YIELD_WINDOW": yieldWindow, "DRAIN_WINDOW": drainSlots,
		"FIRST_LIMIT": firstLimit, "LEAST_LIMIT": leastLimit, "TWO_SLICES": twoSlices, "TARGET_LEAST": int64(targetLeast), "TARGET_MOST": int64(targetMost),
		"SUM_MOST": sumMost, "CALM_MOST": calmMost, "CALM_PRIOR": calmPrior, "ALARM_FIRST": int64(alarmFirst),
		"RISES": riseRounds, "RISE_SLACK": int64(riseSlack), "LEAST_RISE": int64(riseLeast), "CALM_QUEUE": int64(calmQueue), "CALM_ROUNDS": calmRounds,
		"QUIET": int64(quiet), "STEADY": steady, "STEADY_BAND": int64(steadyBand), "CROWD": crowd, "MUCH_LOST": muchLost, "MOST_LOST": mostLost,
		"FIRST_WAIT": firstWait, "LONGEST_WAIT": longestWait, "FIRST_LOST": firstLost, "FIRST_ARRIVED": firstArrived, "SETTLED": settled,
		"PRIOR": prior, "MOST_COUNTED": mostCounted, "LONGEST_PROBE": int64(longestProbe), "SILENT_TIMERS": silentTimers, "SILENT_ACKS": silentAcks,
		"BURST_INTERVAL": burstSpacing,
	})
	if err != nil {
		t.Error(err)
	}
}

// sending is a controller with one sender that has a chunk in flight.
type sending struct {
	*Controller
	share Share
	now   core.Micros
}

// begin returns a controller whose sender begins a chunk at 10 s.
func begin(config Config) *sending {
	s := &sending{Controller: New(config), now: 10 * second}
	s.Begin(s.now, &s.share)
	return s
}

// known returns one that knows a round trip and what the path takes for a slice, and has
// begun another chunk.
func known(config Config, roundTrip core.Micros, perSlice int64) *sending {
	s := begin(config)
	s.Clean(s.now, roundTrip)
	s.takes(perSlice)
	s.Leave(&s.share)
	s.Begin(s.now, &s.share)
	return s
}

// takes gives the controller a train of 1,000 slices in perSlice microseconds that ends now
// (RAT-2).
func (s *sending) takes(perSlice int64) {
	s.EndTrain()
	s.train(s.now-core.Micros(perSlice), 1, 1)
	s.train(s.now, 1000, 1000)
	s.EndTrain()
}

// acked advances the time, with flight slices in flight, by a step, at whose end so many
// slices arrive with a sample of the round trip, and so many were lost.
func (s *sending) acked(step, r core.Micros, flight, arrived, lost int) {
	s.now += step
	s.Flight(&s.share, flight)
	s.HasRoom()
	s.Clean(s.now, r)
	s.Arrived(s.now, arrived, arrived+lost, lost)
}

// round is a round trip at the end of which a decision is made: each sample is r.
func (s *sending) round(r core.Micros, flight, arrived, lost int) {
	s.limit.roundAt, s.limit.closesAt = s.now, 0
	s.acked(r, r, flight, arrived-arrived/2, lost)
	s.acked(r/4+1, r, flight, arrived/2, 0)
}

// limited is a controller whose limit is so many eighths, at a base of 40 ms and 1 ms a
// slice, that begins a decision with the next sample.
func limited(config Config, size int64) *sending {
	s := known(config, 40*ms, 1_000_000)
	s.limit.opening, s.limit.size, s.limit.step = false, size, whole
	s.base.drainAt = s.now + 1000*second
	s.limit.roundAt, s.limit.closesAt = s.now, 0
	return s
}

// goes returns when so many slices go out from then on, each as soon as the pace lets it.
func (s *sending) goes(from core.Micros, n int) (at []core.Micros) {
	for now := from; len(at) < n; now = max(now, s.Next()) {
		if s.Go(now, &s.share, true, true) {
			at = append(at, now-from)
		}
	}
	return at
}

// EST-6: the base is the smallest sample; after 10 s without any it is the next one.
func TestTheSmallestSampleIsTheBase(t *testing.T) {
	s := begin(Config{Without: Drain})
	for _, step := range []struct{ at, sample, want core.Micros }{
		{0, 60 * ms, 60 * ms}, {ms, 50 * ms, 50 * ms}, {5 * second, 80 * ms, 50 * ms},
		{15*second - 1, 90 * ms, 50 * ms}, {25*second - 1, 90 * ms, 90 * ms}, {26 * second, 0, 1},
	} {
		s.Clean(10*second+step.at, step.sample)
		check.Equal(t, fmt.Sprintf("base at %d", step.at), s.MinRTT(), step.want)
	}
}

// EST-7: a sender that has been busy for 2.5 s drains, and ends it with a sample near the
// base that is of the drain.
func TestADrain(t *testing.T) {
	s := begin(Config{})
	s.Clean(s.now, 40*ms)
	s.Clean(s.now+drainFirst-1, 60*ms)
	check.Equal(t, "too early", s.Drains(), false)
	s.Clean(s.now+drainFirst, 60*ms)
	check.Equal(t, "drains", s.Drains(), true)
	check.Equal(t, "window", s.PathSlices(), 32)
	s.takes(1_000_000)
	check.Equal(t, "window", s.PathSlices(), drainSlots)
	s.Clean(s.now+drainFirst+60*ms-1, 41*ms)
	check.Equal(t, "a sample of before", s.Drains(), true)
	s.Clean(s.now+drainFirst+60*ms, 41*ms)
	check.Equal(t, "near", s.Drains(), false)
	s.Clean(s.now+drainFirst+60*ms+drainEvery-1, 60*ms)
	check.Equal(t, "not yet again", s.Drains(), false)
	s.Clean(s.now+drainFirst+60*ms+drainEvery, 60*ms)
	check.Equal(t, "again", s.Drains(), true)
}

// EST-7: one that pauses between its chunks drains 7 s later.
func TestADrainOfASenderThatPauses(t *testing.T) {
	s := begin(Config{})
	s.Clean(s.now, 40*ms)
	s.Leave(&s.share)
	s.Begin(s.now+9*second, &s.share)
	s.Clean(s.now+9*second, 60*ms)
	s.Clean(s.now+drainFirst+drainLate-1, 60*ms)
	check.Equal(t, "drains", s.Drains(), false)
	s.Clean(s.now+drainFirst+drainLate, 60*ms)
	check.Equal(t, "drains", s.Drains(), true)
}

// EST-8, EST-9: a base that falls is a drain of others; and after a drain that lowered the
// base the next one follows soon.
func TestTheDrainOfOthersIsJoined(t *testing.T) {
	for without, want := range map[Rule]bool{0: true, Join: false} {
		s := begin(Config{Without: without})
		s.Clean(s.now, 60*ms)
		s.Clean(s.now+ms, 59*ms+1)
		check.Equal(t, "a little less", s.Drains(), false)
		s.Clean(s.now+2*ms, 50*ms)
		check.Equal(t, "drains", s.Drains(), want)
	}
	s := begin(Config{})
	s.Clean(s.now, 60*ms)
	s.Clean(s.now+ms, 40*ms)
	s.Clean(s.now+200*ms, 40*ms)
	check.Equal(t, "ended", s.Drains(), false)
	s.Clean(s.now+200*ms+drainSoon, 60*ms)
	check.Equal(t, "not busy for long enough", s.Drains(), false)
	s.Clean(s.now+drainFirst, 60*ms)
	check.Equal(t, "again", s.Drains(), true)
}

// EST-6: after 10 s without a sample there is no drain, and what drains missed is forgotten.
func TestASilenceEndsADrain(t *testing.T) {
	s := begin(Config{})
	s.Clean(s.now, 40*ms)
	s.base.misses = 2
	s.Clean(s.now+drainFirst, 60*ms)
	check.Equal(t, "drains", s.Drains(), true)
	s.Clean(s.now+drainFirst+rttLife, 60*ms)
	check.Equal(t, "drains", s.Drains(), false)
	check.Equal(t, "misses", s.base.misses, 0)
}

// EST-9: near is within the delay of an ack, or within an eighth of a base that is longer
// than eight of them.
func TestNearTheBase(t *testing.T) {
	for _, c := range []struct{ base, sample core.Micros }{{8 * ms, 8*ms + ackDelay}, {40 * ms, 45 * ms}} {
		for more, near := range []bool{true, false} {
			s := begin(Config{})
			s.Clean(s.now, c.base)
			s.Clean(s.now+drainFirst, 2*c.base)
			s.Clean(s.now+drainFirst+2*c.base, c.sample+core.Micros(more))
			check.Equal(t, fmt.Sprintf("drains, with %d for %d us", c.sample+core.Micros(more), c.base), s.Drains(), !near)
		}
	}
}

// EST-7, EST-8: on a contested path a sender drains when it is due, be it busy or not, and
// does not join the drains of others.
func TestDrainsOfAContestedPath(t *testing.T) {
	for _, contested := range []bool{false, true} {
		s := begin(Config{Without: Contest})
		s.Clean(s.now, 60*ms)
		s.limit.contested = contested
		s.Clean(s.now+ms, 50*ms)
		check.Equal(t, "joins", s.Drains(), !contested)
		s.base.until, s.base.drainAt, s.base.busySince = 0, s.now+second, s.now
		s.Clean(s.now+second, 60*ms)
		check.Equal(t, "drains", s.Drains(), contested)
	}
}

// EST-9: each drain doubles the time until much loss may begin the next one, to 10 s at most.
func TestTheIntervalForMuchLoss(t *testing.T) {
	s := begin(Config{})
	for _, want := range []core.Micros{2 * second, 4 * second, 8 * second, 10 * second, 10 * second} {
		s.base.end(s.now, true, false)
		check.Equal(t, "interval", s.base.gap, want)
	}
}

// EST-10: what three drains in a row do not empty is no queue.
func TestAPathThatGotLonger(t *testing.T) {
	s := begin(Config{Without: Contest | Noise})
	s.Clean(s.now, 40*ms)
	for now := s.now + 100*ms; now < s.now+40*second; now += 100 * ms {
		s.Clean(now, 90*ms)
		if s.MinRTT() != 40*ms {
			check.Equal(t, "drains until then", s.base.misses, 0)
			check.Equal(t, "base", s.MinRTT(), 90*ms)
			check.That(t, now > s.now+20*second, "after the third drain")
			return
		}
	}
	t.Error("the base stays")
}

// LMT-1: while no queue was seen the limit grows by two for each slice that passed, by three
// at most for each that arrived, and not beyond three times what was in flight.
func TestTheOpening(t *testing.T) {
	s := begin(Config{})
	check.Equal(t, "at first", s.PathSlices(), 32)
	s.acked(50*ms, 50*ms, 32, 4, 0)
	check.Equal(t, "four arrived", s.PathSlices(), 40)
	s.acked(ms, 50*ms, 32, 2, 6)
	check.Equal(t, "two of eight", s.PathSlices(), 46)
	s.acked(ms, 57*ms, 32, 8, 0)
	check.Equal(t, "half the target", s.PathSlices(), 46)
	s.acked(ms, 50*ms, 32, 100, 0)
	check.Equal(t, "three times the flight", s.PathSlices(), 96)
	check.Equal(t, "and opening", s.limit.opening, true)
}

// LMT-2: a decision is made a quarter of a round trip after its first sample, by the smallest.
func TestADecisionIsByTheSmallestSample(t *testing.T) {
	s := limited(Config{}, 100*whole)
	s.acked(ms, 90*ms, 100, 1, 0)
	s.acked(10*ms, 40*ms, 100, 1, 0)
	s.acked(12*ms, 90*ms, 100, 1, 0)
	check.Equal(t, "not yet", s.limit.size, 100*whole)
	s.acked(ms, 90*ms, 100, 1, 0)
	check.Equal(t, "no queue: it grows", s.limit.size, 101*whole)
	s.acked(89*ms, 90*ms, 100, 1, 0)
	s.acked(30*ms, 40*ms, 100, 1, 0)
	check.Equal(t, "no decision within a round trip", s.limit.size, 101*whole)
}

// LMT-5 to LMT-8; a mark is told, and cuts like a loss beside a queue (ECN-1, ECN-2).
func TestDecisions(t *testing.T) {
	// The target is 10 ms.
	for _, c := range []struct {
		name   string
		r      core.Micros
		flight int
		lost   int
		marked int
		want   int64
	}{
		{"a queue above the target", 60 * ms, 100, 0, 0, 100 * whole * 45 / 60},
		{"much above", 200 * ms, 100, 0, 0, 50 * whole},
		{"less was in flight", 60 * ms, 80, 0, 0, 80 * whole * 45 / 60},
		{"the target", 50 * ms, 100, 0, 0, 101 * whole},
		{"half of it", 45 * ms, 100, 0, 0, 101 * whole},
		{"no queue", 40 * ms, 100, 0, 0, 101 * whole},
		{"nothing was held back", 40 * ms, 80, 0, 0, 100 * whole},
		{"a queue and loss", 46 * ms, 100, 3, 0, 100 * whole * 7 / 8},
		{"a queue and little loss", 46 * ms, 100, 2, 0, 101 * whole},
		{"loss without a queue", 40 * ms, 100, 3, 0, 101 * whole},
		{"a mark", 40 * ms, 100, 0, 1, 100 * whole * 7 / 8},
	} {
		s := limited(Config{}, 100*whole)
		s.Marked(c.marked)
		s.acked(1, c.r, c.flight, 40, c.lost)
		s.acked(c.r/4, c.r, c.flight, 40, 0)
		check.Equal(t, c.name, s.limit.size, c.want)
	}
}

// LMT-3: what is lost while the queue is short is expected.
func TestLossThatIsKnown(t *testing.T) {
	s := limited(Config{Without: Look | Alarm}, 100*whole)
	for range 20 {
		s.round(40*ms, 100, 90, 10)
	}
	s.limit.size = 100 * whole
	s.round(46*ms, 100, 90, 10)
	check.Equal(t, "as before", s.limit.size > 100*whole, true)
	s.limit.size = 100 * whole
	s.round(46*ms, 100, 60, 60)
	check.Equal(t, "more", s.limit.size, 100*whole*7/8)
}

// LMT-7: without a queue the step doubles, up to half of the limit.
func TestTheStepDoubles(t *testing.T) {
	for without, want := range map[Rule][]int64{
		0: {24, 26, 30, 38, 54, 81}, Velocity: {24, 25, 26, 27, 28, 29},
	} {
		s := limited(Config{Without: without}, 23*whole)
		var got []int64
		for range want {
			s.round(40*ms, int(s.limit.size/whole), 20, 0)
			got = append(got, s.limit.size/whole)
		}
		check.Equal(t, "limits", got, want)
	}
}

// LMT-9, BRK-1: below two slices the pace holds the limit; half a slice is the least.
func TestAFractionOfASlice(t *testing.T) {
	s := limited(Config{Without: Noise}, twoSlices)
	for range 10 {
		s.round(200*ms, 1, 1, 0)
	}
	check.Equal(t, "limit", s.limit.size, leastLimit)
	check.Equal(t, "slices", s.PathSlices(), 2)
	check.Equal(t, "two round trips apart", s.goes(s.now, 2), []core.Micros{0, 400 * ms})
	s = limited(Config{Without: Fraction | Noise}, twoSlices)
	for range 10 {
		s.round(200*ms, 1, 1, 0)
	}
	check.Equal(t, "limit", s.limit.size, twoSlices)
}

// LMT-5: what is known to be noise is no queue, and a cut leaves it.
func TestACutLeavesTheNoise(t *testing.T) {
	s := limited(Config{Without: Contest}, 100*whole)
	s.limit.noise = 10 * ms
	s.round(70*ms, 100, 100, 0)
	check.Equal(t, "limit", s.limit.size, 100*whole*(40+10+5)/70)
}

// LMT-4: who competes for a queue does not take its losses for a base that is wrong.
func TestMuchLossOfAContestedPath(t *testing.T) {
	for _, contested := range []bool{false, true} {
		s := limited(Config{Without: Look | Contest}, 100*whole)
		s.limit.contested = contested
		s.now += second
		s.round(40*ms, 100, 70, 10)
		check.Equal(t, "drains", s.Drains(), !contested)
	}
}

// LMT-4: much loss without a queue begins a drain, after a second, and each next one later
// if it does not show a lower base.
func TestMuchLossBeginsADrain(t *testing.T) {
	for without, want := range map[Rule]bool{0: true, Alarm: false} {
		s := limited(Config{Without: without | Look}, 100*whole)
		s.round(40*ms, 100, 70, 10)
		check.Equal(t, "in the first second", s.Drains(), false)
		s.now += second
		s.round(40*ms, 100, 70, 10)
		check.Equal(t, "drains", s.Drains(), want)
	}
	s := limited(Config{Without: Look}, 100*whole)
	var began []core.Micros
	for s.now < 40*second {
		drained := s.Drains()
		s.round(40*ms, 100, 70, 30)
		if s.Drains() && !drained {
			began = append(began, s.now/second)
		}
	}
	check.That(t, len(began) >= 4 && len(began) <= 6, fmt.Sprintf("fewer and fewer: %v", began))
}

// LMT-4: loss and a queue, be it a short one, end the opening.
func TestLossEndsTheOpening(t *testing.T) {
	for _, c := range []struct {
		r    core.Micros
		lost int
		want bool
	}{{42 * ms, 30, false}, {42 * ms, 20, true}, {40 * ms, 30, true}} {
		s := limited(Config{Without: Look}, 100*whole)
		s.limit.opening = true
		s.round(c.r, 100, 70, c.lost)
		check.Equal(t, fmt.Sprintf("opening after %+v", c), s.limit.opening, c.want)
	}
}

// contested returns a controller that competes for the queue with so many slices.
func contested(t *testing.T, config Config, slices int64) *sending {
	t.Helper()
	s := limited(config, slices*whole)
	for r := 60 * ms; r < 200*ms && !s.limit.contested; r += 5 * ms {
		s.round(r, int(s.limit.size/whole), 10, 0)
	}
	return s
}

// CTD-1, CTD-8: a queue that rises although this sender gives way is somebody else's.
func TestAQueueThatRises(t *testing.T) {
	s := contested(t, Config{}, 100)
	check.Equal(t, "contested", s.limit.contested, true)
	check.Equal(t, "half of what it was, and a slice", s.limit.size, 51*whole)
	check.Equal(t, "without the rule", contested(t, Config{Without: Contest}, 100).limit.contested, false)
}

// CTD-2: one that stays for 20 s without loss.
func TestAQueueThatStays(t *testing.T) {
	s := limited(Config{Without: Noise}, 100*whole)
	for began := s.now; s.now < began+quiet; {
		check.Equal(t, "contested", s.limit.contested, false)
		s.round(60*ms+s.now%7000, int(s.limit.size/whole), 2, 0)
	}
	for range 2 {
		s.round(60*ms, 2, 2, 0)
	}
	check.Equal(t, "contested", s.limit.contested, true)
	check.That(t, s.limit.size >= 100*whole, "as much as before")
}

// CTD-1, CTD-2, CTD-4: each condition for which a queue is that of others, or the path's, is
// needed, to the microsecond and to the eighth of a slice.
func TestWhoseTheQueueIs(t *testing.T) {
	const (
		nobody = "nobody's"
		others = "that of others"
		path   = "the path's"
	)
	judged := func(change func(s *sending, r *row) (used int64, q, target core.Micros)) string {
		s := limited(Config{}, 50*whole)
		s.limit.row = row{n: 1, at: s.now, limit: 100 * whole, lost: 1}
		used, q, target := change(s, &s.limit.row)
		s.judgeRow(s.now, used, q, target)
		switch {
		case s.limit.contested:
			return others
		case s.limit.opening:
			return path
		}
		return nobody
	}
	rises := func(target, by core.Micros) string {
		return judged(func(s *sending, r *row) (int64, core.Micros, core.Micros) {
			s.limit.rises, s.limit.risesFrom, s.limit.least = riseRounds, 50*ms, 50*ms+by
			return 20 * whole, by, target
		})
	}
	check.Equal(t, "it rose by 3/2 targets", []string{rises(10*ms, 15*ms), rises(10*ms, 15*ms-1)}, []string{others, nobody})
	check.Equal(t, "it rose, with a short target", []string{rises(4*ms, riseLeast), rises(4*ms, riseLeast-1)}, []string{others, nobody})

	stays := func(size int64, since core.Micros) string {
		return judged(func(s *sending, r *row) (int64, core.Micros, core.Micros) {
			s.limit.size, r.lost, r.at = size, 0, s.now-since
			return 20 * whole, 20 * ms, 10 * ms
		})
	}
	check.Equal(t, "it stayed", []string{stays(50*whole, quiet), stays(50*whole, quiet-1), stays(50*whole+1, quiet)}, []string{others, nobody, nobody})

	steadily := func(size int64, abrupt bool, used int64, more core.Micros) string {
		return judged(func(s *sending, r *row) (int64, core.Micros, core.Micros) {
			s.limit.size, r.flat, r.abrupt = size, steady, abrupt
			return used, core.Micros(crowd*twoSlices*min(s.PerSlice(), slowest)/(1000*whole)) + more, 10 * ms
		})
	}
	check.Equal(t, "it is more than a crowd's", []string{steadily(50*whole, true, 1, 1), steadily(50*whole, true, 1, 0)}, []string{path, nobody})
	check.Equal(t, "gave way", []string{steadily(50*whole+1, true, 1, 1), steadily(50*whole, false, 1, 1)}, []string{nobody, nobody})
}

// CTD-1, CTD-3: a contest begins with two slices at least, and with nothing counted; after it
// a drain follows soon.
func TestAContestCountsAnew(t *testing.T) {
	s := limited(Config{}, whole)
	s.limit.calm, s.limit.rises, s.limit.row.n = 1, 2, 3
	s.contest(s.now, 1)
	check.Equal(t, "counts", []int{s.limit.calm, s.limit.rises, s.limit.row.n}, []int{0, 0, 0})
	check.Equal(t, "limit", s.limit.size, twoSlices)
	check.Equal(t, "next drain", s.base.drainAt, s.now+drainEvery)
	s.limit.rises, s.limit.row.n = 2, 3
	s.endContest(s.now)
	check.Equal(t, "counts", []int{s.limit.rises, s.limit.row.n}, []int{0, 0})
	check.Equal(t, "next drain", s.base.drainAt, s.now+drainSoon)
}

// CTD-4: a path that is longer by its base at most has noise, another one a new base and none;
// it opens again from the limit of before the cuts.
func TestALongerPathOpensAgain(t *testing.T) {
	for _, c := range []struct{ least, base, noise core.Micros }{{80 * ms, 40 * ms, 40 * ms}, {80*ms + 1, 80*ms + 1, 0}} {
		s := limited(Config{}, 10*whole)
		s.limit.noise, s.limit.least = 5*ms, c.least
		s.limit.row = row{n: 3, limit: 50 * whole}
		s.reopen()
		check.Equal(t, "base and noise", []core.Micros{s.base.value, s.limit.noise}, []core.Micros{c.base, c.noise})
		check.Equal(t, "opens", s.limit.opening, true)
		check.Equal(t, "limit", s.limit.size, 50*whole)
		check.That(t, s.limit.row == (row{}), "the row goes on")
	}
}

// CTD-6, BRK-1: a limit that is not in use does not grow, and loss leaves half a slice.
func TestCompetingAtTheLeast(t *testing.T) {
	s := limited(Config{}, whole)
	s.compete(whole, false)
	check.Equal(t, "not in use", s.limit.size, whole)
	s.compete(1, true)
	check.Equal(t, "least", s.limit.size, leastLimit)
}

// CTD-6: then it grows by a slice a round trip, and loss makes it smaller; nothing else.
func TestCompeting(t *testing.T) {
	s := contested(t, Config{}, 100)
	s.limit.size = 100 * whole
	s.round(200*ms, 100, 10, 0)
	check.Equal(t, "it grows", s.limit.size, 101*whole)
	s.round(200*ms, 101, 10, 1)
	check.Equal(t, "a loss", s.limit.size, 101*whole*7/10)
	s.limit.size = 2 * whole
	s.round(200*ms, 2, 2, 0)
	check.Equal(t, "a small one", s.limit.size, 2*whole+4)
	check.Equal(t, "the window does not hold it", known(Config{}, 40*ms, 1_000_000).PathSlices() < 2000, true)
	s.limit.size = 2000 * whole
	check.Equal(t, "the window does not hold it", s.PathSlices(), 2000)
}

// CTD-3, CTD-7: two decisions with a short queue end it, and so does a drain that shows none.
func TestTheEndOfAContest(t *testing.T) {
	s := contested(t, Config{}, 100)
	s.round(50*ms, 50, 10, 0)
	check.Equal(t, "one", s.limit.contested, true)
	s.round(51*ms, 50, 10, 0)
	s.round(50*ms, 50, 10, 0)
	check.Equal(t, "not in a row", s.limit.contested, true)
	s.round(50*ms, 50, 10, 0)
	check.Equal(t, "two", s.limit.contested, false)

	s = contested(t, Config{}, 100)
	s.acked(5*second, 100*ms, 50, 1, 0)
	s.now = s.base.drainAt
	s.acked(1, 100*ms, 50, 1, 0)
	check.Equal(t, "drains", s.Drains(), true)
	s.acked(150*ms, 42*ms, 4, 1, 0)
	check.Equal(t, "it was ours", s.limit.contested, false)
}

// CTD-4, CTD-5: a round trip that got longer at once is the path's.
func TestARoundTripThatJumps(t *testing.T) {
	for _, c := range []struct {
		without       Rule
		r, base, more core.Micros
	}{{0, 70 * ms, 40 * ms, 30 * ms}, {0, 400 * ms, 400 * ms, 0}, {Noise, 400 * ms, 40 * ms, 0}} {
		s := limited(Config{Without: c.without}, 100*whole)
		s.rate.lowest = lowest{current: 100_000, since: s.now}
		for range 9 {
			s.Dry(s.now) // its limit holds it back
			s.round(c.r, min(int(s.limit.size/whole), 20), 2, 0)
		}
		check.Equal(t, "base and noise", []core.Micros{s.MinRTT(), s.limit.noise}, []core.Micros{c.base, c.more})
		check.Equal(t, "as much as before", s.limit.size >= 20*whole, c.without == 0)
	}
}

// CAP-1 to CAP-5: a policer lets a slice through each 10 ms.
func TestAPolicer(t *testing.T) {
	s := limited(Config{}, 100*whole)
	const passes = 10 * ms
	sentIn := func(rounds int) (n int64) {
		for range rounds * 4 { // one passes, and what else is sent is lost
			sent := max(int64(passes)*1000/max(s.paceInterval(), 400_000), 1)
			n += sent
			s.Dry(s.now) // so that only the cap can hold the rate
			s.acked(passes, 40*ms, 100, 1, int(sent-1))
		}
		return n
	}
	first := sentIn(10)
	check.That(t, first > 2*40, fmt.Sprintf("nothing holds it at first: %d", first))
	n := sentIn(100)
	check.That(t, n < 400*3/2, fmt.Sprintf("%d sent for 400 that passed", n))
}

// CAP-4: loss that does not fall with the rate is the path's; the next looks are later and
// later.
func TestRandomLossHasNoCap(t *testing.T) {
	s := limited(Config{Without: Alarm}, 100*whole)
	looks := 0
	for range 400 {
		before := s.cap.look
		s.acked(40*ms, 40*ms, 100, 30, 10)
		if s.cap.look > 0 && before == 0 {
			looks++
		}
		check.Equal(t, "cap", s.cap.interval, 0)
	}
	check.Equal(t, "looks", looks, 1)
	check.That(t, s.cap.calm > 200 && s.cap.calm < 300, fmt.Sprintf("a quarter: %d", s.cap.calm))
}

// CAP-6: a cap under which as much is lost as before is none.
func TestACapThatDoesNotHelp(t *testing.T) {
	s := limited(Config{Without: Alarm}, 100*whole)
	s.cap.interval, s.cap.before, s.cap.lookAt = 5_000_000, 300, 1000*second
	for range 20 {
		s.acked(40*ms, 40*ms, 100, 30, 10)
	}
	check.Equal(t, "cap", s.cap.interval, 0)
}

// CAP-2: a look begins if an eighth is lost, 16 slices at least, and more than what does not
// depend on the rate; and not before its time.
func TestWhatBeginsALook(t *testing.T) {
	for _, c := range []struct {
		why           string
		lost, p, calm int64
		early         core.Micros
		look          bool
	}{
		{why: "enough", lost: 16, p: 128, calm: 89, look: true},
		{why: "not 16 slices", lost: 15, p: 128, calm: 89},
		{why: "not an eighth", lost: 16, p: 127},
		{why: "as ever", lost: 16, p: 128, calm: 90},
		{why: "too early", lost: 16, p: 128, calm: 89, early: 1},
	} {
		s := limited(Config{}, 100*whole)
		s.limit.latest = 40 * ms
		s.cap.lost, s.cap.calm, s.cap.lookAt = c.lost, c.calm, s.now+c.early
		s.suspect(s.now, c.p, 7_000_000)
		check.Equal(t, c.why, s.cap.look, map[bool]int64{true: 7_000_000}[c.look]) // nothing was delivered: as slow as what arrived
		check.Equal(t, "next account", s.cap.since, s.now+map[bool]core.Micros{true: 40 * ms}[c.look])
	}
}

// CAP-5, CAP-6: an account with little loss makes a cap that seeks faster, one with more makes
// it slower; four in a row of these end a cap that has not halved the loss.
func TestAccountsOfACap(t *testing.T) {
	begin := func(before int64) *sending {
		s := limited(Config{}, 100*whole)
		s.limit.latest = 40 * ms
		s.cap.interval, s.cap.before, s.cap.seeking = 4_000_000, before, true
		return s
	}
	account := func(s *sending, lost, interval int64) int64 {
		s.cap.lost = lost
		s.judgeCap(s.now, 100, lost*1024/100, interval)
		return s.cap.interval
	}
	s := begin(500)
	check.Equal(t, "2 lost, seeking", account(s, 2, 1_000_000), 3_000_000)
	check.Equal(t, "next account", s.cap.since, s.now)
	check.Equal(t, "3 lost", account(s, 3, 1_000_000), 3_000_000*8/7)
	check.Equal(t, "next account", s.cap.since, s.now+40*ms)
	check.Equal(t, "more slowly than an eighth", account(s, 25, 4_000_000), 4_000_000)
	check.Equal(t, "twice at most", account(s, 25, 9_000_000), 8_000_000)
	check.Equal(t, "little loss, not seeking", account(s, 0, 1_000_000), 8_000_000)
	for range 3 {
		account(s, 25, 1_000_000)
	}
	check.That(t, s.cap.interval > 8_000_000, "three in a row")
	check.Equal(t, "four in a row", account(s, 25, 1_000_000), 0)
	check.Equal(t, "calm", s.cap.calm, 25*1024/100)

	s = begin(512)
	for range 10 {
		account(s, 25, 1_000_000)
	}
	check.That(t, s.cap.interval > 4_000_000, "half as much is lost as before")
}

// CAP-7: a cap is raised a little each round trip, and given up beside the path's rate.
func TestACapIsRaised(t *testing.T) {
	s := limited(Config{}, 100*whole)
	s.cap.interval, s.cap.raisedAt = 5_000_000, s.now
	s.acked(39*ms, 40*ms, 100, 8, 0)
	check.Equal(t, "not yet", s.cap.interval, 5_000_000)
	s.acked(ms, 40*ms, 100, 8, 0)
	check.Equal(t, "a quarter of a slice a round trip", s.cap.interval, 5_000_000*160/165)
	s.acked(39*ms, 40*ms, 100, 8, 0)
	check.Equal(t, "not yet again", s.cap.interval, 5_000_000*160/165)
	for _, held := range []rateCap{{interval: 5_000_000, look: 1}, {interval: 5_000_000, seeking: true}} {
		s.cap = held
		s.raise(s.now)
		check.Equal(t, "in a look, and while it seeks", s.cap.interval, 5_000_000)
	}
	s.cap = rateCap{interval: 5_000_000, raisedAt: s.now}
	for range 400 {
		s.acked(40*ms, 40*ms, 100, 30, 0)
	}
	check.Equal(t, "cap", s.cap.interval, 0)
}

// PTO-3, PTO-6, BRK-2: probes wait twice as long each time without news, a second at most, for
// all senders.
func TestProbesBackOff(t *testing.T) {
	c := New(Config{})
	var got []core.Micros
	for range 4 {
		c.TimedOut(0)
		got = append(got, c.ProbeAt()/ms)
	}
	check.Equal(t, "nothing known", got, []core.Micros{250, 500, 1000, 1000})
	s := known(Config{}, 40*ms, 7000) // a delay of 60 ms
	got = nil
	for range 12 {
		s.TimedOut(0)
		got = append(got, s.ProbeAt())
	}
	check.Equal(t, "waits", got[:4], []core.Micros{7500, 15000, 30000, 60000})
	check.Equal(t, "at most", got[11], second)
	s.Arrived(s.now, 1, 1, 0)
	check.Equal(t, "news", s.ProbeAt(), 0)
	s.TimedOut(0)
	check.Equal(t, "anew", s.ProbeAt(), 7500)
}

// PTO-7: the third timer without news halves the limit, once, if loss does not explain it;
// while nothing is measured each does.
func TestSilenceHalvesTheLimit(t *testing.T) {
	s := limited(Config{}, 100*whole)
	s.goes(s.now, 10)
	sizes := []int64{}
	for range 5 {
		s.TimedOut(s.now)
		sizes = append(sizes, s.limit.size/whole)
	}
	check.Equal(t, "limits", sizes, []int64{100, 100, 50, 50, 50})
	s = limited(Config{}, 100*whole)
	s.losses.Lost = s.losses.Arrived // half of all
	s.goes(s.now, 31)
	for range 3 {
		s.TimedOut(s.now)
	}
	check.Equal(t, "loss explains 31", s.limit.size, 100*whole)
	s.goes(s.now+second, 1)
	s.TimedOut(s.now)
	check.Equal(t, "not 32", s.limit.size, 50*whole)
	s = begin(Config{})
	s.Flight(&s.share, 32)
	sizes = nil
	for range 5 {
		s.TimedOut(s.now)
		sizes = append(sizes, s.limit.size/whole)
	}
	check.Equal(t, "nothing is measured", sizes, []int64{16, 8, 4, 2, 2})
	s = limited(Config{Without: Silence}, 100*whole)
	for range 5 {
		s.TimedOut(s.now)
	}
	check.Equal(t, "without the rule", s.limit.size, 100*whole)
}

// LMT-10: silence is as long as an ack may take.
func TestSilence(t *testing.T) {
	s := known(Config{}, 40*ms, 7000)
	s.Arrived(s.now, 1, 1, 0)
	check.Equal(t, "silent", s.SilentAt()-s.now, 60*ms)
}

// PTO-5
func TestDelaysOfHolds(t *testing.T) {
	check.Equal(t, "nothing known", New(Config{}).HoldDelay(0), 250*ms)
	c := known(Config{}, 40*ms, 7000)
	check.Equal(t, "probes of a hold", []core.Micros{c.HoldDelay(0), c.HoldDelay(200 * ms), c.HoldDelay(2 * second)}, []core.Micros{40 * ms, 50 * ms, 250 * ms})
	check.Equal(t, "on a short path", known(Config{}, 0, 7000).HoldDelay(0), 2*ms)
}

// WIN-1, WIN-2, WIN-5: without a rate the limit alone holds.
func TestWindows(t *testing.T) {
	c := New(Config{})
	check.Equal(t, "nothing known", c.PathSlices(), 32)
	c.Yield(true)
	check.Equal(t, "it yields", c.PathSlices(), 20)
	c = known(Config{Without: Limit}, 50*ms, 900_000).Controller // 57 slices, with the 2 ms of an ack
	check.Equal(t, "half as much again", c.PathSlices(), 57*3/2+8)
	c.Yield(true)
	check.Equal(t, "it yields", c.PathSlices(), 57+8)
	check.Equal(t, "a short path", known(Config{Without: Limit}, 0, 85_000).PathSlices(), 23*3/2+8)
	check.Equal(t, "a long one", known(Config{Without: Limit}, 1<<40, 7000).PathSlices(), 1<<31-1)
	check.Equal(t, "a fixed rate", known(Config{Fixed: true, MaxRate: 8_528_000, Without: Limit}, 50*ms, 5_000_000).PathSlices(), 52*3/2+8)
}

// WIN-3, PRO-2, PRO-4: the window, then the limit; and that it held one back is noted.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		config Config
		flight int
		want   bool
		full   bool
	}{
		{Config{}, 30, true, false}, {Config{}, 31, false, true}, {Config{Without: Limit}, 70, true, false},
		{Config{Without: Limit}, 71, false, false}, {Config{Burst: true}, 1000, true, false}, {Config{Fixed: true, MaxRate: 1e6}, 1000, true, false},
	} {
		s := limited(c.config, 31*whole+7)
		s.Flight(&s.share, c.flight)
		check.Equal(t, fmt.Sprintf("%+v", c), []bool{s.HasRoom(), s.limit.full}, []bool{c.want, c.full})
	}
}

// REC-5: senders that leave have nothing in flight, and want nothing.
func TestSharesOfSenders(t *testing.T) {
	c, a, b := New(Config{}), Share{}, Share{}
	c.Begin(0, &a)
	c.Begin(0, &a)
	c.Begin(0, &b)
	c.Flight(&a, 5)
	c.Flight(&b, 7)
	c.Flight(&a, 4)
	c.Go(0, &a, true, true)
	check.Equal(t, "in flight, active, wanting", []int{c.flight, c.active, c.wanting}, []int{11, 2, 1})
	c.Leave(&a)
	c.Leave(&a)
	check.Equal(t, "in flight, active, wanting", []int{c.flight, c.active, c.wanting}, []int{7, 1, 0})
}

// PAC-1 to PAC-3, section 9: the rest below a microsecond is kept.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		config   Config
		perSlice int64 // 0: unknown
		want     []core.Micros
	}{
		{Config{}, 0, []core.Micros{0, 7, 14}},
		{Config{}, 7_000, []core.Micros{0, 7, 14}},
		{Config{}, 80_100, []core.Micros{0, 71, 141, 211, 281}}, // 70,087 ns
		{Config{}, 80_002, []core.Micros{0, 71, 141}},           // 70,001 ns
		{Config{Without: Headroom}, 80_000, []core.Micros{0, 80, 160}},
		{Config{}, 60_000_000_000, []core.Micros{0, second}},
		{Config{MaxRate: 852_800}, 0, []core.Micros{0, 10 * ms, 20 * ms}},
		{Config{MaxRate: 852_800}, 20_000_000, []core.Micros{0, 17_500}},
		{Config{Burst: true}, 5_000_000, []core.Micros{0, 85, 170}},
		{Config{Burst: true, MaxRate: 852_800}, 0, []core.Micros{0, 10 * ms}},
		{Config{Fixed: true, MaxRate: 852_800}, 5_000_000, []core.Micros{0, 10 * ms}},
		{Config{Fixed: true, MaxRate: statemachine.MaxRate}, 0, []core.Micros{0, 7}},
	} {
		path := begin(c.config)
		if c.perSlice > 0 {
			path = known(c.config, 50*ms, c.perSlice)
		}
		check.Equal(t, fmt.Sprintf("%+v", c), path.goes(100*second, len(c.want)), c.want)
	}
}

// PAC-6, PAC-7: no faster than two limits a round trip; a contested one no slower than 4/3.
func TestTheLimitAndThePace(t *testing.T) {
	s := limited(Config{}, 20*whole)
	s.limit.latest = 40 * ms
	check.Equal(t, "two limits", s.paceInterval(), 1_000_000)
	s.limit.size = 10 * whole
	check.Equal(t, "two limits", s.paceInterval(), 2_000_000)
	s.limit.contested = true
	check.Equal(t, "the path's rate", s.paceInterval(), 875_000)
	s.limit.size = 100 * whole
	check.Equal(t, "four thirds of the limit", s.paceInterval(), 300_000)
	s.cap.look = 600_000
	check.Equal(t, "a look", s.paceInterval(), 600_000)
	s.limit.contested, s.limit.latest, s.limit.size = false, 1<<40, 1
	check.Equal(t, "at most", s.paceInterval(), slowest)
}

// PRO-2: what is not fresh goes at the path's pace.
func TestOnlyFreshSlicesBurst(t *testing.T) {
	c := known(Config{Burst: true}, 50*ms, 1_142_858)
	c.Go(20*second, &c.share, true, false)
	check.Equal(t, "next", c.Next(), 20*second+1*ms)
}

// PAC-4, RAT-4: a driver that comes more than 20 ms late has measured itself, and
// makes up for 20 ms.
func TestALateDriver(t *testing.T) {
	for _, late := range []core.Micros{0, 1} {
		c := known(Config{}, 50*ms, 1_142_858) // 1 ms apart
		c.Go(20*second, &c.share, true, true)
		now, sent := 20*second+21*ms+late, 0
		for c.Go(now, &c.share, true, true) {
			sent++
		}
		check.Equal(t, "at once", sent, 21)
		check.Equal(t, "ran dry", c.Vars().RanDryAt == now, late > 0)
	}
}

// PAC-5, REC-5: time in which no sender has something to send is not made up for, and what
// is ahead of now stays, be it by a nanosecond.
func TestNothingToSendEarnsNothing(t *testing.T) {
	c, other := known(Config{}, 50*ms, 80_572), Share{} // 70,500 ns apart
	c.Go(20*second, &c.share, true, true)
	check.Equal(t, "nothing to send", c.Go(20*second+70, &c.share, false, false), false)
	check.Equal(t, "too soon", c.Go(20*second+70, &c.share, true, true), false)
	check.Equal(t, "another one", c.Go(20*second+70, &other, false, true), false)
	check.Equal(t, "then", c.Go(20*second+71, &c.share, true, true), true)
	c.Go(21*second, &c.share, false, false)
	check.Equal(t, "much later", c.Go(22*second, &c.share, true, true), true)
	check.Equal(t, "next", c.Next(), 22*second+71)
}

// RAT-4: a sender that its limit holds back, or that drains, measures itself.
func TestAHeldSenderRunsDry(t *testing.T) {
	s := limited(Config{}, 20*whole)
	s.Flight(&s.share, 20)
	s.HasRoom()
	s.Go(s.now, &s.share, false, false)
	check.Equal(t, "ran dry", s.Vars().RanDryAt == s.now, true)
	s.Flight(&s.share, 19)
	s.HasRoom()
	s.Go(s.now+1, &s.share, true, true)
	check.Equal(t, "ran dry", s.Vars().RanDryAt == s.now+1, false)
	s.base.until = s.now + second
	s.Go(s.now+2, &s.share, true, true)
	check.Equal(t, "ran dry", s.Vars().RanDryAt == s.now+2, true)
}

// RAT-1: sixteen slices make a train, or four that took long.
func TestWhenATrainIsWhole(t *testing.T) {
	for _, c := range []struct {
		roundTrip core.Micros
		n         int64
		took      core.Micros
		want      int64
	}{
		{0, 15, 2 * ms, 0}, {0, 16, 2 * ms, 125_000},
		{0, 3, second, 0}, {0, 4, 20*ms - 1, 0}, {0, 4, 20 * ms, 5_000_000},
		{50 * ms, 4, 25*ms - 1, 0}, {50 * ms, 4, 25 * ms, 6_250_000},
		{0, 16, 1, 7_000}, {0, 4, 1 << 50, (1 << 40) * 250},
	} {
		path := begin(Config{})
		if c.roundTrip > 0 {
			path.Clean(0, c.roundTrip)
		}
		path.train(50*ms, 1, 1)
		path.train(50*ms+c.took, c.n, c.n)
		check.Equal(t, fmt.Sprintf("%+v", c), path.PerSlice(), c.want)
	}
}

// RAT-1, RAT-2: the next train begins where one ends, and an ended one is forgotten.
func TestTrains(t *testing.T) {
	c := begin(Config{})
	c.train(0, 5, 5)
	c.train(2*ms, 10, 10)
	c.train(4*ms, 6, 6)
	check.Equal(t, "rate", c.PerSlice(), 250_000)
	c.train(5*ms, 16, 16)
	check.Equal(t, "rate", c.PerSlice(), 62_500)
	c.EndTrain()
	c.train(5*ms+1, 16, 16)
	c.Begin(5*ms+1, &c.share)
	c.train(5*ms+2, 16, 16)
	check.Equal(t, "rate", c.PerSlice(), 62_500)
}

// RAT-3: a quarter, or what a look has shown, up to a half.
func TestWhatWasLostBehindTheBottleneckCounts(t *testing.T) {
	for _, c := range []struct {
		passed, calm int64
		without      Rule
		want         int64
	}{{10, 0, 0, 160_000}, {16, 0, 0, 160_000}, {20, 0, 0, 128_000}, {32, 0, 0, 120_000}, {32, 400, 0, 97_500}, {40, 900, 0, 80_000}, {32, 0, Overtaking, 160_000}} {
		path := begin(Config{Without: c.without})
		path.cap.calm = c.calm
		path.train(0, 1, 1)
		path.train(2560, 16, c.passed)
		check.Equal(t, fmt.Sprintf("%+v", c), path.PerSlice(), c.want)
	}
}

// RAT-4
func TestASenderThatRanDryMeasuresItself(t *testing.T) {
	for _, c := range []struct {
		dry     core.Micros
		without Rule
		want    int64
	}{{9_949_999, 0, 500_000}, {9_950_000, 0, 100_000}, {9_950_000, Busy, 500_000}} {
		path := known(Config{Without: c.without}, 50*ms, 100_000)
		path.Dry(c.dry)
		for i := range core.Micros(3) { // each in an epoch of its own
			path.EndTrain()
			path.train(10*second+i*second, 1, 1)
			path.train(10*second+i*second+8*ms, 16, 16)
			path.Dry(c.dry + (i+1)*second)
		}
		check.Equal(t, "rate", path.PerSlice(), c.want)
	}
}

// RAT-5: a rate counts for one to two epochs of a round trip, or 10 ms.
func TestARateIsForgottenAfterTwoEpochs(t *testing.T) {
	for _, roundTrip := range []core.Micros{5 * ms, 50 * ms} {
		for _, early := range []core.Micros{0, 1} {
			epoch := max(roundTrip, 10*ms)
			c := known(Config{}, roundTrip, 7_000)
			for i := range core.Micros(2) {
				now := 10*second + (i+1)*epoch
				c.EndTrain()
				c.train(now-2*ms-early, 1, 1)
				c.train(now-early, 16, 16)
			}
			check.Equal(t, "rate", c.PerSlice() == 125_000, early == 0)
		}
	}
}

// CAP-2: the rate of what arrived is without the longest pause.
func TestDelivered(t *testing.T) {
	c := begin(Config{})
	check.Equal(t, "nothing", c.delivered(0), 0)
	c.train(0, 1, 1)
	for i := range core.Micros(16) {
		c.train(10*ms+i*ms/2, 1, 1)
	}
	check.Equal(t, "a pause of 10 ms", c.delivered(18*ms), 7_500_000/16)
	c.train(20*ms, 1, 1)
	c.train(30*ms, 2, 2)
	check.Equal(t, "the train that is not whole", c.delivered(35*ms), 2_500_000)
}

// CAP-8: the first values are forgotten once they have served, and what is old counts less.
func TestLosses(t *testing.T) {
	l := newLosses()
	l.count(63, 63)
	check.Equal(t, "arrived", l.Arrived, firstArrived+63*16)
	l.count(1, 1)
	check.Equal(t, "settled", l.Arrived, firstArrived+64*16-prior)
	l.count(1000, 900)
	check.Equal(t, "halved", []int64{l.Lost, l.Arrived}, []int64{(16 + 1600) / 2, (1088 + 14400) / 2})
	l.count(0, 50)
	check.Equal(t, "they came late", l.Lost, 808-800)
	l.count(0, 50)
	check.Equal(t, "not below none", l.Lost, 0)
	l.Lost = l.Arrived
	l.forget(0)
	check.Equal(t, "what is not calm is forgotten", l.Lost, l.Arrived*8/1024)
}

func TestIsqrt(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 3, 4, 8, 9, 1<<52 - 1, (1<<26 - 1) * (1<<26 - 1)} {
		r := Isqrt(n)
		check.That(t, r*r <= n && (r+1)*(r+1) > n, fmt.Sprintf("root of %d: %d", n, r))
	}
}

// PRO-1, PRO-4
func TestARateOutsideIsRefused(t *testing.T) {
	for _, c := range []Config{{Fixed: true}, {MaxRate: statemachine.MinRate - 1}, {MaxRate: statemachine.MaxRate + 1}} {
		if err := c.Check(); !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "Profile.MaxRate") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{{}, {MaxRate: statemachine.MinRate}, {Fixed: true, MaxRate: statemachine.MaxRate}} {
		if err := c.Check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
