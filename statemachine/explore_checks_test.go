package statemachine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// What must hold in every state (sections 7.2, 8.2 and 11). It is said by an
// observer who knows what was submitted, not by the machines' own guards.

// Check returns what is wrong with a folded state.
func (w *exWorld) Check(st *exState) error {
	if w.blind || st.restarted != 0 {
		return nil // nothing is promised but an end
	}
	for _, check := range []func(*exState) error{w.checkIDs, w.checkSender, w.checkAcked, w.checkReceiver, w.checkDue, w.checkReady} {
		if err := check(st); err != nil {
			return err
		}
	}
	return nil
}

// completed returns how many chunks the receiver has had whole.
func (w *exWorld) completed(st *exState) int { return int(st.receiver.chunkID - w.first) }

func (w *exWorld) checkIDs(st *exState) error {
	read := int(st.delivered)
	if st.receiver.state == ReceiverReady {
		read++
	}
	switch ahead := st.receiver.chunkID - st.sender.chunkID; {
	case st.sender.chunkID != w.first+uint16(st.reported):
		return fmt.Errorf("the sender is at chunk %d after %d (CID-2)", st.sender.chunkID, st.reported)
	case w.completed(st) != read:
		return fmt.Errorf("the receiver is at chunk %d after %d (SAFE-1)", st.receiver.chunkID, read)
	case ahead == 65535:
		return errors.New("the sender has reported a chunk that the receiver does not have (SAFE-2)")
	case ahead > 1:
		return fmt.Errorf("the receiver is %d chunks ahead (CON-2)", ahead)
	}
	return nil
}

func (w *exWorld) checkSender(st *exState) error {
	s := &st.sender
	all := core.FirstN(s.numSlices)
	switch {
	case s.state != SenderSending && s.chunk != nil:
		return errors.New("a chunk is kept, though none is in flight")
	case s.state == SenderIdle && s.numSlices != 0:
		return errors.New("num_slices is not 0 in IDLE")
	case s.state != SenderSending:
		return nil
	case !same(s.chunk, w.chunks[st.submitted-1]):
		return errors.New("the chunk in flight is not the one submitted")
	case s.numSlices != slicesIn(s.chunk):
		return fmt.Errorf("%d bytes are not %d slices (LIM-2)", len(s.chunk), s.numSlices)
	case !s.acked.Minus(s.sent).Empty() || !s.sent.Minus(all).Empty() || s.acked == all:
		return fmt.Errorf("sent %v, acked %v of %d slices (section 7.2)", s.sent, s.acked, s.numSlices)
	case st.sched.unacked != all.Minus(s.acked):
		return errors.New("the scheduler does not know what is acked (SND-12)")
	}
	return nil
}

// slicesIn is LIM-2 for the small chunks of these tests.
func slicesIn(chunk []byte) int { return (len(chunk) + 1023) / 1024 }

// checkAcked: what the sender knows to have arrived has (SAFE-4).
func (w *exWorld) checkAcked(st *exState) error {
	s, r := &st.sender, &st.receiver
	if s.state != SenderSending || r.state == ReceiverFailed || r.chunkID != s.chunkID {
		return nil
	}
	has := r.received
	if r.state != ReceiverReceiving || !w.isGenuine(r) {
		has = core.Set{}
	}
	if !s.acked.Minus(has).Empty() {
		return fmt.Errorf("acked %v, but the receiver has %v (SAFE-4)", s.acked, has)
	}
	return nil
}

func (w *exWorld) checkReceiver(st *exState) error {
	r := &st.receiver
	if r.state != ReceiverReceiving {
		if r.numSlices != 0 || !r.received.Empty() || r.state == ReceiverFailed && r.slices != nil {
			return fmt.Errorf("%v with %v of %d slices (section 8.2)", r.state, r.received, r.numSlices)
		}
		return nil
	}
	all := core.FirstN(r.numSlices)
	if r.received.Empty() || r.received == all || !r.received.Minus(all).Empty() {
		return fmt.Errorf("RECEIVING with %v of %d slices (section 8.2)", r.received, r.numSlices)
	}
	if !w.isGenuine(r) {
		if len(w.forged) == 0 {
			return fmt.Errorf("%d slices are fixed, which is wrong (RCV-7)", r.numSlices)
		}
		return nil
	}
	return w.checkPages(r, w.completed(st), r.received)
}

// checkPages: what is here is what was sent.
func (w *exWorld) checkPages(r *exReceiver, index int, received core.Set) error {
	chunk := w.chunks[index]
	for id := range received.All() {
		want := chunk[id*codec.SliceSize:]
		want = want[:min(len(want), codec.SliceSize)]
		if id >= len(r.slices) || r.slices[id] == nil || !bytes.Equal(r.slices[id][:len(want)], want) {
			return fmt.Errorf("slice %d of chunk %d is not here as it was sent (SAFE-1)", id, w.first+uint16(index))
		}
	}
	return nil
}

func (w *exWorld) isGenuine(r *exReceiver) bool {
	return w.genuine(packed(r.chunkID, r.numSlices, 0))
}

// checkDue: for each chunk at most one ack is due, and that goes out soon.
func (w *exWorld) checkDue(st *exState) error {
	r := &st.receiver
	previous := 0
	if n := w.completed(st); n > 0 && r.state != ReceiverFailed {
		previous = slicesIn(w.chunks[n-1])
	}
	switch {
	case (r.pending == PendingAcks{}) != (r.acks.At == core.Never):
		return fmt.Errorf("acks due: %+v, the next one goes out at %d (AKT-5)", r.pending, r.acks.At)
	case r.pending.Current && r.state != ReceiverReceiving:
		return fmt.Errorf("an ack of the current chunk is due in %v", r.state)
	case r.pending.Hold && r.state == ReceiverReceiving:
		return errors.New("a hold is due for a chunk that is received (RCV-10)")
	case r.pending.Previous && previous == 0:
		return errors.New("an ack of the previous chunk is due, but there is none (RCV-6)")
	case r.state != ReceiverFailed && r.previousSlices != previous:
		return fmt.Errorf("the previous chunk had %d slices, not %d (RCV-12)", previous, r.previousSlices)
	case r.state == ReceiverReceiving && r.acks.Unreported > r.received.Count():
		return fmt.Errorf("%d slices unreported of %v (AKT-3)", r.acks.Unreported, r.received)
	}
	return nil
}

// checkReady: a complete chunk is here, whole (SAFE-5).
func (w *exWorld) checkReady(st *exState) error {
	r := &st.receiver
	if r.state != ReceiverReady {
		return nil
	}
	index := w.completed(st) - 1
	if r.readSize != len(w.chunks[index]) {
		return fmt.Errorf("%d bytes wait to be read of %d (SAFE-5)", r.readSize, len(w.chunks[index]))
	}
	return w.checkPages(r, index, core.FirstN(slicesIn(w.chunks[index])))
}
