package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// safety watches a world from outside, for what section 11 promises.
type safety struct {
	acked  codec.Bitset // what the sender knew to have arrived
	atOnce int          // slices that may go out at one time, at most
}

// always is what holds after every event.
func (c *safety) always(w *world) {
	w.Helper()
	s, r := w.sender, w.receiver
	done, complete := s.Stats().Chunks, r.Stats().Chunks
	if done > complete {
		w.Fatalf("the sender has completed %d chunks, the receiver %d", done, complete) // SAFE-2
	}
	waiting := int64(0)
	if r.State() == statemachine.ReceiverReady {
		waiting = 1
	}
	if complete != int64(w.delivered)+waiting {
		w.Fatalf("%d chunks complete, %d delivered, %d waiting", complete, w.delivered, waiting) // SAFE-5
	}
	if s.State() != statemachine.SenderSending {
		return
	}
	if !c.acked.Minus(s.Acked()).Empty() {
		w.Fatalf("acked was %x, is %x", c.acked, s.Acked()) // SAFE-3
	}
	c.acked = s.Acked()
	has := r.Received()
	if r.ChunkID() == s.ChunkID()+1 {
		has = codec.FirstN(s.NumSlices())
	}
	if r.State() != statemachine.ReceiverFailed && !s.Acked().Minus(has).Empty() {
		w.Fatalf("acked %x, but received %x", s.Acked(), has) // SAFE-4
	}
	if !s.Acked().Minus(s.Sent()).Empty() || s.Acked().Count() >= s.NumSlices() {
		w.Fatalf("of %d slices, sent %x, acked %x", s.NumSlices(), s.Sent(), s.Acked()) // 7.2
	}
}

// slice: what goes out is a slice of the chunk that is not acked (SCH-1, SLC-4).
func (c *safety) slice(w *world, s codec.Slice, atOnce int) {
	w.Helper()
	acked, n := w.sender.Acked(), w.submitted-1
	switch {
	case acked.Has(s.SliceID):
		w.Fatalf("slice %d goes out, though it is acked", s.SliceID)
	case s.ChunkID != w.firstID+uint16(n) || s.NumSlices != codec.NumSlices(w.sizes[n]):
		w.Fatalf("slice of chunk %d with %d slices", s.ChunkID, s.NumSlices)
	case !bytes.Equal(s.Data, sliceOf(s.ChunkID, w.chunk(n), s.SliceID).Data):
		w.Fatalf("slice %d is not what was submitted", s.SliceID)
	case atOnce > c.atOnce:
		w.Fatalf("%d slices at a time", atOnce)
	}
}

// ack: no more acks go out than slices came (ACQ-2).
func (c *safety) ack(w *world, a codec.Ack, atOnce int) {
	w.Helper()
	w.acks++
	if atOnce >= 3 || w.acks > w.slices || !ackIsValid(a) {
		w.Fatalf("ack %d at a time, %d in all for %d slices: %+v", atOnce+1, w.acks, w.slices, a)
	}
}

// owed reports whether a slice that arrives must be answered (LIVE-1).
func (c *safety) owed(w *world, s codec.Slice) bool {
	r := w.receiver
	return r.State() != statemachine.ReceiverFailed &&
		(s.ChunkID == r.ChunkID() || s.ChunkID == r.ChunkID()-1 && r.Stats().Chunks > 0)
}
