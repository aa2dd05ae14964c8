package base

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// What no vector shows; all else that the scheduler does is in TestVectors.

// The cost of a slice is its datagram and 28 bytes; a last one has its own
// length and a byte more (BUD-2).
func TestWhatASliceCosts(t *testing.T) {
	b := check.Must(New(atOnce))
	b.Begin(statemachine.Flight{NumSlices: 3, Bytes: 13 + 1024, LastBytes: 14 + 100})
	check.Equal(t, "first", b.cost(0), 13+1024+28)
	check.Equal(t, "last but one", b.cost(1), 13+1024+28)
	check.Equal(t, "last", b.cost(2), 14+100+28)
}

func TestSpuriousResendsAreObserved(t *testing.T) {
	f := fly(t, atOnce, 3)
	f.sends(0, 1, 2)
	f.at(50 * ms).acked(2)
	f.sends(0)
	f.seen = nil
	f.at(60 * ms).acked(0)
	check.Equal(t, "observed", f.seen, []eventlog.Event{{Kind: eventlog.SliceSpurious, At: 60 * ms, SliceID: 0}})
}

// One sample for three slices (RTT-1, RTT-2).
func TestTheNewestSliceThatWasSentOnceIsTheSample(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 3)
	for id := range 3 {
		f.at(core.Micros(id) * ms).sends(id)
	}
	f.at(50*ms).acked(0, 1, 2)
	check.Equal(t, "samples", f.sampled(), []core.Micros{48 * ms})
	check.Equal(t, "smoothed", f.Stats().SmoothedRTT, 48*ms)
	check.Equal(t, "minimum", f.Stats().MinRTT, 48*ms)
}

// What came back too fast was the original (RTT-3).
func TestTheNewestResentSliceThatCanHaveArrivedIsTheSample(t *testing.T) {
	f := fly(t, atOnce, 6)
	f.sends(0, 1, 2, 3, 4, 5)
	f.at(50 * ms).acked(3)
	f.sends(0, 1)
	f.at(55 * ms).acked(5)
	f.sends(2)
	f.at(104*ms).acked(0, 2) // 2 cannot have come in 49 ms, 0 can in 54
	check.Equal(t, "samples", f.sampled(), []core.Micros{50 * ms, 55 * ms, 54 * ms})
	check.Equal(t, "minimum", f.Stats().MinRTT, 50*ms)
}

// Of two resent slices the one that was sent later counts, also when it is the
// one with the smaller id.
func TestNewerIsWhatWasSentLater(t *testing.T) {
	f := fly(t, atOnce, 8)
	f.sends(chunktest.Range(0, 7)...)
	f.at(50*ms).acked(1, 2, 4, 5)
	f.sends(0, 3)
	f.at(60 * ms).acked(7)
	f.sends() // 6 by one only
	f.at(100 * ms)
	f.slices[0].last, f.slices[0].lastAt = 11, 70*ms // as if 0 was sent again
	f.at(125*ms).acked(0, 3)
	check.Equal(t, "samples", f.sampled(), []core.Micros{50 * ms, 60 * ms, 55 * ms})
}

// The shortest fixed resend delay is one, and not none, of a hold as well (TMR-2, TMR-6).
func TestAResendDelayOfAMicrosecond(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, ResendDelay: 1}, 1)
	f.sends(0)
	check.Equal(t, "deadline", f.Deadline(), 1)
	f.Held(0)
	check.Equal(t, "deadline of a hold", f.Deadline(), 1)
	f = fly(t, Profile{Cap: maxCost, ResendDelay: 1}, 2)
	f.sends(0, 1)
	f.at(50 * ms).acked(1)
	check.Equal(t, "deadline after news, without a margin", f.Deadline(), 50*ms)
}

// The records of a chunk take the memory of those before, as many as it has slices.
func TestRecordsAreUsedAgain(t *testing.T) {
	f := fly(t, atOnce, 98)
	first := &f.slices[0]
	for _, n := range []int{98, 3, 98} {
		f.begin(n)
		check.Equal(t, "records", len(f.slices), n)
		check.That(t, &f.slices[0] == first, "they are in the same memory")
	}
}

// A sender that rests holds nothing of the chunk that was sent, and sends the next
// one like any other; one with a chunk in flight does not rest.
func TestASenderRests(t *testing.T) {
	b := check.Must(New(atOnce))
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: b}))
	for id := range uint16(3) {
		check.Same(t, "submit", s.Submit(0, make([]byte, 100_000)), nil)
		s.Poll(0)
		s.Rest()
		check.Equal(t, "records while a chunk is in flight", len(b.slices), 98)
		for _, ok := s.Poll(0); ok; _, ok = s.Poll(0) {
		}
		s.Rest()
		check.Equal(t, "records when all is sent", len(b.slices), 98)
		s.HandleAck(0, chunktest.FullAck(id, 98))
		s.Rest()
		check.That(t, b.slices == nil, "nothing is held at rest")
		check.Equal(t, "deadline", s.Deadline(), core.Never)
	}
	other := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: struct{ statemachine.Scheduler }{b}}))
	other.Rest() // its scheduler cannot: nothing happens
}

// The log gets the figures at most once a round trip, and what was lost is not in flight.
func TestFiguresOfTheLog(t *testing.T) {
	f := fly(t, Profile{Rate: 8_000_000, Cap: 10 * maxCost, Burst: 10 * maxCost}, 5)
	f.Next(0)
	f.at(2*ms).sends(1, 2, 3, 4)
	f.at(52 * ms).acked(4)
	f.at(102*ms - 1).acked(0)
	f.at(102 * ms).acked(1)
	var at []core.Micros
	var flying []int
	for _, e := range f.seen {
		if e.Kind == eventlog.Metrics {
			check.Equal(t, "rate and mode", []any{e.Rate, e.Mode}, []any{int64(8_000_000), modeBase})
			at, flying = append(at, e.At), append(flying, e.InFlight)
		}
	}
	check.Equal(t, "times", at, []core.Micros{0, 52 * ms, 102 * ms})
	check.Equal(t, "in flight", flying, []int{1, 1, 1}) // slice 0, the first; then 3, as the others are lost
}

// The log tells why a slice was lost and is sent again, and the figures count it (GAP-1, GAP-2, TMR-4, TMR-6).
func TestWhatTheLogTells(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, ResendDelay: 30 * ms}, 5)
	f.sends(0, 1, 2, 3, 4)
	sampled := func(id int, rtt core.Micros) eventlog.Event {
		return eventlog.Event{Kind: eventlog.RTTSampled, SliceID: id, RTT: rtt}
	}
	lost := func(why string, id int) eventlog.Event {
		return eventlog.Event{Kind: eventlog.SliceLost, SliceID: id, Why: why}
	}
	for _, step := range []struct {
		at   core.Micros
		do   func()
		told []eventlog.Event
		sent []int
		why  []string
	}{
		{50 * ms, func() { f.acked(4) }, []eventlog.Event{
			sampled(4, 50*ms), lost(eventlog.Overtaken, 0), lost(eventlog.Overtaken, 1), lost(eventlog.Overtaken, 2),
		}, []int{0, 1, 2}, []string{eventlog.Lost, eventlog.Lost, eventlog.Lost}},
		{80*ms - 1, func() {}, nil, nil, nil},
		{80 * ms, func() {}, []eventlog.Event{lost(eventlog.Timeout, 3), lost(eventlog.Timeout, 2)}, []int{3, 2}, []string{eventlog.Timeout, eventlog.Timeout}},
		{90 * ms, func() { f.Held(f.now) }, nil, nil, nil},
		{120 * ms, func() {}, []eventlog.Event{lost(eventlog.Timeout, 1)}, []int{1}, []string{eventlog.Probe}},
		{130 * ms, func() { f.acked(1) }, []eventlog.Event{{Kind: eventlog.SliceSpurious, SliceID: 1}}, nil, nil},
		{150 * ms, func() {}, []eventlog.Event{
			lost(eventlog.Overtaken, 0), lost(eventlog.Overtaken, 3), lost(eventlog.Timeout, 3), lost(eventlog.Timeout, 2),
		}, []int{2, 3, 0}, []string{eventlog.Timeout, eventlog.Timeout, eventlog.Lost}},
		{200 * ms, func() { f.acked(0) }, []eventlog.Event{sampled(0, 50*ms), lost(eventlog.Overtaken, 2)}, []int{2}, []string{eventlog.Lost}},
	} {
		f.seen = nil
		f.at(step.at)
		step.do()
		f.sends(step.sent...)
		for i := range step.told {
			step.told[i].At = step.at
		}
		check.Equal(t, "told", slices.DeleteFunc(f.seen, func(e eventlog.Event) bool { return e.Kind == eventlog.Metrics }), step.told)
		for i, id := range step.sent {
			check.Equal(t, "why", f.Why(id), step.why[i])
		}
	}
	st := f.Stats()
	check.Equal(t, "lost, timeouts, spurious", []int64{st.Lost, st.Timeouts, st.Spurious}, []int64{6, 3, 1})
}

// Nothing of a chunk is left when the next one begins (SCH-5).
func TestAChunkBeginsAnew(t *testing.T) {
	f := fly(t, atOnce, 5)
	f.all()
	f.at(50 * ms).acked(3)
	f.Moved()
	f.Held(f.now)
	f.at(2 * core.Second).all()
	f.at(3 * core.Second).begin(3)
	type perChunk struct {
		unacked, due                  core.Set
		cursor, probe                 int
		count, arrived, atBest, moved uint32
		sentAt, newsAt                core.Micros
		backoff                       uint
		held                          bool
	}
	check.Same(t, "variables", perChunk{f.unacked, f.due, f.cursor, f.probe, f.count, f.arrived, f.atBest, f.moved, f.sentAt, f.newsAt, f.backoff, f.held},
		perChunk{unacked: core.FirstN(3), due: core.FirstN(3), probe: 3, sentAt: f.now, newsAt: f.now})
}
