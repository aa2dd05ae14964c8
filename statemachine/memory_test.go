package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// Field note 30: memory is taken as slices arrive: a slice costs itself and pointers, not
// what it announces (RCV-18, BND-1).
func TestNote30MemoryGrowsWithWhatArrives(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	kept := func() (n int) {
		for _, s := range r.slices {
			if s != nil {
				n++
			}
		}
		return n
	}
	give(r, sliceOf(0, 200, 256))
	wantEqual(t, "slices kept", kept(), 1)
	give(r, sliceOf(0, 3, 256), sliceOf(0, 3, 256), sliceOf(0, 3, 4), sliceOf(1, 0, 256))
	wantEqual(t, "slices kept", kept(), 2)
	for id := range 256 {
		give(r, sliceOf(0, id, 256))
	}
	wantEqual(t, "slices kept", kept(), 256)
	give(r, sliceOf(1, 7, 256)) // held, not stored
	_, _ = r.Read(0, nil)
	for id := range 256 {
		give(r, sliceOf(1, id, 256))
	}
	wantEqual(t, "slices kept", kept(), 256)
	wantEqual(t, "room for slices", len(r.slices), codec.MaxSlices)
}

// Field note 30: the memory of a chunk is used again for the next one.
func TestNote30MemoryIsUsedAgain(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	give(r, sliceOf(0, 0, 2), sliceOf(0, 1, 2))
	before := [2]*[codec.SliceSize]byte{r.slices[0], r.slices[1]}
	_, _ = r.Read(0, nil)
	give(r, sliceOf(1, 1, 2), sliceOf(1, 0, 2))
	must(t, before == [2]*[codec.SliceSize]byte{r.slices[0], r.slices[1]}, "the same memory")
}

// Field note 30: control state is one pending ack a chunk, not a queue: after any flood
// three acks are due at the most (ACQ-2).
func TestNote30PendingAcksDoNotPileUp(t *testing.T) {
	r := readyReceiver()
	previous, early, foreign := sliceOf(7, 0, 2), sliceOf(8, 0, 3), sliceOf(9, 0, 3)
	for range 10_000 {
		give(r, previous, early, foreign)
	}
	r.Poll(r.Deadline())
	r.Poll(r.now)
	noAck(t, r, r.now)
	wantEqual(t, "deadline", r.Deadline(), Never)
}

// Once the machines are running no event allocates.
func TestNothingIsAllocatedOnceRunning(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(Fixed(0)), Observe: func(Observation) {}})
	r := NewReceiver(ReceiverConfig{})
	chunk := chunkOf(20_000, 1)
	buffer := make([]byte, 0, len(chunk))
	now := Micros(0)
	exchange := func() {
		now += Second
		_ = s.Submit(now, chunk)
		_ = s.Submit(now, chunk) // refused
		for p := range slicesOut(s, now) {
			if p.SliceID%3 == 1 && s.Stats().SlicesResent%9 == 0 {
				continue // lost
			}
			r.HandleSlice(now, p)
			r.HandleSlice(now, p)
			if p.SliceID == 4 {
				p.NumSlices++
				r.HandleSlice(now, p) // conflicts
			}
		}
		for range mostAtOnce {
			if s.State() != SenderSending {
				break
			}
			now = max(now, min(s.Deadline(), r.Deadline()))
			for a := range acksOut(r, now) {
				s.HandleAck(now, a)
				a.ChunkID++
				s.HandleAck(now, a)
			}
			for p := range slicesOut(s, now) {
				r.HandleSlice(now, p)
			}
		}
		r.HandleSlice(now, codec.Slice{ChunkID: r.ChunkID(), NumSlices: 1, Data: chunk[:1]}) // held
		_, _ = r.Read(now, buffer)
		_, _ = r.Read(now, buffer) // refused
		r.HandleSlice(now, codec.Slice{NumSlices: 300})
		_, _, _, _ = s.Stats(), r.Stats(), s.Acked(), r.Received()
	}
	exchange()
	if n := testing.AllocsPerRun(50, exchange); n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
	wantEqual(t, "sender", s.State(), SenderIdle)
	must(t, s.Stats().SlicesResent > 0 && r.Stats().Held > 0 && r.Stats().Conflicts > 0, "all sorts of events")
}

// Neither does giving up.
func TestGivingUpAllocatesNothing(t *testing.T) {
	chunk := chunkOf(3000, 1)
	s := NewSender(SenderConfig{Scheduler: NewBase(Fixed(0))})
	_ = s.Submit(0, chunk)
	r := give(NewReceiver(ReceiverConfig{}), sliceOf(0, 0, 2))
	if n := testing.AllocsPerRun(10, func() {
		s.Poll(DefaultGiveUp)
		r.Poll(DefaultGiveUp)
		_, _ = s.Err(), r.Err()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
