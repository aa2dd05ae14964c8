package chunk

import (
	"fmt"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// tap stands between a sender and its scheduler and records the calls, so that a
// follower can give a model the same answers: the model is then exact whatever the
// scheduler is.
type tap struct {
	statemachine.Scheduler
	calls []call
}

// call is what a sender asked of its scheduler, and the answer.
type call struct {
	name      string
	now       machine.Micros
	chunkID   uint16
	numSlices int
	bytes     [2]int
	news      bitset.Set
	slice     int // of the answer
	some      bool
}

// beginning is the call that starts a chunk. Of a single slice only LastBytes counts.
func beginning(f statemachine.Flight) call {
	c := call{name: "Begin", now: f.Now, chunkID: f.ChunkID, numSlices: f.NumSlices, bytes: [2]int{f.Bytes, f.LastBytes}}
	if f.NumSlices == 1 {
		c.bytes[0] = 0
	}
	return c
}

func (t *tap) record(c call) { t.calls = append(t.calls, c) }

func (t *tap) Begin(f statemachine.Flight) {
	t.Scheduler.Begin(f)
	t.record(beginning(f))
}

func (t *tap) Acked(now machine.Micros, news bitset.Set) {
	t.Scheduler.Acked(now, news)
	t.record(call{name: "Acked", now: now, news: news})
}

func (t *tap) Held(now machine.Micros) {
	t.Scheduler.Held(now)
	t.record(call{name: "Held", now: now})
}

func (t *tap) Next(now machine.Micros) (sliceID int, ok bool) {
	sliceID, ok = t.Scheduler.Next(now)
	t.record(call{name: "Next", now: now, slice: sliceID, some: ok})
	return sliceID, ok
}

// Rest implements statemachine.Rester.
func (t *tap) Rest() {
	if r, ok := t.Scheduler.(statemachine.Rester); ok {
		r.Rest()
	}
}

// follower answers as the scheduler behind a tap has answered, in the same order.
type follower struct {
	*tap
	differs string // the first call that the sender did not make
}

// expect takes the next call off the record. It must be c but for the answer.
func (f *follower) expect(c call) call {
	if len(f.calls) == 0 {
		f.note("the scheduler was not called: %+v", c)
		return c
	}
	got := f.calls[0]
	f.calls = f.calls[1:]
	if c.slice, c.some = got.slice, got.some; got != c {
		f.note("the scheduler was called with %+v, want %+v", got, c)
	}
	return got
}

func (f *follower) note(format string, args ...any) {
	if f.differs == "" {
		f.differs = fmt.Sprintf(format, args...)
	}
}

// settle ends an event: what is still on record is a call too many. It returns what
// differed.
func (f *follower) settle() string {
	for _, c := range f.calls {
		f.note("the scheduler was called once more: %+v", c)
	}
	f.calls = f.calls[:0]
	return f.differs
}

func (f *follower) Begin(flight statemachine.Flight) { f.expect(beginning(flight)) }

func (f *follower) Acked(now machine.Micros, news bitset.Set) {
	f.expect(call{name: "Acked", now: now, news: news})
}

func (f *follower) Held(now machine.Micros) { f.expect(call{name: "Held", now: now}) }

func (f *follower) Next(now machine.Micros) (sliceID int, ok bool) {
	c := f.expect(call{name: "Next", now: now})
	return c.slice, c.some
}
