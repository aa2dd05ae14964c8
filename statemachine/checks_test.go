package statemachine

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
)

// checks watches a world from outside. It holds what the properties of the
// specification's section 11 need to be told apart from their violations.
type checks struct {
	acked codec.Bitset // what the sender knew to have arrived
	owed  []owed
	acks  int64
	last  struct {
		owed    bool
		chunkID uint16
		id      int
	}
}

// owed is an ack that must go out: it names a slice, or any slice of its chunk.
type owed struct {
	chunkID uint16
	id      int // -1: any
	by      Micros
}

func (c *checks) begin() { c.acked = codec.Bitset{} }

// time: no ack is later than 2 ms (LIVE-1), unless the receiver has failed, or
// has completed another chunk meanwhile: then the sender needs it no more.
func (c *checks) time(w *world) {
	w.Helper()
	for _, o := range c.owed {
		ahead := w.receiver.ChunkID() - o.chunkID
		if o.by < w.now && ahead < 2 && w.receiver.State() != ReceiverFailed {
			w.Fatalf("slice %d of chunk %d was not acked by %d", o.id, o.chunkID, o.by)
		}
	}
}

// beforeSlice finds out whether a slice must be answered.
func (c *checks) beforeSlice(w *world, s codec.Slice) {
	r := w.receiver
	c.last.chunkID, c.last.id = s.ChunkID, s.SliceID
	c.last.owed = r.State() != ReceiverFailed &&
		(s.ChunkID == r.ChunkID() || s.ChunkID == r.ChunkID()-1 && r.Stats().Chunks > 0)
	switch {
	case s.ChunkID != r.ChunkID():
	case r.State() == ReceiverReady:
		c.last.id = -1 // it is held, so the ack does not name it
	case r.State() == ReceiverReceiving && s.NumSlices != r.NumSlices():
		c.last.owed = false // it conflicts; only a forged slice does that
	}
}

// afterSlice makes sure that an ack is due within 2 ms.
func (c *checks) afterSlice(w *world) {
	w.Helper()
	if !c.last.owed {
		return
	}
	if w.receiver.Deadline() > w.now+2*ms {
		w.Fatalf("slice %d of chunk %d at %d: no ack is due", c.last.id, c.last.chunkID, w.now)
	}
	c.owed = append(c.owed, owed{c.last.chunkID, c.last.id, w.now + 2*ms})
}

// ack notes which slices it answers. No more than three go out at a time, and
// never more than slices came (ACQ-2).
func (c *checks) ack(w *world, a codec.Ack, n int) {
	w.Helper()
	c.acks++
	switch {
	case n >= 3:
		w.Fatalf("%d acks at a time", n+1)
	case c.acks > w.receiver.Stats().SlicesReceived:
		w.Fatalf("more acks than slices: %d", c.acks)
	case a.Validate() != nil:
		w.Fatalf("invalid ack: %v", a)
	}
	left := c.owed[:0]
	for _, o := range c.owed {
		if o.chunkID != a.ChunkID || o.id >= 0 && !a.Acked.Has(o.id) {
			left = append(left, o)
		}
	}
	c.owed = left
}

// slice: what goes out is a slice of the chunk, byte for byte, that is not
// acked (SCH-1, SLC-4), and no more than a chunk's slices at a time.
func (c *checks) slice(w *world, s codec.Slice, n int) {
	w.Helper()
	acked := w.sender.Acked()
	chunk := w.submitted[len(w.submitted)-1]
	from := 1024 * s.SliceID
	switch {
	case s.Validate() != nil:
		w.Fatalf("invalid slice")
	case n >= 256:
		w.Fatalf("%d slices at a time", n+1)
	case acked.Has(s.SliceID):
		w.Fatalf("slice %d goes out, though it is acked", s.SliceID)
	case s.ChunkID != w.sender.ChunkID() || s.NumSlices != (len(chunk)+1023)/1024:
		w.Fatalf("slice of chunk %d with %d slices", s.ChunkID, s.NumSlices)
	case !bytes.Equal(s.Data, chunk[from:min(from+1024, len(chunk))]):
		w.Fatalf("slice %d has other bytes than the chunk", s.SliceID)
	}
}

// always is what holds after every event.
func (c *checks) always(w *world) {
	w.Helper()
	s, r := w.sender, w.receiver
	if len(r.slices) > codec.MaxSlices {
		w.Fatalf("the receiver keeps %d slices", len(r.slices))
	}
	if got, limit := s.Stats().Chunks, r.Stats().Chunks; got > limit {
		w.Fatalf("the sender has completed %d chunks, the receiver %d", got, limit) // SAFE-2
	}
	if s.State() != SenderSending {
		return
	}
	if !c.acked.Minus(s.Acked()).Empty() {
		w.Fatalf("an acked slice became not acked") // SAFE-3
	}
	c.acked = s.Acked()
	if !s.Acked().Minus(s.Sent()).Empty() {
		w.Fatalf("a slice that was never sent is acked")
	}
	has := r.Received()
	if r.ChunkID() == s.ChunkID()+1 {
		has = codec.FirstN(s.NumSlices())
	}
	if r.State() != ReceiverFailed && !s.Acked().Minus(has).Empty() {
		w.Fatalf("acked %v, but received %v", s.Acked(), has) // SAFE-4
	}
}

// afterPolls: a machine that has nothing more to say has a deadline ahead.
func (c *checks) afterPolls(w *world) {
	w.Helper()
	c.always(w)
	if w.sender.Deadline() <= w.now || w.receiver.Deadline() <= w.now {
		w.Fatalf("at %d a deadline has passed: sender %d, receiver %d", w.now, w.sender.Deadline(), w.receiver.Deadline())
	}
}
