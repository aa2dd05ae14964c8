package packet

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// roundTrips sends a packet at a time and lets its ack come after each round trip.
func roundTrips(e *end, trips ...core.Micros) {
	for _, r := range trips {
		n := e.sent.next
		e.sends("x")
		later(r, e)
		e.gets(acking(e.t, e.received.Next(), n, 1))
	}
}

func trip(e *end) [5]core.Micros {
	est := e.Estimates(e.now)
	return [5]core.Micros{est.SRTT, est.Jitter, est.Latest, est.MinRTT, est.Patience}
}

// The first sample is the estimate; then a tenth, and a sixteenth of the distance (PKE-2).
func TestTheRoundTripIsSmoothed(t *testing.T) {
	e := newEnd(t, Config{})
	check.Equal(t, "at first", e.Estimates(0), Estimates{})
	roundTrips(e, 100*ms)
	check.Equal(t, "first", trip(e), [5]core.Micros{100 * ms, 0, 100 * ms, 100 * ms, 0})
	roundTrips(e, 150*ms)
	check.Equal(t, "slower", trip(e), [5]core.Micros{105 * ms, 3125, 150 * ms, 100 * ms, 0})
	roundTrips(e, 5*ms)
	check.Equal(t, "faster", trip(e), [5]core.Micros{95 * ms, 3125 + (100_000-3125)/16, 5 * ms, 5 * ms, 0})
	check.That(t, e.Estimates(e.now).Measured, "measured")
}

// 29 samples cover 95 % of a step (RATIONALE.md, section 3.1).
func Test29SamplesCoverAStep(t *testing.T) {
	var trip roundTrip
	trip.add(0, 0)
	for n := 1; n <= 29; n++ {
		trip.add(0, 100*ms)
		check.Equal(t, "95 % are covered", trip.srtt >= 95*ms, n == 29)
	}
}

// Truncated toward zero, the estimate rests within 9 us of a constant sample, from either side.
func TestTheEstimateRests(t *testing.T) {
	for _, first := range []core.Micros{0, 100 * ms} {
		var trip roundTrip
		trip.add(0, first)
		for range 400 {
			trip.add(0, 50*ms)
		}
		check.That(t, trip.srtt >= 50*ms-9 && trip.srtt <= 50*ms+9 && trip.jitter >= 0, "it rests near the sample")
	}
}

// The smallest of this period of 5 s and of the one before (PKE-3).
func TestTheSmallestRoundTripIsForgotten(t *testing.T) {
	var trip roundTrip
	for _, c := range []struct{ at, r, want core.Micros }{
		{0, 30, 30}, {1, 20, 20}, {4_999_999, 25, 20},
		{5_000_000, 40, 20}, {9_999_999, 35, 20},
		{10_000_000, 50, 35}, {10_000_001, 60, 35},
		{30_000_000, 70, 50}, {34_999_999, 80, 50}, {35_000_000, 90, 70},
	} {
		trip.add(c.at, c.r)
		check.Equal(t, "smallest", trip.minRTT(), c.want)
	}
}

// Only an ack of the number in the ack field gives a sample; a late one does, too (PKE-1,
// PKL-2).
func TestWhatGivesASample(t *testing.T) {
	e := newEnd(t, Config{})
	sendMany(e, 3)
	later(100*ms, e)
	e.gets(acking(t, 0, 2, 0b110))
	check.Equal(t, "none of bits 1 and 2", trip(e), [5]core.Micros{})
	check.Equal(t, "but they are displayed", e.Samples().Count, 2)
	e.gets(acking(t, 1, 2, 0b111))
	check.Equal(t, "of bit 0", e.Estimates(e.now).SRTT, 100*ms)
	later(100*ms, e)
	e.gets(acking(t, 2, 2, 0b111))
	check.Equal(t, "once", e.Samples().Count, 3)
	sendMany(e, 1)
	later(2*LostAfter, e)
	e.polls()
	e.gets(acking(t, 3, 3, 1))
	check.Equal(t, "late", e.Estimates(e.now).Latest, 2*LostAfter)
	e.sends("\x00")
	later(50*ms, e)
	e.gets(acking(t, 4, 4, 1))
	check.Equal(t, "not of a quiet one", e.Estimates(e.now).Latest, 2*LostAfter)
	check.Equal(t, "nor is it displayed", e.Samples().Count, 4)
}

// Samples above 2^40 us count as that: no sum overflows (PKE-10).
func TestLongSamplesAreClipped(t *testing.T) {
	e := newEnd(t, Config{})
	sendMany(e, 3)
	e.now = 1 << 61
	e.gets(acking(t, 0, 2, 1))
	check.Equal(t, "sample", trip(e), [5]core.Micros{1 << 40, 0, 1 << 40, 1 << 40, 0})
	e.gets(acking(t, 1, 0, 1))
	check.Equal(t, "patience", e.Estimates(e.now).Patience, 1<<40*9/8)
	check.Equal(t, "displayed", e.Samples(), Samples{Count: 2, Min: longestShown, Max: longestShown, Avg: longestShown})
}

// A packet that is acked after one that is 2 or more newer was overtaken: patience grows,
// and falls by a sixteenth a second (PKE-4).
func TestPatience(t *testing.T) {
	e := newEnd(t, Config{})
	roundTrips(e, 100*ms)
	sendMany(e, 4) // 1 to 4
	later(80*ms, e)
	e.gets(acking(t, 1, 3, 0b001))
	check.Equal(t, "nothing overtook 3", e.Estimates(e.now).Patience, 0)
	e.gets(acking(t, 2, 4, 0b100))
	check.Equal(t, "3 is only one newer", e.Estimates(e.now).Patience, 0)
	e.gets(acking(t, 3, 4, 0b1001))
	want := core.Micros(80*ms) * 9 / 8
	check.Equal(t, "3 is two newer", e.Estimates(e.now).Patience, want)
	later(core.Second-e.now-1, e)
	check.Equal(t, "in the same second", e.Estimates(e.now).Patience, want)
	later(1, e)
	want -= want / 16
	check.Equal(t, "in the next", e.Estimates(e.now).Patience, want)
	later(2*core.Second, e)
	want -= want / 16
	want -= want / 16
	check.Equal(t, "two later", e.Estimates(e.now).Patience, want)
	check.Equal(t, "asked again", e.Estimates(e.now).Patience, want)
	later(1<<60, e)
	check.Equal(t, "at last", e.Estimates(e.now).Patience, 15)
}

// It is at most half as much again as the round trip, and never falls by an ack.
func TestPatienceIsBounded(t *testing.T) {
	e := newEnd(t, Config{})
	roundTrips(e, 100*ms)
	sendMany(e, 4)
	later(200*ms, e)
	e.gets(acking(t, 1, 4, 1), acking(t, 2, 4, 0b1001))
	srtt := e.Estimates(e.now).SRTT
	check.Equal(t, "bounded", e.Estimates(e.now).Patience, srtt*3/2)
	sendMany(e, 3)
	later(ms, e)
	e.gets(acking(t, 3, 7, 1), acking(t, 4, 7, 0b101))
	check.Equal(t, "not less", e.Estimates(e.now).Patience, srtt*3/2)
}

// What it was before has fallen when it grows again.
func TestPatienceFallsBeforeItGrows(t *testing.T) {
	var trip roundTrip
	trip.add(0, second)
	trip.overtook(0, 160_000)
	check.Equal(t, "patience", trip.patience, 180_000)
	trip.overtook(second, 100_000)
	check.Equal(t, "a second later", trip.patience, 180_000-180_000/16)
	trip.overtook(8*second, 100_000)
	check.Equal(t, "8 s later", trip.patience, 112_500)
}

// Of the numbers settled in ten whole seconds; a late ack changes nothing (PKE-5, PKL-8).
func TestLoss(t *testing.T) {
	e := newEnd(t, Config{})
	loss := func() [3]int {
		est := e.Estimates(e.now)
		l, known := est.LossPerMille()
		check.Equal(t, "known", known, est.Settled > 0)
		return [3]int{est.Settled, est.Lost, l}
	}
	sendMany(e, 7) // in second 0
	e.sends("\x00")
	e.gets(acking(t, 0, 4, 0b11111), acking(t, 1, 7, 1))
	check.Equal(t, "this second does not count yet", loss(), [3]int{})
	later(core.Second, e)
	e.polls() // 5 and 6 are lost in second 1
	check.Equal(t, "in second 1", loss(), [3]int{5, 0, 0})
	later(core.Second, e)
	check.Equal(t, "in second 2", loss(), [3]int{7, 2, 285})
	e.gets(acking(t, 2, 6, 0b11))
	later(8*core.Second, e)
	check.Equal(t, "in second 10", loss(), [3]int{7, 2, 285})
	later(core.Second, e)
	check.Equal(t, "in second 11", loss(), [3]int{2, 2, 1000})
	later(core.Second, e)
	check.Equal(t, "in second 12", loss(), [3]int{})
}

// The same with a pause of any length between.
func TestSecondsArePassed(t *testing.T) {
	for begin := range core.Micros(24) {
		for gap := range core.Micros(30) {
			var s seconds
			s.add(begin*core.Second, lostCount, 7)
			sum := s.sum((begin + gap) * core.Second)
			want := int64(0)
			if gap >= 1 && gap <= 10 {
				want = 7
			}
			check.Equal(t, "count", sum[lostCount], want)
		}
	}
}

// Bytes of datagrams over ten seconds, in bits a second (PKE-7).
func TestRates(t *testing.T) {
	a, b := couple(t, fragmenting)
	d := a.sends("0123456789")
	bytes := 0
	for _, x := range d {
		bytes += len(x)
	}
	b.gets(d...)
	b.gets(d[0], nil)
	later(ms, a, b)
	a.gets(b.sends("x")...)
	check.Equal(t, "acked", a.said(), []string{"acked 0"})
	later(5*core.Second, a, b)
	est := a.Estimates(a.now)
	check.Equal(t, "of a", [3]int64{est.SentRate, est.ReceivedRate, est.AckedRate}, [3]int64{int64(bytes) * 8 / 10, 9 * 8 / 10, int64(bytes) * 8 / 10})
	est = b.Estimates(b.now)
	check.Equal(t, "of b", [3]int64{est.SentRate, est.ReceivedRate, est.AckedRate}, [3]int64{9 * 8 / 10, int64(bytes) * 8 / 10, 0})
}

// Figures for display over the last 512 (PKE-6).
func TestSamplesForDisplay(t *testing.T) {
	var h history
	check.Equal(t, "none", h.figures(), Samples{})
	var one history
	one.add(5)
	check.Equal(t, "one", one.figures(), Samples{1, 5, 5, 5, 0, 0, 0})
	for _, r := range []core.Micros{30, 10, 20, 41} {
		h.add(r)
	}
	// avg 101/4 = 25; squares 25 + 225 + 25 + 256 = 531; 531/4 = 132; root 11
	check.Equal(t, "four", h.figures(), Samples{4, 10, 41, 25, (101 - 40) / 4, 31, 11})
	for range mostSamples {
		h.add(7)
	}
	check.Equal(t, "512 others", h.figures(), Samples{512, 7, 7, 7, 0, 0, 0})
	h.add(519)
	check.Equal(t, "one of 512", h.figures(), Samples{512, 7, 519, 8, 1, 512, 22})
	for i := range mostSamples {
		h.add(core.Micros(i%2) * longestShown)
	}
	check.Equal(t, "the largest", h.figures(), Samples{512, 0, longestShown, longestShown / 2, longestShown / 2, longestShown, longestShown / 2})
}

func TestSquareRoots(t *testing.T) {
	for v := range uint64(70000) {
		r := isqrt(v)
		check.That(t, r*r <= v && (r+1)*(r+1) > v, "the root")
	}
	check.Equal(t, "the largest", isqrt(1<<64-1), 1<<32-1)
}

// No estimate depends on how often an endpoint is polled, if it is polled in time (PKE-8).
func TestPollingChangesNothing(t *testing.T) {
	run := func(every core.Micros) (Estimates, []string) {
		e := newEnd(t, Config{})
		peer := core.Number(0)
		next := every
		for i := range core.Micros(400) {
			at := i * 33 * ms
			for e.Deadline() <= at || next <= at {
				e.now = min(e.Deadline(), next)
				e.polls()
				if e.now >= next {
					next += every
				}
			}
			e.now = at
			n := e.sent.next
			e.sends("x")
			if i%3 == 0 && n > 9 {
				e.gets(acking(t, peer, n-2, []uint32{1, 0b1001, 0b10000001}[i/3%3]))
				peer++
			}
		}
		return e.Estimates(e.now), e.said()
	}
	est, events := run(core.Second * 1000)
	for _, every := range []core.Micros{ms, 17 * ms, 100 * ms} {
		est2, events2 := run(every)
		check.Equal(t, "estimates", est2, est)
		check.Equal(t, "events", events2, events)
	}
	check.That(t, est.Lost > 0 && est.Settled > est.Lost && est.Patience > 0, "the run has something of each")
}

// What was sent before the path changed gives no sample.
func TestANewPath(t *testing.T) {
	e := newEnd(t, Config{})
	e.sends("x")
	e.ForgetPath(e.now)
	later(100*ms, e)
	e.gets(acking(t, 0, 0, 1))
	check.That(t, !e.Estimates(e.now).Measured, "nothing is measured")
	e.sends("y")
	later(100*ms, e)
	e.gets(acking(t, 1, 1, 1))
	check.Equal(t, "the round trip of the new path", e.Estimates(e.now).SRTT, 100*ms)
}
