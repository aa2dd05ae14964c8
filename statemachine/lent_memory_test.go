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

func TestWhatAMemoryKeeps(t *testing.T) {
	var m Memory
	for range 9 {
		m.release(room(codec.MaxSlices))
	}
	wantEqual(t, "of nine chunks", len(m.free), 2048)
	m = Memory{}
	m.release([]*[codec.SliceSize]byte{nil, nil})
	wantEqual(t, "of slices that never came", len(m.free), 0)
	wantEqual(t, "room in a short table", cap(m.release(room(32))), 32)
	wantEqual(t, "length of a short table", len(m.release(room(32))), 0)
	wantEqual(t, "room in a long table", cap(m.release(room(33))), 0)
}

// Between chunks a sender can let go of its notes on slices, and take them up again.
func TestASenderRests(t *testing.T) {
	base := NewBase(atOnce)
	s := NewSender(SenderConfig{Scheduler: base})
	for id := range uint16(2) {
		_ = s.Submit(0, chunkOf(2048, 1))
		s.Poll(0)
		s.Rest()
		wantEqual(t, "notes while a chunk is in flight", len(base.slices), 2)
		s.Poll(0)
		s.HandleAck(0, fullAck(id, 2))
		s.Rest()
		wantEqual(t, "notes at rest", cap(base.slices), 0)
	}
	other := NewSender(SenderConfig{Scheduler: struct{ Scheduler }{base}})
	other.Rest() // a scheduler that cannot: nothing happens
}
