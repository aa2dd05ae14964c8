package statemachine

import "testing"

// A sender that rests holds nothing of the chunk that was sent, and sends the
// next one like any other; one with a chunk in flight does not rest.
func TestASenderRests(t *testing.T) {
	base := NewBase(atOnce)
	s := NewSender(SenderConfig{Scheduler: base})
	for id := range uint16(3) {
		_ = s.Submit(0, chunkOf(100_000, 1))
		s.Poll(0)
		s.Rest()
		wantEqual(t, "notes while a chunk is in flight", len(base.slices), 98)
		for range slicesOut(s, 0) {
		}
		s.Rest()
		wantEqual(t, "notes when all is sent", len(base.slices), 98)
		s.HandleAck(0, fullAck(id, 98))
		wantEqual(t, "state", s.State(), SenderIdle)
		s.Rest()
		wantEqual(t, "notes at rest", cap(base.slices), 0)
		must(t, base.slices == nil, "nothing is held")
		wantEqual(t, "deadline", s.Deadline(), Never)
	}
	other := NewSender(SenderConfig{Scheduler: struct{ Scheduler }{base}})
	other.Rest() // a scheduler that cannot: nothing happens
}
