package statemachine

import (
	"encoding/binary"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// Field note 13: more chunks than there are ids, twice over, in one run. Each has bytes
// of its own, and each is followed by late duplicates of the chunk before (CID-2).
func TestNote13MoreChunksThanIDs(t *testing.T) {
	const chunks = 1<<17 + 100
	s := NewSender(SenderConfig{FirstChunkID: 65535, Scheduler: NewBase(Fixed(0))})
	r := NewReceiver(ReceiverConfig{FirstChunkID: 65535})
	chunk, got := make([]byte, 8), make([]byte, 0, 8)
	now := Micros(0)
	for i := range uint64(chunks) {
		now += 3 * ms
		binary.LittleEndian.PutUint64(chunk, i)
		if err := s.Submit(now, chunk); err != nil {
			t.Fatal(err)
		}
		p, ok := s.Poll(now)
		if !ok || p.ChunkID != uint16(65535+i) {
			t.Fatalf("chunk %d: id %d, %v", i, p.ChunkID, ok)
		}
		r.HandleSlice(now, p)
		got, _ = r.Read(now, got[:0])
		if binary.LittleEndian.Uint64(got) != i {
			t.Fatalf("chunk %d arrives as %x", i, got)
		}
		a, ok := r.Poll(now)
		if !ok || a != fullAck(p.ChunkID, 1) {
			t.Fatalf("chunk %d: ack %v", i, a)
		}
		r.HandleSlice(now, p) // doubled, and late
		s.HandleAck(now, a)
		s.HandleAck(now, a)
		if s.State() != SenderIdle || r.State() != ReceiverWaiting {
			t.Fatalf("chunk %d: %v, %v", i, s.State(), r.State())
		}
	}
	wantEqual(t, "chunks", []int64{s.Stats().Chunks, r.Stats().Chunks}, []int64{chunks, chunks})
	wantEqual(t, "duplicates", r.Stats().Duplicates, chunks)
}

// Field note 13: ids are compared for equality only. A chunk from exactly half the range
// away is neither the current nor the previous one (CID-3, RCV-3, RCV-4).
func TestNote13OnlyEqualityCounts(t *testing.T) {
	for _, first := range []uint16{0, 1, 32767, 32768, 65535} {
		r := NewReceiver(ReceiverConfig{FirstChunkID: first})
		give(r, sliceOf(first, 0, 1))
		_, _ = r.Read(0, nil)
		want := map[uint16]Row{first: R3PreviousSlice, first + 1: R1OnlySlice}
		for _, away := range []uint16{0, 1, 2, 32767, 32768, 32769, 65534, 65535} {
			twin := *r
			twin.slices = nil
			give(&twin, sliceOf(first+away, 0, 1))
			row, known := want[first+away]
			if !known {
				row = R4ForeignSlice
			}
			if twin.Row() != row {
				t.Errorf("chunk %d after %d: row %v, want %v", first+away, first, twin.Row(), row)
			}
		}
	}
}

// Chunks of several slices across the wrap, with a loss each.
func TestNote13LossesAcrossTheWrap(t *testing.T) {
	c := converseFrom(t, 65530)
	for i := range uint16(12) {
		id := 65530 + i
		chunk := chunkOf(3000, uint32(i))
		c.submit(chunk)
		c.send(0, 1, 2)
		c.lose(1)
		c.arrive()
		c.answer(ackOf(id, "101"))
		c.loseAcks()
		c.sendAgain()
		c.arrive()
		c.answer(ackOf(id, "111"))
		c.loseAcks()
		c.read(chunk)
		c.advance(2 * ms)
		c.forge(slicesOf(id, chunk)[0])
		c.answer(fullAck(id, codec.NumSlices(len(chunk))))
		c.hear()
		c.states(SenderIdle, ReceiverWaiting)
		c.advance(Second)
	}
}
