package control

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

const trip = 40 * ms // of the paths here: the target is 10 ms, and a queue of 2.5 ms is none

// talk is a conversation of one sender with a path.
type talk struct {
	*Controller
	share Share
	now   core.Micros
}

// newTalk returns one that has a base, and a limit of so many slices that it has found.
func newTalk(limit int64) *talk {
	w := &talk{Controller: New(Config{})}
	w.Begin(0, &w.share)
	w.round(trip, 1, 0)
	w.round(trip, 1, 0) // the first decision
	w.limit.size, w.limit.opening = limit*whole, false
	w.base.drainAt = core.Never / 2 // tests of drains set it
	return w
}

// round lets a round trip pass in which so many slices are in flight and then heard of, and a decision be made.
func (w *talk) round(r core.Micros, slices, lost int) {
	w.Flight(&w.share, slices)
	w.now = max(w.now+r, w.limit.decidesAt)
	w.Clean(w.now, r)
	w.hear(r, slices, lost)
}

func (w *talk) hear(r core.Micros, slices, lost int) {
	w.Flight(&w.share, 0)
	w.Arrived(w.now, slices-lost, lost)
	w.now += r / 4
	w.Arrived(w.now, 0, 0)
}

// full is a round with as much in flight as may be.
func (w *talk) full(r core.Micros, lost int) { w.round(r, w.PathSlices(), lost) }

func (w *talk) is(t *testing.T, what string, want int64) {
	t.Helper()
	check.Equal(t, what, w.limit.size, want)
}

// ROOM-1, ROOM-2
func TestAskingChangesNothing(t *testing.T) {
	w := newTalk(20)
	before := *w.Controller
	check.That(t, w.HasRoom(), "there is room")
	w.PathSlices()
	w.Next()
	check.That(t, *w.Controller == before, "asking changed something")
	w.Flight(&w.share, 20)
	check.That(t, !w.HasRoom(), "the limit holds")
	w.limit.size = leastLimit
	w.Flight(&w.share, 1)
	check.That(t, w.HasRoom(), "two slices always may be in flight")
}

// ROOM-4, ROOM-6
func TestOpening(t *testing.T) {
	w := &talk{Controller: New(Config{})}
	w.Begin(0, &w.share)
	w.is(t, "the first limit", 16*whole)
	w.round(trip, 16, 0)
	w.is(t, "two for each that arrived", 48*whole)
	w.round(trip, 10, 0)
	w.is(t, "no more than three times what was in flight", 48*whole)
	w.round(trip+6*ms, 48, 0)
	w.is(t, "not with a queue of more than half of the target", 48*whole)
	check.That(t, w.limit.opening, "it goes on")
	w.round(trip+11*ms, 48, 0)
	check.That(t, !w.limit.opening && w.limit.size < 48*whole, "a cut ends it")
}

// ROOM-5
func TestOpeningAgainEndsAtTheCeiling(t *testing.T) {
	w := newTalk(20)
	w.limit.opening, w.limit.ceiling = true, 20*whole
	w.Flight(&w.share, 20)
	w.open(0)
	check.That(t, w.limit.opening, "nothing has arrived")
	w.limit.ceiling = 30 * whole
	w.round(trip, 20, 0)
	w.is(t, "the ceiling", 30*whole)
	check.That(t, !w.limit.opening, "it has ended")
}

// DLY-1, DLY-2, BRK-1
func TestDelayCuts(t *testing.T) {
	w := newTalk(100)
	w.limit.ceiling = 200 * whole
	w.full(60*ms, 0)
	w.is(t, "what half the target holds", 100*whole*45/60)
	check.Equal(t, "the ceiling", w.limit.ceiling, 0)
	w.limit.size = 100 * whole
	w.round(60*ms, 50, 0)
	w.is(t, "of what was in use", 50*whole*45/60)
	w.limit.size = 100 * whole
	w.full(400*ms, 0)
	w.is(t, "a half at least", 50*whole)
}

// EST-10
func TestThreeDrainsWithoutANearSample(t *testing.T) {
	for _, c := range []struct {
		near   []bool
		longer bool
	}{{[]bool{false, false}, false}, {[]bool{false, false, false}, true}, {[]bool{false, false, true, false}, false}} {
		b := base{value: trip}
		for _, near := range c.near {
			b.drain(0, trip, 2*trip)
			b.end(0)
			b.judge(near)
		}
		check.Equal(t, "the path is longer", b.value == 2*trip, c.longer)
	}
}

// LSS-2, LSS-3, LSS-5
func TestLossCutsOnce(t *testing.T) {
	w := newTalk(100)
	w.full(trip, 5)
	w.is(t, "three quarters", 75*whole)
	check.Equal(t, "the ceiling", w.limit.ceiling, 100*whole)
	w.full(trip+3*ms, 5) // went out before the cut
	w.full(trip+3*ms, 0) // the look
	w.full(trip+3*ms, 0) // of 82 slices and more, since five of 102 were lost
	check.That(t, w.limit.size >= 75*whole, "one cut")
	w.full(trip+3*ms, 8)
	check.That(t, w.limit.size < 75*whole, "and another one for more loss")
}

// LSS-5
func TestMuchLossIsAnsweredByWhatArrived(t *testing.T) {
	w := newTalk(100)
	w.full(trip, 60)
	w.is(t, "seven eighths of it", 35*whole)
}

// LSS-1
func TestOneLossInManyIsAnswered(t *testing.T) {
	w := newTalk(10)
	for range 20 {
		w.round(trip, 10, 0)
		w.loss.learn(0, 10, true)
	}
	w.limit.size = 10 * whole
	w.round(trip, 10, 1)
	w.is(t, "three quarters", 10*whole*3/4)
}

// LSS-4
func TestLossesAreSummed(t *testing.T) {
	w := newTalk(4)
	w.loss.calmLost, w.loss.calmPassed = 16*100, 16*2000 // one in twenty
	for range 5 {
		w.round(trip, 4, 1)
	}
	w.is(t, "five losses of twenty are none", 4*whole+5*step)
	w.round(trip, 4, 1)
	check.That(t, w.limit.size < 4*whole, "the sixth one is answered")
}

// LSS-3
func TestACutInVainIsTakenBack(t *testing.T) {
	for _, c := range []struct {
		what  string
		waits core.Micros
		lost  int
		back  bool
	}{{"as much is lost after it", 0, 20, true}, {"nothing is lost after it", 0, 0, false}, {"there is a queue", 5 * ms, 20, false}} {
		w := newTalk(100)
		w.full(trip, 12)
		w.full(trip+c.waits, 0)
		w.full(trip+c.waits, c.lost)
		check.Equal(t, c.what, w.limit.size >= 100*whole, c.back)
	}
}

// LSS-3, DCS-8: two of ten were lost, and of twenty slices four would be. Meanwhile the limit stays.
func TestALookLastsUntilItCanTell(t *testing.T) {
	w := newTalk(8)
	w.full(trip, 2)
	after := w.limit.size
	w.full(trip, 0) // was sent before the cut
	for range 3 {
		w.full(trip, 0)
		check.That(t, w.loss.phase == looks && w.PathSlices() == 5, "it still looks")
		w.is(t, "a look is of one rate", after)
	}
	w.full(trip, 0)
	check.That(t, w.loss.phase == steady && w.limit.size > after, "it has seen twenty, and grows")
	w.full(trip, 2)
	w.full(trip, 0)
	w.full(trip, 4)
	check.Equal(t, "four losses tell", w.loss.phase, steady)
}

// LSS-6
func TestCalmLossIsLearnedWithoutAQueue(t *testing.T) {
	for _, c := range []struct {
		waits core.Micros
		calm  bool
	}{{0, true}, {5 * ms, false}} {
		w := newTalk(100)
		for range 100 {
			n := w.PathSlices()
			w.round(trip+c.waits, n, n/10)
		}
		check.Equal(t, "it sends as ever", w.limit.size > 100*whole, c.calm)
	}
}

// LSS-1
func TestNoMoreThanHalfIsCalm(t *testing.T) {
	w := newTalk(100)
	w.loss.calmLost, w.loss.calmPassed = 16*3500, 16*4000
	for range 100 {
		n := w.PathSlices()
		w.round(trip, n, (4*n+4)/5)
	}
	check.That(t, w.limit.size < 8*whole, "four fifths are lost, and it goes on")
}

// DCS-7: a queue that does not empty is full, however short it is, if enough samples tell; but what is as short as noise
// is no queue.
func TestAShortQueueThatStands(t *testing.T) {
	for _, c := range []struct {
		waits []core.Micros
		short bool
	}{
		{nil, false}, {[]core.Micros{1000, 1000, 1000}, true}, {[]core.Micros{1000, 1000, 1000, 1000}, false},
		{[]core.Micros{2600, 1000, 2400, 2000}, true}, {[]core.Micros{1001, 2600, 2399, 2000}, false},
		{[]core.Micros{625, 625, 625, 625}, true}, {[]core.Micros{626, 626, 626, 626}, false},
		{[]core.Micros{0, 4000, 3000, 3004}, false}, {[]core.Micros{0, 4000, 3000, 3003}, true},
	} {
		l := newLimit()
		for _, w := range c.waits {
			l.wait(w)
		}
		check.Equal(t, fmt.Sprint(c.waits), l.isShort(10*ms), c.short)
	}
}

// LSS-1: losses come in runs, and those of a half of all vary less.
func TestThreeDeviations(t *testing.T) {
	for _, c := range []struct {
		calmLost, lost, passed int64
		exceeds                bool
	}{{4, 3, 64, true}, {4, 2, 64, false}, {50, 12, 100, false}, {50, 15, 100, true}, {600, 71, 100, false}, {600, 72, 100, true}} {
		a := answer{calmLost: 16 * c.calmLost, calmPassed: 16 * 1000}
		check.Equal(t, "more than chance", a.exceeds(c.lost, c.passed, false, false), c.exceeds)
	}
}

// LSS-3: what is lost of a chunk at 20 % and more is not the rate's, if as much is lost after a cut.
func TestTheSameLossTakesACutBack(t *testing.T) {
	for _, c := range []struct {
		what  string
		lost  int // of ten slices after the cut
		queue core.Micros
		known int64 // slices without loss before
		back  bool
	}{
		{"the same", 4, 0, 0, true}, {"less", 2, 0, 0, false}, {"the same with a queue", 4, 3 * ms, 0, false},
		{"the same where little was lost for long", 4, 0, 4000, true},
	} {
		w := newTalk(100)
		w.loss.calmPassed = 16 * c.known
		w.full(trip, 40)
		check.That(t, w.limit.size < 100*whole, "a cut")
		w.full(trip, 0)
		w.round(trip+c.queue, 10, c.lost)
		check.Equal(t, c.what, w.limit.size >= 100*whole, c.back)
		check.Equal(t, c.what+": what was lost before is learned", w.loss.calmLost >= 16*40, c.back)
	}
}

// LSS-3: what a cut ends was no calm loss.
func TestCalmLossThatIsGoneIsForgotten(t *testing.T) {
	for lost, forgotten := range map[int]bool{1: true, 8: false} {
		w := newTalk(100)
		w.loss.calmLost, w.loss.calmPassed = 16*200, 16*1000
		w.full(trip, 60)
		w.full(trip, 0)
		w.round(trip, 30, lost)
		check.Equal(t, "forgotten", w.loss.calmPassed <= 16*30, forgotten)
	}
}

// LSS-3: a quarter is calm.
func TestHowFewLossesSayThatCalmLossIsGone(t *testing.T) {
	for _, c := range []struct {
		lost, passed int64
		gone         bool
	}{{0, 15, false}, {0, 16, true}, {1, 16, true}, {2, 16, false}} {
		w := newTalk(100)
		w.loss.calmLost, w.loss.calmPassed = 256-priorLost, 1024-16*priorPassed
		w.look(c.lost, c.passed, true)
		check.Equal(t, "gone", w.loss.calmPassed == 16*c.passed, c.gone)
	}
}

// DCS-7, GRO-2 to GRO-5
func TestGrowth(t *testing.T) {
	w := newTalk(100)
	w.full(trip, 0)
	w.is(t, "three eighths of a slice", 100*whole+step)
	w.limit.size = 100 * whole
	w.round(trip, 50, 0)
	w.is(t, "nothing if half of it is used", 100*whole)
	w.limit.size = whole
	w.round(trip, 1, 0)
	w.is(t, "a quarter at most", whole+whole/4)
	w.limit.size, w.limit.ceiling = 100*whole, 164*whole
	w.full(trip, 0)
	w.is(t, "a 32nd of what is missing", 102*whole)
	w.limit.size = 100 * whole
	w.full(trip+5*ms, 0)
	w.is(t, "not with a queue", 100*whole+step)
	w.limit.ceiling = 0
	for range quietMost + 1 {
		w.full(trip, 0)
	}
	before := w.limit.size
	w.full(trip, 0)
	check.That(t, w.limit.size > before+3*step, "it doubles after 32")
	for range 30 {
		before = w.limit.size
		w.full(trip, 0)
		check.That(t, w.limit.size <= before*9/8, "to an eighth at most")
	}
}

// DLY-3: who has more of a queue gives back more of it: that is how flows of one link become alike.
func TestAQueueBeyondHalfTheTargetTakesSomeBack(t *testing.T) {
	w := newTalk(100)
	w.full(trip+8*ms, 0)
	w.is(t, "a quarter of what is too much", 100*whole+step-100*whole*3/48/4)
}

// DCS-2, DCS-4
func TestTheBeginningOfATrainDoesNotCount(t *testing.T) {
	w := newTalk(100)
	w.Leave(&w.share)
	w.Begin(w.now, &w.share)
	begun := w.now
	event := func(at, r core.Micros) {
		w.now = begun + at
		w.Clean(w.now, r)
		w.Arrived(w.now, 1, 0)
	}
	w.Flight(&w.share, 100)
	event(trip, trip)
	event(trip*5/4, 70*ms)
	event(trip*3/2, 70*ms)
	check.That(t, w.limit.size < 80*whole, "the queue at its end is that of the link")
}

// LSS-8
func TestWithTheBaseCalmLossIsForgotten(t *testing.T) {
	w := newTalk(100)
	w.loss.calmLost, w.loss.calmPassed = 1600, 16000
	w.Clean(w.now, trip-ms)
	check.That(t, w.loss.calmPassed > 0, "it hardly fell")
	w.Clean(w.now, trip-4*ms)
	check.Equal(t, "calm", w.loss.calmPassed, 0)
}

// contested returns a conversation in which others have filled the queue.
func contested(t *testing.T) *talk {
	w := newTalk(100)
	for i := range foeRows {
		check.That(t, !w.limit.others, "not before the sixth decision")
		w.full(80*ms, 0)
		check.That(t, i == foeRows-1 || w.limit.size < 100*whole, "it gives way")
	}
	check.That(t, w.limit.others, "others")
	return w
}

// OTH-2 to OTH-4, GRO-1
func TestOthers(t *testing.T) {
	w := contested(t)
	w.is(t, "what it had before, and a slice as NewReno", 101*whole)
	w.full(80*ms, 0)
	w.is(t, "no cut", 102*whole)
	w.full(80*ms, 8)
	check.That(t, w.limit.size < 80*whole, "loss is answered as ever")
	before := w.limit.size
	w.base.drainAt = core.Never / 2
	w.full(80*ms, 0) // was sent before the cut
	w.full(80*ms, 0)
	w.is(t, "a slice", before+whole)
	w.base.drainAt = w.now
	w.full(80*ms, 0)
	w.full(80*ms, 0)
	w.limit.size = 100 * whole
	w.full(80*ms, 20)
	check.That(t, w.Drains(), "the next cut begins a drain")
	check.Equal(t, "slices in a drain", w.PathSlices(), 4)
	for range 4 {
		w.round(trip, 4, 0)
	}
	check.That(t, !w.limit.others && !w.Drains(), "the base was seen")
}

// OTH-3
func TestAContestWithoutLossEndsByItself(t *testing.T) {
	w := contested(t)
	began := w.now
	for !w.Drains() && w.now < began+4*core.Second {
		w.full(80*ms, 0)
	}
	check.That(t, w.Drains() && w.now >= began+drainFirst, "2.5 s later it drains")
}

// OTH-2
func TestSomeDecisionsAboveTheTargetAreNoContest(t *testing.T) {
	w := newTalk(100)
	for range 20 {
		w.full(80*ms, 0)
		check.That(t, !w.limit.others, "what rises and falls is ours")
		w.full(trip, 0)
	}
}

// OTH-2
func TestAQueueThatACutMayHaveLeftTakesNothingBack(t *testing.T) {
	w := newTalk(100)
	for range foeRows - 1 {
		w.full(80*ms, 0)
		w.full(trip+8*ms, 0) // the target is 10 ms
	}
	w.full(80*ms, 0)
	check.That(t, w.limit.others, "the queue stays")
}

// OTH-2, DCS-7
func TestAQueueThatEmptiesAtTheSameSpeedIsItsOwn(t *testing.T) {
	for _, c := range []struct {
		last int // so many slices arrive in the last of the decisions
		want bool
	}{{20, false}, {15, false}, {14, true}} {
		w := newTalk(100)
		for i := range foeRows {
			n := 20
			if i == foeRows-1 {
				n = c.last
			}
			w.Flight(&w.share, w.PathSlices())
			w.now = w.limit.beganAt + 100*ms
			w.Clean(w.now, 80*ms)
			w.hear(80*ms, n, 0)
		}
		check.That(t, w.limit.others == c.want && w.limit.above == 0, fmt.Sprint(c.last))
	}
}

// OTH-2
func TestASenderThatHasNothingToGiveMakesNoQueue(t *testing.T) {
	for _, c := range []struct {
		limit int64
		want  bool
	}{{leastLimit, true}, {whole, true}, {twoSlices, false}} {
		w := newTalk(1)
		for range foeRows {
			w.limit.size = c.limit
			w.Flight(&w.share, 2)
			w.now = w.limit.beganAt + 100*ms
			w.Clean(w.now, 80*ms)
			w.hear(80*ms, 2, 0)
		}
		check.That(t, w.limit.others == c.want, fmt.Sprint(c.limit))
	}
}

// ECN-1, ECN-3, LSS-2, LSS-7, DCS-8
func TestMarksAreAnsweredOnce(t *testing.T) {
	w := newTalk(100)
	w.Controller.Marked(3)
	w.full(trip, 0)
	w.is(t, "three quarters", 75*whole)
	w.Controller.Marked(2) // of what went out before
	w.full(trip+3*ms, 0)
	w.full(trip+3*ms, 0)
	check.That(t, w.limit.size >= 75*whole, "once")
	w.base.drain(w.now, trip, 2*trip)
	before := w.limit.size
	w.Controller.Marked(1)
	w.round(trip+8*ms, 100, 60)
	check.That(t, w.Drains() && w.limit.marked == 1, "in a drain they wait")
	w.is(t, "and loss cuts nothing", before)
}

// DCS-6, EST-9: the end of a drain begins a decision, and makes none.
func TestADrainEndsADecision(t *testing.T) {
	w := newTalk(100)
	w.base.drain(w.now, trip, trip)
	w.limit.lost, w.limit.passed, w.limit.waits, w.limit.samples, w.limit.most = 60, 100, ms, 1, 100*whole
	w.now = w.base.until
	w.Arrived(w.now, 1, 0)
	l := &w.limit
	check.That(t, !w.Drains() && l.lost == 0 && l.passed == 1 && l.waits == 0 && l.samples == 0 && l.most == 0, "it begins anew")
	check.Equal(t, "the next decision", l.decidesAt, w.now+trip*5/4)
	w.is(t, "what was lost before is none of it", 100*whole)
}

// DCS-1, DCS-3, DCS-5
func TestADecisionWithoutASample(t *testing.T) {
	w := newTalk(100)
	w.Flight(&w.share, 100)
	w.now += trip
	w.hear(trip, 100, 50)
	check.That(t, w.limit.size < 50*whole, "time decides")
	w = newTalk(100)
	w.limit.low = 100 * whole
	w.Flight(&w.share, 100)
	w.now += trip
	w.hear(trip, 100, 2)
	check.Equal(t, "learned of a queue that nobody saw", w.loss.calmPassed, 0)
}

// IDL-1, IDL-2
func TestIdle(t *testing.T) {
	for idle, want := range map[core.Micros]int64{10 * core.Second: 400, 25 * core.Second: 200, 35 * core.Second: 100, 600 * core.Second: 16} {
		w := newTalk(400)
		w.Leave(&w.share)
		w.now += idle
		w.Begin(w.now, &w.share)
		w.is(t, "after idle", want*whole)
		check.That(t, w.limit.decidesAt > w.now, "idle time is no round")
	}
}

// PTO-7
func TestASilenceHalvesOnce(t *testing.T) {
	w := newTalk(100)
	w.unanswered = 100
	w.now += core.Second
	w.TimedOut(w.now, 2)
	w.is(t, "half", 50*whole)
	check.That(t, w.limit.opening && w.limit.ceiling == 100*whole, "it opens again, to where it was")
	w.TimedOut(w.now+core.Second, 2)
	w.is(t, "once a silence", 50*whole)
	w.round(trip, 50, 0)
	check.That(t, !w.silenced && w.limit.size > 50*whole, "news ends it")
}

// PTO-3, PTO-7
func TestProbesBackOff(t *testing.T) {
	w := newTalk(100)
	delay, _ := w.RTT.Delay()
	for i := range 3 {
		w.TimedOut(w.now, 0)
		check.Equal(t, "the next one", w.ProbeAt()-w.now, delay<<i)
	}
	for range 20 {
		w.TimedOut(w.now, 0)
	}
	check.Equal(t, "at most", w.ProbeAt()-w.now, max(longestProbe, delay))
	w.now += core.Second
	w.TimedOut(w.now, 0)
	check.That(t, w.limit.size == 100*whole, "too few were sent to speak of silence")
	for sent, silent := range map[int]bool{7: false, 8: true} {
		w.losses.Lost, w.unanswered = 0, sent
		check.Equal(t, "eight acks are missing", w.isTooSilent(), silent)
	}
}

// SUS-1 to SUS-3
func TestWhatATimerGaveUpCountsWhereNothingOvertakes(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		late   int
		counts bool
	}{{2, 0, true}, {2, 2, false}, {3, 0, false}, {20, 0, false}} {
		w := newTalk(c.limit)
		w.TimedOut(w.now, 2)
		w.Late(c.late)
		w.round(trip, 2, 0)
		check.Equal(t, "an answer", w.limit.size < c.limit*whole, c.counts)
	}
}

// BRK-3 to BRK-6
func TestBreaker(t *testing.T) {
	w := newTalk(100)
	began := w.now
	for !w.breaker.open && w.now < began+30*core.Second {
		n := w.PathSlices()
		w.round(trip, n, n*2/3+1)
	}
	check.That(t, w.breaker.open && w.now >= life && w.now < began+life+5*core.Second, "after 10 s")
	check.Equal(t, "mode", w.mode(), modeBroken)
	w.is(t, "the least", leastLimit)
	w.limit.opening = true
	w.round(trip, 1, 1)
	w.is(t, "it does not grow", leastLimit)
	w.limit.opening = false
	w.round(trip, 2, 0)
	w.is(t, "nor by steps", leastLimit)
	w.unanswered = 10_000
	w.TimedOut(w.now+core.Second, 2)
	check.That(t, w.silenced && !w.limit.opening, "nor does a silence open it")
	for range 40 {
		w.round(trip, 2, 0)
	}
	check.That(t, !w.breaker.open && w.limit.size > leastLimit, "it mends")
}

// BRK-4
func TestTheBreakerOpensWhereMoreThanHalfIsLost(t *testing.T) {
	for of, open := range map[[2]int64]bool{{2, 5}: false, {2, 4}: false, {3, 5}: true} {
		w := newTalk(100)
		for range 1000 {
			w.limit.size, w.limit.lost, w.limit.passed = whole, of[0], of[1]
			w.breaker.judge(w.now, &w.limit)
			w.now += trip
		}
		check.Equal(t, "open", w.breaker.open, open)
	}
}

// BRK-4
func TestTheBreakerForgivesAnOvershoot(t *testing.T) {
	w := newTalk(100)
	w.full(trip, 60)
	for range 10 {
		w.full(trip, 0)
	}
	w.Leave(&w.share)
	w.now += 20 * core.Second
	w.Begin(w.now, &w.share)
	for range 20 {
		w.full(trip, (w.PathSlices()*2+2)/3)
	}
	check.That(t, !w.breaker.open, "little was lost in between")
}

// DCS-1, BRK-4: a connection may begin at any time of its clock.
func TestTheBreakerCountsFromTheFirstDecisionOn(t *testing.T) {
	w := &talk{Controller: New(Config{}), now: 3600 * core.Second}
	w.Begin(w.now, &w.share)
	w.round(trip, 16, 0)
	w.full(trip, 45)
	check.That(t, !w.breaker.open, "not for 10 s")
}

// BRK-5
func TestABrokenPathTakesNoCutBack(t *testing.T) {
	for _, open := range []bool{true, false} {
		w := newTalk(100)
		w.full(trip, 12)
		w.full(trip, 0)
		w.limit.cut(leastLimit)
		w.breaker.open, w.breaker.since = open, w.now
		for w.loss.phase == looks {
			w.round(trip, 4, 1)
		}
		check.Equal(t, "the least", w.limit.size == leastLimit, open)
	}
}

// PAC-3, PAC-8, PAC-9, PRO-4
func TestThePaceSpreadsTheLimit(t *testing.T) {
	w := newTalk(100)
	check.Equal(t, "a 16th faster", w.interval(false), 40_000_000/100*15/16)
	w.limit.opening = true
	check.Equal(t, "twice as fast", w.interval(false), 40_000_000/100/2)
	w.limit.opening, w.limit.size = false, whole
	check.Equal(t, "below two slices as it is", w.interval(false), 40_000_000)
	check.Equal(t, "before a sample", New(Config{}).interval(false), burstSpacing)
	check.Equal(t, "with a fixed rate", New(Config{Fixed: true, MaxRate: 1_000_000_000}).interval(false), 8528)
	w.limit.size, w.RTT.Smoothed = leastLimit, 3*core.Second
	check.Equal(t, "a slice a second at least", w.interval(false), slowest)
	p := pacer{at: 5, nano: 300}
	p.wait(5)
	check.Same(t, "at that microsecond nothing is lost", p, pacer{5, 300})
}

// ROOM-3
func TestYieldHalvesTheTarget(t *testing.T) {
	w := newTalk(100)
	w.Yield(true)
	w.full(trip+6*ms, 0)
	check.That(t, w.limit.size < 100*whole, "5 ms is the most")
}

// GRO-1
func TestAContestWithoutLossGrowsFaster(t *testing.T) {
	w := contested(t)
	w.base.drainAt = core.Never / 2
	for range quietMost + 2 {
		w.full(80*ms, 0)
	}
	before := w.limit.size
	w.full(80*ms, 0)
	check.That(t, w.limit.size >= before+2*whole, "after 32 decisions")
}

// LSS-4, LSS-6
func TestLossNearACutIsLearned(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		learns bool
	}{{80, true}, {95, false}} {
		w := newTalk(100)
		w.limit.low, w.limit.size = 75*whole, c.limit*whole
		w.full(trip, 0)
		check.Equal(t, "counted", w.loss.calmPassed > 0, c.learns)
	}
}

// LSS-1
func TestAnEighthMayBeLostWhileOpening(t *testing.T) {
	w := newTalk(100)
	w.limit.opening = true
	w.full(trip, 12)
	check.That(t, w.limit.opening && w.limit.size > 100*whole, "it goes on")
	w.full(trip, w.PathSlices()/3)
	check.That(t, !w.limit.opening, "a third ends it")
}

// LSS-6
func TestOldCalmLossFades(t *testing.T) {
	a := answer{}
	for range 200 {
		a.learn(5, 100, true)
	}
	check.That(t, a.calmPassed <= 16*calmMost && a.calmPassed > 4*calmMost, "some 8,192 slices count")
	a = answer{}
	a.learn(0, calmMost, true)
	check.Equal(t, "the most", a.calmPassed, 16*calmMost)
	a.learn(0, 1, true)
	check.Equal(t, "one more", a.calmPassed, 8*calmMost+8)
}

// SUS-3, SUS-4
func TestWhatWasGivenUpInASilenceIsNoLoss(t *testing.T) {
	w := newTalk(2)
	w.unanswered = 100
	w.now += core.Second
	w.TimedOut(w.now, 2)
	check.That(t, w.silenced, "silence")
	before := w.limit.size
	w.round(trip, 2, 0)
	check.That(t, w.limit.size >= before, "it was answered once")
}

// SUS-2
func TestNothingThatArrivesMakesSuspects(t *testing.T) {
	w := newTalk(2)
	w.TimedOut(w.now, 2)
	w.Late(-5)
	check.Equal(t, "suspects", w.suspects, 2)
}

// SUS-4
func TestTheBreakerHearsOfWhatTimersGaveUp(t *testing.T) {
	w := newTalk(20)
	for range 250 {
		w.TimedOut(w.now, 24)
		w.round(trip, 20, 0)
	}
	check.That(t, w.breaker.open, "for 10 s")
}

// DCS-9
func TestSlicesSentAgainTellWhetherTheQueueIsEmpty(t *testing.T) {
	w := newTalk(100)
	w.Resent(trip + 8*ms)
	w.Resent(trip - ms)
	check.That(t, w.limit.waits == 8*ms && w.limit.samples == 2, "they count")
	check.That(t, w.limit.least == 0 && w.limit.latest == trip && w.MinRTT() == trip, "for nothing else")
}

func TestIdleTimeIsNoRoundOfATrainThatBeganBefore(t *testing.T) {
	w := newTalk(100)
	w.Leave(&w.share)
	w.now += trip / 2
	w.Begin(w.now, &w.share)
	w.Leave(&w.share)
	w.now += core.Second
	w.Begin(w.now, &w.share)
	check.That(t, w.limit.decidesAt > w.now, "the decision is put off")
}

func TestItJoinsNoDrainBesideOthers(t *testing.T) {
	w := contested(t)
	w.base.drainAt = core.Never / 2
	w.Clean(w.now, trip-4*ms)
	check.That(t, !w.Drains(), "others have none")
}

// CXL-10: what a timer gives up on a new path counts as on any (SUS-3), and the next chunk finds one in flight.
func TestAChunkStaysInFlightOnAnotherPath(t *testing.T) {
	w, path := newTalk(2), New(Config{})
	path.Take(&w.share, w.Controller)
	check.Equal(t, "lanes with a chunk here", path.active, 1)
	check.Equal(t, "and there", w.active, 0)
	path.Leave(&w.share)
	check.Equal(t, "at its end", path.active, 0)
	path.Take(&w.share, w.Controller)
	check.Equal(t, "without a chunk", path.active, 0)
}

// PRO-1, PRO-4
func TestRatesOfAProfile(t *testing.T) {
	for c, valid := range map[Config]bool{
		{}: true, {Fixed: true}: false, {MaxRate: statemachine.MinRate}: true, {Fixed: true, MaxRate: statemachine.MaxRate}: true,
		{MaxRate: statemachine.MinRate - 1}: false, {Fixed: true, MaxRate: statemachine.MaxRate + 1}: false,
	} {
		check.That(t, (c.Check() == nil) == valid, fmt.Sprintf("%+v", c))
	}
}
