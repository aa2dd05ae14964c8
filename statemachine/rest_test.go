package statemachine

import "testing"

// Receivers that share a Memory hold none once a chunk was read, and the next
// chunk of any of them uses it again (BND-1).
func TestSharedMemory(t *testing.T) {
	var shared Memory
	a := NewReceiver(ReceiverConfig{Memory: &shared})
	b := NewReceiver(ReceiverConfig{Memory: &shared})
	for id := range 256 {
		give(a, sliceOf(0, id, 256))
	}
	chunk, err := a.Read(0, nil)
	must(t, err == nil && len(chunk) == 256*1024, "a chunk")
	must(t, a.slices == nil, "nothing is held")
	wantEqual(t, "slices free", len(shared.free), 256)

	give(b, sliceOf(0, 1, 2), sliceOf(0, 0, 2))
	wantEqual(t, "slices free", len(shared.free), 254)
	_, _ = b.Read(0, nil)
	wantEqual(t, "slices free", len(shared.free), 256)
	must(t, cap(b.slices) > 0 && len(b.slices) == 0, "a short table is kept")
}

// What is free stays within a bound, whatever was used at once (BND-1).
func TestSharedMemoryIsBounded(t *testing.T) {
	var shared Memory
	var table []*[1024]byte
	for range 3 * mostFree {
		table = append(table, shared.take())
	}
	shared.release(table)
	wantEqual(t, "slices free", len(shared.free), mostFree)
}

// A sender that rests holds nothing of the chunk that was sent, and sends the
// next one like any other; one with a chunk in flight does not rest.
func TestRest(t *testing.T) {
	base := NewBase(Fixed(0))
	s := NewSender(SenderConfig{Scheduler: base})
	for id := range uint16(3) {
		_ = s.Submit(0, chunkOf(100_000, 1))
		for range slicesOut(s, 0) {
		}
		s.Rest()
		must(t, base.slices != nil, "no rest in flight")
		s.HandleAck(0, fullAck(id, 98))
		wantEqual(t, "state", s.State(), SenderIdle)
		s.Rest()
		must(t, base.slices == nil, "nothing is held")
		wantEqual(t, "deadline", s.Deadline(), Never)
	}
}
