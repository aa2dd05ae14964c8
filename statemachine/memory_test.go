package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

// Memory is taken as slices arrive: a slice costs itself and pointers, not what it
// announces (RCV-18, BND-1).
func TestMemoryGrowsWithWhatArrives(t *testing.T) {
	r := newReceiver(codec.Named, 0)
	kept := func() (n int) {
		for _, s := range receivedOf(r).slices {
			if s != nil {
				n++
			}
		}
		return n
	}
	give(r, chunktest.Slice(0, 200, 256))
	check.Equal(t, "slices kept", kept(), 1)
	give(r, chunktest.Slice(0, 3, 256), chunktest.Slice(0, 3, 256), chunktest.Slice(0, 3, 4), chunktest.Slice(1, 0, 256))
	check.Equal(t, "slices kept", kept(), 2)
	for id := range 256 {
		give(r, chunktest.Slice(0, id, 256))
	}
	check.Equal(t, "slices kept", kept(), 256)
	give(r, chunktest.Slice(1, 7, 256)) // held, not stored
	_, _ = r.Read(0, nil)
	for id := range 256 {
		give(r, chunktest.Slice(1, id, 256))
	}
	check.Equal(t, "slices kept", kept(), 256)
	check.Equal(t, "room for slices", len(receivedOf(r).slices), codec.MaxSlices)
}

// The memory of a chunk is used again for the next one (BND-1).
func TestMemoryIsUsedAgain(t *testing.T) {
	r := newReceiver(codec.Named, 0)
	give(r, chunktest.Slice(0, 0, 2), chunktest.Slice(0, 1, 2))
	before := [2]*[codec.SliceSize]byte{receivedOf(r).slices[0], receivedOf(r).slices[1]}
	_, _ = r.Read(0, nil)
	give(r, chunktest.Slice(1, 1, 2), chunktest.Slice(1, 0, 2))
	check.That(t, before == [2]*[codec.SliceSize]byte{receivedOf(r).slices[0], receivedOf(r).slices[1]}, "the same memory")
}

// A forged slice of a chunk that is not expected costs nothing (RCV-4, BND-1).
func TestForeignSlicesCostNoMemory(t *testing.T) {
	r := newReceiver(codec.Named, 0)
	for n := 1; n <= 256; n++ {
		give(r, chunktest.Slice(5, 0, n))
	}
	noAck(t, r, year)
	check.Equal(t, "memory", len(receivedOf(r).slices), 0)
}

// room is a table of n slices, each with its own bytes.
func room(n int) []*[codec.SliceSize]byte {
	table := make([]*[codec.SliceSize]byte, n)
	for i := range table {
		table[i] = new([codec.SliceSize]byte)
	}
	return table
}

func sharing(kind codec.Kind, m *Memory) *Receiver {
	return check.Must(NewReceiver(ReceiverConfig{Kind: kind, Memory: m}))
}

// Receivers that share a Memory never write where another's bytes are, in whatever
// order they begin, are read and begin again.
func TestReceiversShareAMemory(t *testing.T) {
	var m Memory
	receivers := [3]*Receiver{sharing(codec.Named, &m), sharing(codec.Named, &m), sharing(codec.Named, &m)}
	var chunks [3][]byte
	for round := range 9 {
		// All are full at the same time, and their slices came in turn.
		for i := range chunks {
			chunks[i] = chunktest.Chunk((1+(round+i)%4)*1024+i, uint32(10*round+i))
		}
		for k := range 5 {
			for i, r := range receivers {
				if list := chunktest.Slices(r.chunkID, chunks[i]); k < len(list) {
					r.HandleSlice(0, list[k])
				}
			}
		}
		for i, r := range receivers {
			got, err := r.Read(0, nil)
			check.Same(t, "error", err, nil)
			check.Bytes(t, "chunk", got, chunks[i])
		}
	}
}

// A chunk that was read leaves nothing behind in its receiver, and everything in the
// Memory; the next chunk of any receiver uses it again (BND-1).
func TestAnIdleReceiverHoldsNoMemory(t *testing.T) {
	var m Memory
	a, b := sharing(codec.Named, &m), sharing(codec.Named, &m)
	for id := range 256 {
		give(a, chunktest.Slice(0, id, 256))
	}
	_, _ = a.Read(0, nil)
	check.That(t, receivedOf(a).slices == nil, "a long table is not kept")
	check.Equal(t, "slices free", len(m.taken().free), 256)

	give(b, chunktest.Slices(0, chunktest.Chunk(3*1024, 1))...)
	check.Equal(t, "slices free", len(m.taken().free), 253)
	for _, s := range m.taken().free[253:256] {
		check.That(t, s == nil, "what is lent is not held here, too")
	}
	_, _ = b.Read(0, nil)
	check.Equal(t, "slices free", len(m.taken().free), 256)
	check.That(t, cap(receivedOf(b).slices) > 0 && len(receivedOf(b).slices) == 0, "a short table is kept")
	for _, s := range receivedOf(b).slices[:cap(receivedOf(b).slices)] {
		check.That(t, s == nil, "the table holds no slice")
	}
}

// What is free stays within a bound, whatever was used at once (BND-1).
func TestWhatAMemoryKeeps(t *testing.T) {
	var m Memory
	for range 9 {
		m.release(room(codec.MaxSlices))
	}
	check.Equal(t, "of nine chunks", len(m.taken().free), 2048)
	m = Memory{}
	m.release(room(3 * mostFree))
	check.Equal(t, "of many at once", len(m.taken().free), mostFree)
	m = Memory{}
	m.release([]*[codec.SliceSize]byte{nil, nil})
	check.Equal(t, "of slices that never came", len(m.taken().free), 0)
	check.Equal(t, "room in a short table", cap(m.release(room(32))), 32)
	check.Equal(t, "length of a short table", len(m.release(room(32))), 0)
	check.Equal(t, "room in a long table", cap(m.release(room(33))), 0)
}

// Giving up allocates nothing.
func TestGivingUpAllocatesNothing(t *testing.T) {
	for _, kind := range kinds {
		s, r := sentSender(kind), receivingReceiver(kind)
		if n := testing.AllocsPerRun(10, func() {
			s.Poll(year)
			r.Poll(year)
			_, _ = s.Err(), r.Err()
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
		check.Equal(t, "states", [2]string{s.state.String(), r.state.String()}, [2]string{"FAILED", "FAILED"})
		check.Equal(t, "deadlines", [2]core.Micros{s.Deadline(), r.Deadline()}, [2]core.Micros{core.Never, core.Never})
	}
}
