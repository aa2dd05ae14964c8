package statemachine

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// senderCompleteImpliesReceiverComplete: when the sender reports a chunk as
// delivered, the receiver has all of it (SAFE-2).
func senderCompleteImpliesReceiverComplete() property {
	return func(w *world, m moment) {
		w.Helper()
		if sent, received := w.sender.Stats().Chunks, w.receiver.Stats().Chunks; sent > received {
			w.Fatalf("sender complete implies receiver complete (SAFE-2): the sender has completed %d chunks, the receiver %d", sent, received)
		}
	}
}

// Sender complete implies receiver complete (SAFE-2).
func TestSenderCompleteImpliesReceiverComplete(t *testing.T) {
	holdsInEveryWorld(t, senderCompleteImpliesReceiverComplete)
}

// fuse: a slice that is acked never becomes not acked (SAFE-3).
func fuse() property {
	var burnt codec.Bitset
	return func(w *world, m moment) {
		w.Helper()
		if m.kind == submitted {
			burnt = codec.Bitset{}
		}
		if w.sender.State() != SenderSending {
			return
		}
		if again := burnt.Minus(w.sender.Acked()); !again.Empty() {
			w.Fatalf("fuse (SAFE-3): slice %d was acked, and is no more", again.Next(0))
		}
		burnt = w.sender.Acked()
	}
}

// The fuse rule (SAFE-3).
func TestFuse(t *testing.T) { holdsInEveryWorld(t, fuse) }

// ackedIsReceived: what the sender takes as arrived was sent (SND-7), and is what
// the receiver has or had of that chunk (SAFE-4).
func ackedIsReceived() property {
	return func(w *world, m moment) {
		w.Helper()
		s, r := w.sender, w.receiver
		if s.State() != SenderSending || r.State() == ReceiverFailed {
			return
		}
		has := r.Received()
		if r.ChunkID() == s.ChunkID()+1 {
			has = codec.FirstN(s.NumSlices())
		}
		if never := s.Acked().Minus(s.Sent()); !never.Empty() {
			w.Fatalf("acked is sent (SND-7): slice %d is acked, and was never sent", never.Next(0))
		}
		if missing := s.Acked().Minus(has); !missing.Empty() {
			w.Fatalf("acked is received (SAFE-4): slice %d is acked, and the receiver does not have it", missing.Next(0))
		}
	}
}

// What is acked was received (SAFE-4).
func TestAckedIsReceived(t *testing.T) { holdsInEveryWorld(t, ackedIsReceived) }

// ackedSlicesAreNotResent: what an ack has told of is sent no more (SCH-1). It
// goes by the acks that came, not by what the sender made of them.
func ackedSlicesAreNotResent() property {
	var told codec.Bitset
	return func(w *world, m moment) {
		w.Helper()
		switch {
		case m.kind == submitted:
			told = codec.Bitset{}
		case m.kind == ackComes && m.ack.ChunkID == w.sender.ChunkID() && m.ack.NumSlices == w.sender.NumSlices():
			told = told.Union(m.ack.Acked)
		case m.kind == sliceOut && told.Has(m.slice.SliceID):
			w.Fatalf("never an acked slice resent (SCH-1): slice %d goes out, though it is acked", m.slice.SliceID)
		}
	}
}

// Never an acked slice resent (SCH-1).
func TestAckedSlicesAreNotResent(t *testing.T) { holdsInEveryWorld(t, ackedSlicesAreNotResent) }

// resentBytesAreIdentical: whenever a slice goes out its packet is the same, byte
// for byte, and it is that of the chunk's bytes (SLC-4, LIM-2, LIM-3, SND-18).
func resentBytesAreIdentical() property {
	first := map[int][]byte{}
	return func(w *world, m moment) {
		w.Helper()
		switch m.kind {
		case submitted:
			clear(first)
			return
		case sliceOut:
		default:
			return
		}
		body, err := codec.AppendSliceBody(nil, m.slice)
		if err != nil {
			w.Fatalf("a slice that goes out is valid (LIM-3): %v", err)
		}
		if before, sent := first[m.slice.SliceID]; sent && !bytes.Equal(before, body) {
			w.Fatalf("resent bytes are identical (SLC-4): slice %d is not what it was when it was first sent", m.slice.SliceID)
		}
		first[m.slice.SliceID] = body
		chunk := w.submitted[len(w.submitted)-1]
		if !bytes.Equal(m.slice.Data, chunk[1024*m.slice.SliceID:min(1024*m.slice.SliceID+1024, len(chunk))]) {
			w.Fatalf("a slice is its piece of the chunk (LIM-2): slice %d has other bytes", m.slice.SliceID)
		}
	}
}

// Resent bytes are identical (SLC-4).
func TestResentBytesAreIdentical(t *testing.T) { holdsInEveryWorld(t, resentBytesAreIdentical) }

// deadlinesLieAhead: a machine that has nothing more to say names a later time
// (SCH-3, SND-16, RCV-17).
func deadlinesLieAhead() property {
	return func(w *world, m moment) {
		w.Helper()
		if m.kind == polled && (w.sender.Deadline() <= w.now || w.receiver.Deadline() <= w.now) {
			w.Fatalf("deadlines lie ahead (SCH-3): at %d a deadline has passed: sender %d, receiver %d", w.now, w.sender.Deadline(), w.receiver.Deadline())
		}
	}
}

// Deadlines lie ahead (SCH-3).
func TestDeadlinesLieAhead(t *testing.T) { holdsInEveryWorld(t, deadlinesLieAhead) }
