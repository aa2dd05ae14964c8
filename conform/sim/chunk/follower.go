package chunk

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Calls are what a sender asks of its scheduler, in order. A tap between the two
// records them, and a follower then gives a model the same answers: the model is exact
// whatever the scheduler is.
type Calls struct {
	list    []Call
	differs string // the first call that the sender did not make
}

// Call is what a sender asked of its scheduler, and the answer.
type Call struct {
	Name      string
	Now       core.Micros
	ChunkID   uint16
	NumSlices int
	Bytes     [2]int
	Said      statemachine.Progress
	Slice     int // of the answer
	Some      bool
}

// Beginning is the call that starts a chunk. Of a single slice only LastBytes counts.
func Beginning(f statemachine.Flight) Call {
	c := Call{Name: "Begin", Now: f.Now, ChunkID: f.ChunkID, NumSlices: f.NumSlices, Bytes: [2]int{f.Bytes, f.LastBytes}}
	if f.NumSlices == 1 {
		c.Bytes[0] = 0
	}
	return c
}

// Record puts a call on record.
func (l *Calls) Record(c Call) { l.list = append(l.list, c) }

// Expect takes the next call off the record. It must be c but for the answer.
func (l *Calls) Expect(c Call) Call {
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

func (l *Calls) note(format string, args ...any) {
	if l.differs == "" {
		l.differs = fmt.Sprintf(format, args...)
	}
}

// Settle ends an event: what is still on record is a call too many. It returns what
// differed.
func (l *Calls) Settle() string {
	for _, c := range l.list {
		l.note("the scheduler was called once more: %+v", c)
	}
	l.list = l.list[:0]
	return l.differs
}

// tap stands between a sender and its scheduler.
type tap struct {
	statemachine.Scheduler
	Calls
}

func (t *tap) Begin(f statemachine.Flight) {
	t.Scheduler.Begin(f)
	t.Record(Beginning(f))
}

func (t *tap) Acked(now core.Micros, p statemachine.Progress) {
	t.Scheduler.Acked(now, p)
	t.Record(Call{Name: "Acked", Now: now, Said: p})
}

func (t *tap) Held(now core.Micros) {
	t.Scheduler.Held(now)
	t.Record(Call{Name: "Held", Now: now})
}

func (t *tap) Next(now core.Micros) (sliceID int, ok bool) {
	sliceID, ok = t.Scheduler.Next(now)
	t.Record(Call{Name: "Next", Now: now, Slice: sliceID, Some: ok})
	return sliceID, ok
}

// follower answers as the scheduler behind a tap has answered, in the same order.
type follower struct{ *tap }

func (f *follower) Begin(flight statemachine.Flight) { f.Expect(Beginning(flight)) }

func (f *follower) Acked(now core.Micros, p statemachine.Progress) {
	f.Expect(Call{Name: "Acked", Now: now, Said: p})
}

func (f *follower) Held(now core.Micros) { f.Expect(Call{Name: "Held", Now: now}) }

func (f *follower) Next(now core.Micros) (sliceID int, ok bool) {
	c := f.Expect(Call{Name: "Next", Now: now})
	return c.Slice, c.Some
}
