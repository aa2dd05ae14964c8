package fuzz

import (
	"errors"

	"github.com/chunkwire/chunkwire/statemachine"
)

// agree is what must be true when nothing happens any more: all has been
// delivered and both ends know, or both have given up, where they may.
func (w *world) agree() {
	w.Helper()
	s, r := w.sender, w.receiver
	if w.refused != w.corrupted {
		w.Fatalf("%d datagrams were changed, %d refused", w.corrupted, w.refused)
	}
	if s.State() == statemachine.SenderFailed || r.State() == statemachine.ReceiverFailed {
		w.gaveUp()
		return
	}
	n := len(w.sizes)
	switch {
	case s.State() != statemachine.SenderIdle || r.State() != statemachine.ReceiverWaiting:
		w.Fatalf("at the end the sender is %v, the receiver %v", s.State(), r.State())
	case w.delivered != n || s.Stats().Chunks != int64(n) || r.Stats().Chunks != int64(n):
		w.Fatalf("%d chunks: %d delivered, %d done at the sender, %d at the receiver", n, w.delivered, s.Stats().Chunks, r.Stats().Chunks)
	case s.ChunkID() != r.ChunkID() || s.ChunkID() != w.firstID+uint16(n):
		w.Fatalf("the sender's next chunk is %d, the receiver's %d", s.ChunkID(), r.ChunkID())
	case s.Deadline() != never || r.Deadline() != never:
		w.Fatalf("something is still due: %d, %d", s.Deadline(), r.Deadline())
	}
}

// gaveUp: where the network kept a chunk from progress for GIVE_UP both ends end
// with that error, unless the receiver was done with the chunk (LIVE-3). Where
// GIVE_UP is longer than any conversation nobody may.
func (w *world) gaveUp() {
	w.Helper()
	s, r := w.sender, w.receiver
	switch {
	case w.giveUp >= 1<<60:
		w.Fatalf("gave up without a reason: sender %v, receiver %v", s.State(), r.State())
	case s.State() != statemachine.SenderFailed || !errors.Is(s.Err(), statemachine.ErrGaveUp):
		w.Fatalf("the receiver gave up, but the sender is %v, %v", s.State(), s.Err())
	case r.State() == statemachine.ReceiverReceiving || r.State() == statemachine.ReceiverReady:
		w.Fatalf("the sender gave up, but the receiver is %v for ever", r.State())
	}
}
