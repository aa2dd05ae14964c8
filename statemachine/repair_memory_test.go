package statemachine

import (
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// garbage returns a slice of 256 with any bytes.
func garbage(chunkID uint16, id int) codec.Slice {
	return codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: 256, LastBytes: 1024, Data: make([]byte, 1024)}
}

// Memory is taken as slices arrive: a slice costs itself, its row and pointers, not what it
// announces (RPR-14, RPV-BND-1).
func TestRepairMemoryGrowsWithWhatArrives(t *testing.T) {
	// The least of three: the heap is that of all that runs.
	grown := func(slices ...codec.Slice) int64 {
		least := int64(math.MaxInt64)
		for range 3 {
			r := newReceiver(codec.Repair, 0)
			before := check.Heap()
			give(r, slices...)
			least = min(least, check.Heap()-before)
			check.Same(t, "state", r.State(), ReceiverReceiving)
		}
		return least
	}
	source, repair := []codec.Slice{garbage(0, 200)}, []codec.Slice{garbage(0, 8000)}
	const table = 3 * 1024 // pointers and ids of 256 slices
	if n := grown(source...); n > 1024+table {
		t.Errorf("one source slice takes %d bytes", n)
	}
	if n := grown(repair...); n > 13*1024+table {
		t.Errorf("one repair slice takes %d bytes", n)
	}
	var all []codec.Slice
	for id := range 255 {
		all = append(all, garbage(0, 256+id))
	}
	if n := grown(append(all, all...)...); n > (256+64+20)*1024+table { // 255 slices, rows of 256 bytes, scratch
		t.Errorf("255 repair slices take %d bytes", n)
	}
}

// A forged slice of a chunk that is not expected costs nothing (RCV-4, RPV-BND-1).
func TestRepairForeignSlicesCostNoMemory(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	foreign := garbage(5, 300)
	check.Equal(t, "allocations", testing.AllocsPerRun(100, func() { r.HandleSlice(0, foreign) }), 0)
	check.That(t, cap(heldBy(r).held) == 0, "no table")
}

// Receivers that share a Memory never write where another's bytes are, in whatever
// order they begin, are read and begin again.
func TestRepairReceiversShareAMemory(t *testing.T) {
	var m Memory
	receivers := [3]*Receiver{sharing(codec.Repair, &m), sharing(codec.Repair, &m), sharing(codec.Repair, &m)}
	for round := range 9 {
		k := func(i int) int { return 1 + (round+i)%4 }
		// All are full at the same time, and their slices came in turn: a repair slice of each
		// kind, among them dependent ones.
		for id := range 12 {
			for i, r := range receivers {
				if r.State() != ReceiverReady {
					r.HandleSlice(0, sliceOf(r.chunkID, (7*id+i)%12, k(i)))
				}
			}
		}
		for i, r := range receivers {
			got, err := r.Read(0, nil)
			check.Same(t, "error", err, nil)
			check.Bytes(t, "chunk", got, chunkOf(r.chunkID-1, k(i)))
			check.Same(t, "inconsistent", r.Stats().Inconsistent, 0)
		}
	}
}

// A chunk that was read leaves nothing behind in a receiver that shares its Memory; one that
// does not keeps its tables for the next chunk.
func TestRepairAnIdleReceiverHoldsNoMemory(t *testing.T) {
	for _, r := range []*Receiver{sharing(codec.Repair, new(Memory)), newReceiver(codec.Repair, 0)} {
		for id := range 256 {
			give(r, garbage(0, 255+id))
		}
		for id := 600; r.State() != ReceiverReady; id++ {
			give(r, garbage(0, id))
		}
		_, _ = r.Read(0, nil)
		check.Equal(t, "the table is kept", cap(heldBy(r).held) >= 256, !heldBy(r).shared)
		give(r, ids(1, 3, 0, 5, 3, 1)...)
		got, _ := r.Read(0, nil)
		check.Bytes(t, "next chunk", got, chunkOf(1, 3))
		if heldBy(r).shared {
			check.That(t, cap(heldBy(r).held) > 0, "a short table is kept")
		}
	}
}

// Once a machine is running, no event allocates: a second chunk of which some slices are
// lost, doubled and late.
func TestNothingIsAllocatedOnceItIsRunning(t *testing.T) {
	sched := &quietly{}
	s, r := newSender(codec.Repair, 0, sched), newReceiver(codec.Repair, 0)
	chunk := erasure.Encode(chunkOf(0, 100))
	dst := make([]byte, 0, codec.MaxChunkSize)
	var now core.Micros
	transfer := func() {
		check.Same(t, "submit", s.SubmitEncoded(now, chunk), nil)
		for n := 0; s.State() == SenderSending; n++ {
			now += 100
			if p, ok := s.Poll(now); ok && n%7 != 3 {
				r.HandleSlice(now, p)
				r.HandleSlice(now, p)
			}
			for a, ok := r.Poll(now); ok; a, ok = r.Poll(now) {
				s.HandleAck(now, a)
			}
		}
		dst, _ = r.Read(now, dst[:0])
		check.Same(t, "size", len(dst), 99*1024+lastBytes)
	}
	for range 3 {
		transfer()
	}
	check.Equal(t, "allocations", testing.AllocsPerRun(20, transfer), 0)
}

// quietly is a scheduler that always sends, and writes nothing down.
type quietly struct{ NoPath }

func (*quietly) Begin(Flight)                 {}
func (*quietly) Acked(core.Micros, Progress)  {}
func (*quietly) Held(core.Micros)             {}
func (*quietly) Next(core.Micros) (int, bool) { return 0, true }
func (*quietly) Deadline() core.Micros        { return 0 }
func (*quietly) Stats() ScheduleStats         { return ScheduleStats{} }

// A read without a buffer allocates one of the chunk's size, and not by doubling.
func TestRepairAReadAllocatesOnce(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	for id := range 256 {
		give(r, garbage(0, id))
	}
	got, _ := r.Read(0, nil)
	check.Equal(t, "room", cap(got), codec.MaxChunkSize)
}

// Senders share a chunk: each repair slice that is kept is made once (RPC-7).
func TestSendersShareAChunk(t *testing.T) {
	chunk := erasure.Encode(chunkOf(0, 3))
	a, b := newSender(codec.Repair, 0, &scripted{}), newSender(codec.Repair, 77, &scripted{})
	for _, s := range []*Sender{a, b} {
		check.Same(t, "submit", s.SubmitEncoded(0, chunk), nil)
	}
	ofA, ofB := sends(a, 20), sends(b, 20)
	for i := range ofA {
		check.That(t, &ofA[i].Data[0] == &ofB[i].Data[0], "the same bytes")
		check.Equal(t, "ids of the chunks", []uint16{ofA[i].ChunkID, ofB[i].ChunkID}, []uint16{0, 77})
	}
}

// What a caller appends to a slice's data must not end up in the next slice.
func TestRepairSlicesHaveNoRoomBehindThem(t *testing.T) {
	for _, p := range sends(startedSender(codec.Repair), 5) {
		check.Same(t, "room", cap(p.Data), len(p.Data))
	}
}
