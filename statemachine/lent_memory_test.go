package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// room is a table of n slices, each with its own bytes.
func room(n int) []*[codec.SliceSize]byte {
	table := make([]*[codec.SliceSize]byte, n)
	for i := range table {
		table[i] = new([codec.SliceSize]byte)
	}
	return table
}

// Receivers that share a Memory never write where another's bytes are, in
// whatever order they begin, are read and begin again.
func TestReceiversShareAMemory(t *testing.T) {
	var m Memory
	var receivers [3]*Receiver
	var chunks [3][]byte
	for i := range receivers {
		receivers[i] = NewReceiver(ReceiverConfig{Memory: &m})
	}
	for round := range 9 {
		// All are full at the same time, and their slices came in turn.
		for i := range chunks {
			chunks[i] = chunkOf((1+(round+i)%4)*1024+i, uint32(10*round+i))
		}
		for k := range 5 {
			for i, r := range receivers {
				if list := slicesOf(r.ChunkID(), chunks[i]); k < len(list) {
					r.HandleSlice(0, list[k])
				}
			}
		}
		for i, r := range receivers {
			got, err := r.Read(0, nil)
			must(t, err == nil, "the chunk is there")
			wantBytes(t, "chunk", got, chunks[i])
		}
	}
}

// A chunk that was read leaves nothing behind in its receiver, and everything in
// the Memory.
func TestAnIdleReceiverHoldsNoRoom(t *testing.T) {
	var m Memory
	r := NewReceiver(ReceiverConfig{Memory: &m})
	give(r, slicesOf(0, chunkOf(3*1024, 1))...)
	_, _ = r.Read(0, nil)
	wantEqual(t, "lent again", len(m.free), 3)
	for _, s := range r.slices[:cap(r.slices)] {
		must(t, s == nil, "the table holds no slice")
	}
	give(r, slicesOf(1, chunkOf(2*1024, 2))...)
	wantEqual(t, "left", len(m.free), 1)
	for _, s := range m.free[1:3] {
		must(t, s == nil, "what is lent is not held here, too")
	}
}

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
func TestWhatAMemoryKeeps(t *testing.T) {
	var m Memory
	for range 9 {
		m.release(room(codec.MaxSlices))
	}
	wantEqual(t, "of nine chunks", len(m.free), 2048)
	m = Memory{}
	m.release(room(3 * mostFree))
	wantEqual(t, "of many at once", len(m.free), mostFree)
	m = Memory{}
	m.release([]*[codec.SliceSize]byte{nil, nil})
	wantEqual(t, "of slices that never came", len(m.free), 0)
	wantEqual(t, "room in a short table", cap(m.release(room(32))), 32)
	wantEqual(t, "length of a short table", len(m.release(room(32))), 0)
	wantEqual(t, "room in a long table", cap(m.release(room(33))), 0)
}
