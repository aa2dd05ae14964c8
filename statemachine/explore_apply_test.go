package statemachine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// Every event comes 1 us after the one before, so that a time that was set differs
// from one that was not.
const present = epoch + 1

// Apply makes a move: st becomes the state after it, folded.
func (w *exWorld) Apply(st *exState, m exMove) error {
	w.before = *st
	st.attach()
	err := w.applyMove(st, m)
	st.detach()
	if w.blind {
		return nil
	}
	return err
}

func (w *exWorld) applyMove(st *exState, m exMove) error {
	i := int(m.arg)
	switch m.kind {
	case moveSliceLost:
		st.slices.Take(i)
	case moveAckLost:
		st.acks.Take(i)
	case moveSliceDoubled:
		st.slices.Add(st.slices.At(i))
	case moveAckDoubled:
		st.acks.Add(st.acks.At(i))
	case moveSliceArrives:
		return w.sliceArrives(st, w.slice(st.slices.Take(i)))
	case moveForge:
		st.forged |= 1 << m.arg
		return w.sliceArrives(st, w.forgedSlice(w.forged[i]))
	case moveAck, pokeReceiver:
		return w.pollReceiver(st, present)
	case moveReceiverGivesUp:
		return w.pollReceiver(st, epoch+st.receiver.giveUp)
	case moveRead, pokeRead:
		return w.read(st)
	case moveWait:
		foldReceiver(&st.receiver.Receiver, epoch+acktimer.Interval)
	case moveHalf:
		foldReceiver(&st.receiver.Receiver, epoch+st.receiver.giveUp/2)
	case moveReceiverRestarts:
		st.restarted |= receiverRestarted
		w.newReceiver(st)
	default:
		return w.applyToSender(st, m)
	}
	return nil
}

func (w *exWorld) applyToSender(st *exState, m exMove) error {
	*w.sched = st.sched
	w.sched.next = -1
	switch m.kind {
	case moveSubmit:
		return w.submit(st)
	case moveSend:
		w.sched.next = int(m.arg)
		return w.send(st)
	case moveAckArrives:
		return w.ackArrives(st, st.acks.Take(int(m.arg)).ack())
	case moveSenderGivesUp:
		return w.pollSender(st, epoch+st.sender.giveUp, ErrGaveUp)
	case pokeSender:
		return w.pollSender(st, present, w.before.sender.Err())
	case pokeSubmitNothing, pokeSubmitBusy:
		return w.submitInVain(st, m.kind)
	case moveSenderRestarts:
		st.restarted |= senderRestarted
		w.newSender(st)
	}
	return nil
}

func (w *exWorld) newSender(st *exState) {
	st.sender = exSender{Sender: *newSender(codec.Named, w.first, w.sched)}
	st.attach()
	st.sched = anyScheduler{next: -1}
	st.submitted, st.reported = 0, 0
	foldSender(&st.sender.Sender)
}

func (w *exWorld) newReceiver(st *exState) {
	st.receiver = exReceiver{Receiver: *newReceiver(codec.Named, w.first)}
	st.attach()
	st.delivered = 0
	foldReceiver(&st.receiver.Receiver, 0)
}

func (w *exWorld) submit(st *exState) error {
	refusal := st.sender.Submit(present, w.chunks[st.submitted])
	st.submitted++
	err := w.afterSender(st, codec.Ack{})
	if refusal != nil {
		return fmt.Errorf("submit is refused: %v", refusal)
	}
	return err
}

func (w *exWorld) submitInVain(st *exState, kind moveKind) error {
	var chunk []byte
	if kind == pokeSubmitBusy {
		chunk = w.chunks[0]
	}
	want := [...]error{ErrChunkSize, ErrBusy, ErrGaveUp}[st.sender.state]
	refusal := st.sender.Submit(present, chunk)
	err := w.afterSender(st, codec.Ack{})
	if refusal != want {
		return fmt.Errorf("submit in %v: %v (SND-1)", w.before.sender.state, refusal)
	}
	return err
}

// send has the sender send what its scheduler returns. A full network loses it.
func (w *exWorld) send(st *exState) error {
	id := w.sched.next
	s, ok := st.sender.Poll(present)
	p := packed(s.ChunkID, s.NumSlices, s.SliceID)
	if ok && w.genuine(p) && st.slices.Len() < w.slices {
		st.slices.Add(p)
	}
	err := w.afterSender(st, codec.Ack{})
	switch {
	case !ok:
		return fmt.Errorf("slice %d does not go out (SND-9)", id)
	case w.before.sender.acked.Has(id):
		return fmt.Errorf("slice %d goes out, though it is acked (SCH-1)", id)
	case s.SliceID != id || s.ChunkID != st.sender.chunkID || !w.genuine(p) || !same(s.Data, w.slice(p).Data):
		return fmt.Errorf("what goes out as %s is not slice %d as submitted (SND-14, SND-18)", p.sliceText(), id)
	}
	return err
}

// same reports whether two slices are the same bytes at the same place.
func same(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }

func (w *exWorld) ackArrives(st *exState, a codec.Ack) error {
	st.sender.HandleAck(present, a)
	if st.sender.row == "S10" {
		st.reported++
	}
	return w.afterSender(st, a)
}

// pollSender polls a sender whose scheduler has nothing to send.
func (w *exWorld) pollSender(st *exState, now core.Micros, want error) error {
	_, ok := st.sender.Poll(now)
	err := w.afterSender(st, codec.Ack{})
	if is := st.sender.Err(); ok || is != want {
		return fmt.Errorf("the sender's error is %v, not %v, or a slice goes out: %v (SND-9, SND-15)", is, want, ok)
	}
	return err
}

func (w *exWorld) sliceArrives(st *exState, s codec.Slice) error {
	r := &st.receiver
	r.slices = append([]*[codec.SliceSize]byte(nil), r.slices...)
	if s.SliceID < len(r.slices) && r.slices[s.SliceID] != nil {
		w.scratch = *r.slices[s.SliceID]
		r.slices[s.SliceID] = &w.scratch
	}
	r.HandleSlice(present, s)
	if s.SliceID < len(r.slices) && r.slices[s.SliceID] != nil {
		r.slices[s.SliceID] = w.page(r.slices[s.SliceID])
	}
	return w.afterSlice(st, s)
}

// pollReceiver has the receiver send an ack, or not. A full network loses it.
func (w *exWorld) pollReceiver(st *exState, now core.Micros) error {
	a, ok := st.receiver.Poll(now)
	err := w.afterReceiverPoll(st, a, ok, now)
	if ok && st.acks.Len() < w.acks {
		st.acks.Add(packed(a.ChunkID, a.NumSlices, int(a.Acked[0])))
	}
	foldReceiver(&st.receiver.Receiver, now)
	return err
}

func (w *exWorld) read(st *exState) error {
	ready := st.receiver.state == ReceiverReady
	chunk, refusal := st.receiver.Read(present, nil)
	err := w.afterRead(st)
	if ready {
		st.delivered++
	}
	switch {
	case !ready && refusal != ErrNothingToRead, ready && refusal != nil:
		return fmt.Errorf("read in %v: %v (RCV-12)", w.before.receiver.state, refusal)
	case st.restarted != 0 || !ready:
	case int(st.delivered) > len(w.chunks):
		return errors.New("a chunk too many is delivered (SAFE-1)")
	case !bytes.Equal(chunk, w.chunks[st.delivered-1]):
		return fmt.Errorf("what is delivered is not chunk %d as submitted (SAFE-1)", w.first+uint16(st.delivered-1))
	}
	return err
}
