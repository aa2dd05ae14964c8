package statemachine

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
)

// Every event comes 1 us after the one before, so that a time that was set is
// told from one that was not.
const present = epoch + 1

// apply makes a move: st becomes the state after it, folded. It returns what is
// wrong, if anything is.
func (e *explorer) apply(st *exState, m exMove) string {
	e.before = *st
	problem := e.applyMove(st, m)
	if e.scenario.blind {
		return ""
	}
	return problem
}

func (e *explorer) applyMove(st *exState, m exMove) string {
	switch m.kind {
	case moveSliceLost:
		st.slices.take(int(m.arg))
	case moveAckLost:
		st.acks.take(int(m.arg))
	case moveSliceDoubled:
		st.slices.add(st.slices.packets[m.arg])
	case moveAckDoubled:
		st.acks.add(st.acks.packets[m.arg])
	case moveSliceArrives:
		return e.sliceArrives(st, e.slice(st.slices.take(int(m.arg))))
	case moveForge:
		st.forged |= 1 << m.arg
		return e.sliceArrives(st, e.forgedSlice(e.scenario.forged[m.arg]))
	case moveAck, pokeReceiver:
		return e.pollReceiver(st, present)
	case moveReceiverGivesUp:
		return e.pollReceiver(st, epoch+st.receiver.giveUp)
	case moveRead, pokeRead:
		return e.read(st)
	case moveWait:
		foldReceiver(&st.receiver, epoch+ackInterval)
	case moveHalf:
		foldReceiver(&st.receiver, epoch+st.receiver.giveUp/2)
	case moveReceiverRestarts:
		st.restarted |= receiverRestarted
		e.newReceiver(st)
	default:
		return e.applyToSender(st, m)
	}
	return ""
}

func (e *explorer) applyToSender(st *exState, m exMove) string {
	*e.sched = st.sched
	e.sched.next = -1
	switch m.kind {
	case moveSubmit:
		return e.submit(st)
	case moveSend:
		e.sched.next = int(m.arg)
		return e.send(st)
	case moveAckArrives:
		return e.ackArrives(st, st.acks.take(int(m.arg)).ack())
	case moveSenderGivesUp:
		return e.pollSender(st, epoch+st.sender.giveUp, ErrGaveUp)
	case pokeSender:
		return e.pollSender(st, present, e.before.sender.Err())
	case pokeSubmitNothing, pokeSubmitBusy:
		return e.submitInVain(st, m.kind)
	case moveSenderRestarts:
		st.restarted |= senderRestarted
		e.newSender(st)
	}
	return ""
}

func (e *explorer) newSender(st *exState) {
	st.sender = *NewSender(SenderConfig{FirstChunkID: e.scenario.first, Scheduler: e.sched})
	st.sched = anyScheduler{next: -1}
	st.submitted, st.reported = 0, 0
	foldSender(&st.sender)
}

func (e *explorer) newReceiver(st *exState) {
	st.receiver = *NewReceiver(ReceiverConfig{FirstChunkID: e.scenario.first})
	st.delivered = 0
	foldReceiver(&st.receiver, 0)
}

func (e *explorer) submit(st *exState) string {
	err := st.sender.Submit(present, e.chunks[st.submitted])
	st.submitted++
	problem := e.afterSender(st, codec.Ack{})
	if err != nil {
		return fmt.Sprintf("submit is refused: %v", err)
	}
	return problem
}

func (e *explorer) submitInVain(st *exState, kind moveKind) string {
	var chunk []byte
	if kind == pokeSubmitBusy {
		chunk = e.chunks[0]
	}
	want := [...]error{ErrChunkSize, ErrBusy, ErrGaveUp}[st.sender.state]
	err := st.sender.Submit(present, chunk)
	problem := e.afterSender(st, codec.Ack{})
	if err != want {
		return fmt.Sprintf("submit in %v: %v (SND-1)", e.before.sender.state, err)
	}
	return problem
}

// send has the sender send what its scheduler returns. A full network loses it.
func (e *explorer) send(st *exState) string {
	id := e.sched.next
	s, ok := st.sender.Poll(present)
	p := packed(s.ChunkID, s.NumSlices, s.SliceID)
	if ok && e.genuine(p) && int(st.slices.n) < e.scenario.slices {
		st.slices.add(p)
	}
	problem := e.afterSender(st, codec.Ack{})
	switch {
	case !ok:
		return fmt.Sprintf("slice %d does not go out (SND-9)", id)
	case e.before.sender.acked.Has(id):
		return fmt.Sprintf("slice %d goes out, though it is acked (SCH-1)", id)
	case s.SliceID != id || s.ChunkID != st.sender.chunkID || !e.genuine(p) || !same(s.Data, e.slice(p).Data):
		return fmt.Sprintf("what goes out as %s is not slice %d as submitted (SND-14, SND-18)", p.sliceText(), id)
	}
	return problem
}

// same tells whether two slices are the same bytes at the same place.
func same(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }

func (e *explorer) ackArrives(st *exState, a codec.Ack) string {
	st.sender.HandleAck(present, a)
	if st.sender.row == S10Complete {
		st.reported++
	}
	return e.afterSender(st, a)
}

// pollSender polls a sender whose scheduler has nothing to send.
func (e *explorer) pollSender(st *exState, now Micros, want error) string {
	_, ok := st.sender.Poll(now)
	problem := e.afterSender(st, codec.Ack{})
	if err := st.sender.Err(); ok || err != want {
		return fmt.Sprintf("the sender's error is %v, not %v, or a slice goes out: %v (SND-9, SND-15)", err, want, ok)
	}
	return problem
}

func (e *explorer) sliceArrives(st *exState, s codec.Slice) string {
	r := &st.receiver
	r.slices = append([]*[codec.SliceSize]byte(nil), r.slices...)
	if s.SliceID < len(r.slices) && r.slices[s.SliceID] != nil {
		e.scratch = *r.slices[s.SliceID]
		r.slices[s.SliceID] = &e.scratch
	}
	r.HandleSlice(present, s)
	if s.SliceID < len(r.slices) && r.slices[s.SliceID] != nil {
		r.slices[s.SliceID] = e.page(r.slices[s.SliceID])
	}
	return e.afterSlice(st, s)
}

// pollReceiver has the receiver send an ack, or not. A full network loses it.
func (e *explorer) pollReceiver(st *exState, now Micros) string {
	a, ok := st.receiver.Poll(now)
	problem := e.afterReceiverPoll(st, a, ok, now)
	if ok && int(st.acks.n) < e.scenario.acks {
		st.acks.add(packed(a.ChunkID, a.NumSlices, int(a.Acked[0])))
	}
	foldReceiver(&st.receiver, now)
	return problem
}

func (e *explorer) read(st *exState) string {
	ready := st.receiver.state == ReceiverReady
	chunk, err := st.receiver.Read(present, nil)
	problem := e.afterRead(st)
	if ready {
		st.delivered++
	}
	switch {
	case !ready && err != ErrNothingToRead, ready && err != nil:
		return fmt.Sprintf("read in %v: %v (RCV-12)", e.before.receiver.state, err)
	case st.restarted != 0 || !ready:
	case int(st.delivered) > len(e.chunks):
		return "a chunk too many is delivered (SAFE-1)"
	case !bytes.Equal(chunk, e.chunks[st.delivered-1]):
		return fmt.Sprintf("what is delivered is not chunk %d as submitted (SAFE-1)", e.scenario.first+uint16(st.delivered-1))
	}
	return problem
}
