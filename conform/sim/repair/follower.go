package repair

import (
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/statemachine"
)

// tap stands between a sender and its scheduler and records the calls.
type tap struct {
	protocol.Scheduler
	chunk.Calls
}

func (t *tap) Begin(f statemachine.Flight) {
	t.Scheduler.Begin(f)
	t.Record(chunk.Beginning(f))
}

func (t *tap) Acked(now core.Micros, have, top int) {
	t.Scheduler.Acked(now, have, top)
	t.Record(acked(now, have, top))
}

func (t *tap) Held(now core.Micros) {
	t.Scheduler.Held(now)
	t.Record(chunk.Call{Name: "Held", Now: now})
}

func (t *tap) Next(now core.Micros) bool {
	due := t.Scheduler.Next(now)
	t.Record(chunk.Call{Name: "Next", Now: now, Some: due})
	return due
}

// Rest implements statemachine.Rester.
func (t *tap) Rest() {
	if r, ok := t.Scheduler.(statemachine.Rester); ok {
		r.Rest()
	}
}

func acked(now core.Micros, have, top int) chunk.Call {
	return chunk.Call{Name: "Acked", Now: now, Counts: [2]int{have, top}}
}

// follower answers as the scheduler behind a tap has answered, in the same order.
type follower struct{ *tap }

func (f *follower) Begin(flight statemachine.Flight) { f.Expect(chunk.Beginning(flight)) }

func (f *follower) Acked(now core.Micros, have, top int) { f.Expect(acked(now, have, top)) }

func (f *follower) Held(now core.Micros) { f.Expect(chunk.Call{Name: "Held", Now: now}) }

func (f *follower) Next(now core.Micros) bool {
	return f.Expect(chunk.Call{Name: "Next", Now: now}).Some
}
