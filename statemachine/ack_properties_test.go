package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// answerWithin is how long an ack may take: 100 ms are required (ACQ-1), but
// whoever follows section 8.5 takes 2 ms at most (AKT-2).
const answerWithin = 2 * ms

// owed is an ack that must go out: it names a slice, or any slice of its chunk.
type owed struct {
	chunkID uint16
	id      int // -1: any
	by      Micros
}

// duplicatesAreAckedAgain: every slice of the current or of the just-completed
// chunk, new or not, draws an ack that names it (LIVE-1, RCV-13); one that comes
// too early draws a hold. What conflicts does not, and a failed receiver is mute.
func duplicatesAreAckedAgain() property {
	var debts []owed
	var next *owed
	return func(w *world, m moment) {
		w.Helper()
		r := w.receiver
		switch m.kind {
		case sliceComes:
			next = debt(r, m.slice)
		case sliceTaken:
			if next == nil {
				return
			}
			if next.by = w.now + answerWithin; r.Deadline() > next.by {
				w.Fatalf("re-acking (LIVE-1): slice %d of chunk %d came at %d, and no ack is due", m.slice.SliceID, m.slice.ChunkID, w.now)
			}
			debts = append(debts, *next)
		case ackOut:
			left := debts[:0]
			for _, o := range debts {
				if o.chunkID != m.ack.ChunkID || o.id >= 0 && !m.ack.Acked.Has(o.id) {
					left = append(left, o)
				}
			}
			debts = left
		case timePassed:
			for _, o := range debts {
				// Once another chunk is complete the sender needs it no more.
				if o.by < w.now && r.ChunkID()-o.chunkID < 2 && r.State() != ReceiverFailed {
					w.Fatalf("re-acking (LIVE-1): slice %d of chunk %d was not acked by %d", o.id, o.chunkID, o.by)
				}
			}
		}
	}
}

// debt is the ack that a slice must draw, if any.
func debt(r *Receiver, s codec.Slice) *owed {
	switch previous := s.ChunkID == r.ChunkID()-1 && r.Stats().Chunks > 0; {
	case r.State() == ReceiverFailed, !previous && s.ChunkID != r.ChunkID():
		return nil
	case previous:
		return &owed{chunkID: s.ChunkID, id: s.SliceID}
	case r.State() == ReceiverReady:
		return &owed{chunkID: s.ChunkID, id: -1} // it is held, so the ack does not name it
	case r.State() == ReceiverReceiving && s.NumSlices != r.NumSlices():
		return nil // it conflicts; only a forged slice does that
	}
	return &owed{chunkID: s.ChunkID, id: s.SliceID}
}

// Re-acking of duplicates (LIVE-1, RCV-13).
func TestDuplicatesAreAckedAgain(t *testing.T) { holdsInEveryWorld(t, duplicatesAreAckedAgain) }

// acksAreNoMoreThanSlices: no ack without a slice, and no invalid one (ACQ-2,
// ENC-5).
func acksAreNoMoreThanSlices() property {
	acks := int64(0)
	return func(w *world, m moment) {
		w.Helper()
		if m.kind != ackOut {
			return
		}
		acks++
		if got := w.receiver.Stats().SlicesReceived; acks > got {
			w.Fatalf("no more acks than slices (ACQ-2): %d acks, %d slices", acks, got)
		}
		if err := m.ack.Validate(); err != nil {
			w.Fatalf("an ack that goes out is valid (ENC-5): %v", err)
		}
	}
}

// No more acks than slices (ACQ-2).
func TestAcksAreNoMoreThanSlices(t *testing.T) { holdsInEveryWorld(t, acksAreNoMoreThanSlices) }

// Acks are idempotent in any order (SAFE-3, SND-5 to SND-8): whichever come, in
// whichever order, and how often, what the sender and its scheduler then know is
// the union of what they said.
func TestAcksAreIdempotentInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 80).Draw(t, "slices")
		sent := rapid.IntRange(1, n).Draw(t, "sent")
		var acks []codec.Ack
		var union codec.Bitset
		for range rapid.IntRange(1, 8).Draw(t, "acks") {
			a := codec.Ack{NumSlices: n}
			for range rapid.IntRange(0, n).Draw(t, "bits") {
				a.Acked.Set(rapid.IntRange(0, n-2).Draw(t, "bit"))
			}
			union = union.Union(a.Acked.Intersect(codec.FirstN(sent)))
			acks = append(acks, a)
		}
		for range 3 {
			base := NewBase(Fixed(0))
			s := NewSender(SenderConfig{Scheduler: base})
			_ = s.Submit(0, chunkOf(n*1024, 1))
			for range sent {
				s.Poll(0)
			}
			for _, a := range rapid.Permutation(append(acks, acks...)).Draw(t, "order") {
				s.HandleAck(0, a)
				once, deadline := s.Acked(), s.Deadline()
				s.HandleAck(0, a)
				if s.Acked() != once || s.Deadline() != deadline {
					t.Fatalf("idempotence of acks: the same ack once more makes %v of %v", s.Acked(), once)
				}
			}
			if s.Acked() != union || base.unacked != codec.FirstN(n).Minus(union) {
				t.Fatalf("acks in any order: acked %v, scheduler still waits for %v; want %v", s.Acked(), base.unacked, union)
			}
			if s.Stats().SlicesAcked != int64(union.Count()) {
				t.Fatalf("acks in any order: %d slices counted, want %d", s.Stats().SlicesAcked, union.Count())
			}
		}
	})
}

// Slices may come in any order, any number of times, of any chunk: what is
// delivered is the chunk (SAFE-1, SAFE-5).
func TestSlicesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunk := chunkOf(rapid.IntRange(1, 20_000).Draw(t, "size"), 1)
		list := slicesOf(0, chunk)
		late := slicesOf(65535, chunkOf(3000, 2))
		early := slicesOf(1, chunkOf(3000, 3))
		r := NewReceiver(ReceiverConfig{})
		all := append(append(append(append(list[:len(list):len(list)], list...), late...), late...), early...)
		for _, s := range rapid.Permutation(all).Draw(t, "order") {
			r.HandleSlice(0, s)
		}
		got, err := r.Read(0, nil)
		if err != nil || string(got) != string(chunk) {
			t.Fatalf("%d bytes delivered of %d: %v", len(got), len(chunk), err)
		}
	})
}
