package chunk

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// calls are what a sender asks of its scheduler, in order. A tap between the two
// records them, and a follower then gives a model the same answers: the model is exact
// whatever the scheduler is.
type calls struct {
	list    []call
	differs string // the first call that the sender did not make
}

// call is what a sender asked of its scheduler, and the answer.
type call struct {
	Name      string
	Now       core.Micros
	ChunkID   uint16
	NumSlices int
	Bytes     [2]int
	Said      statemachine.Progress
	Slice     int // of the answer
	Some      bool
}

// beginning is the call that starts a chunk. Of a single slice only LastBytes counts.
func beginning(f statemachine.Flight) call {
	c := call{Name: "Begin", Now: f.Now, ChunkID: f.ChunkID, NumSlices: f.NumSlices, Bytes: [2]int{f.Bytes, f.LastBytes}}
	if f.NumSlices == 1 {
		c.Bytes[0] = 0
	}
	return c
}

// record puts a call on record.
func (l *calls) record(c call) { l.list = append(l.list, c) }

// expect takes the next call off the record. It must be c but for the answer.
func (l *calls) expect(c call) call {
	if len(l.list) == 0 {
		l.note("the scheduler was not called: %+v", c)
		return c
	}
	got := l.list[0]
	l.list = l.list[1:]
	if c.Slice, c.Some = got.Slice, got.Some; got != c {
		l.note("the scheduler was called with %+v, want %+v", got, c)
	}
	return got
}

func (l *calls) note(format string, args ...any) {
	if l.differs == "" {
		l.differs = fmt.Sprintf(format, args...)
	}
}

// Settle ends an event: what is still on record is a call too many. It returns what
// differed.
func (l *calls) Settle() string {
	for _, c := range l.list {
		l.note("the scheduler was called once more: %+v", c)
	}
	l.list = l.list[:0]
	return l.differs
}

// tap stands between a sender and its scheduler.
type tap struct {
	statemachine.Scheduler
	calls
}

func (t *tap) Begin(f statemachine.Flight) {
	t.Scheduler.Begin(f)
	t.record(beginning(f))
}

func (t *tap) Acked(now core.Micros, p statemachine.Progress) {
	t.Scheduler.Acked(now, p)
	t.record(call{Name: "Acked", Now: now, Said: p})
}

func (t *tap) Held(now core.Micros) {
	t.Scheduler.Held(now)
	t.record(call{Name: "Held", Now: now})
}

func (t *tap) Next(now core.Micros) (sliceID int, ok bool) {
	sliceID, ok = t.Scheduler.Next(now)
	t.record(call{Name: "Next", Now: now, Slice: sliceID, Some: ok})
	return sliceID, ok
}

// follower answers as the scheduler behind a tap has answered, in the same order.
type follower struct{ *tap }

func (f *follower) Begin(flight statemachine.Flight) { f.expect(beginning(flight)) }

func (f *follower) Acked(now core.Micros, p statemachine.Progress) {
	f.expect(call{Name: "Acked", Now: now, Said: p})
}

func (f *follower) Held(now core.Micros) { f.expect(call{Name: "Held", Now: now}) }

func (f *follower) Next(now core.Micros) (sliceID int, ok bool) {
	c := f.expect(call{Name: "Next", Now: now})
	return c.Slice, c.Some
}
