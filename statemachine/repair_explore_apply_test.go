package statemachine

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/chunkwire/chunkwire/codec"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// Apply makes a move: st becomes the state after it, folded.
func (w *repairExWorld) Apply(st *repairExState, m exMove) error {
	w.before = *st
	st.attach()
	err := w.applyMove(st, m)
	st.detach()
	if w.blind {
		return nil
	}
	return err
}

func (w *repairExWorld) applyMove(st *repairExState, m exMove) error {
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
		return w.sliceArrives(st, w.slice(st.slices.Take(i)), false)
	case moveForge:
		st.forged |= 1 << m.arg
		return w.sliceArrives(st, w.forgedSlice(w.forged[i]), true)
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

func (w *repairExWorld) applyToSender(st *repairExState, m exMove) error {
	*w.sched = st.sched
	switch m.kind {
	case moveSubmit:
		return w.submit(st)
	case moveSend:
		w.sched.next = 1
		return w.send(st)
	case moveAckArrives:
		return w.ackArrives(st, st.acks.Take(int(m.arg)).ack())
	case moveForgeAck:
		st.acked |= 1 << m.arg
		return w.ackArrives(st, w.forgedAck(st, int(m.arg)))
	case pokeAck:
		return w.ackArrives(st, w.foreignAcks(st)[m.arg])
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

func (w *repairExWorld) newSender(st *repairExState) {
	st.sender = repairExSender{Sender: *check.Must(NewSender(SenderConfig{Kind: codec.Repair, FirstChunkID: w.first, Scheduler: w.sched}))}
	st.attach()
	st.sched = repairAnyScheduler{}
	st.submitted, st.reported = 0, 0
	foldSender(&st.sender.Sender)
}

func (w *repairExWorld) newReceiver(st *repairExState) {
	st.receiver = repairExReceiver{Receiver: *check.Must(NewReceiver(ReceiverConfig{Kind: codec.Repair, FirstChunkID: w.first, Memory: w.memory})), receivedRank: receivedRank{shared: true}}
	st.attach()
	st.receiver.memory = nil
	st.delivered, st.held, st.spareID, st.spareBad = 0, heldIDs{}, -1, false
	foldReceiver(&st.receiver.Receiver, 0)
}

func (w *repairExWorld) submit(st *repairExState) error {
	refusal := st.sender.SubmitEncoded(present, w.encoded[st.submitted])
	st.submitted++
	err := w.afterSender(st, codec.Ack{})
	if refusal != nil {
		return fmt.Errorf("submit is refused: %v", refusal)
	}
	return err
}

func (w *repairExWorld) submitInVain(st *repairExState, kind moveKind) error {
	var chunk []byte
	if kind == pokeSubmitBusy {
		chunk = w.chunks[0]
	}
	want := [...]error{ErrChunkSize, ErrBusy, ErrGaveUp}[st.sender.state]
	refusal := st.sender.SubmitEncoded(present, erasure.Encode(chunk))
	err := w.afterSender(st, codec.Ack{})
	if refusal != want {
		return fmt.Errorf("submit in %v: %v (SND-1)", w.before.sender.state, refusal)
	}
	return err
}

// send has the sender send the next id, or again the last one that it may: then another copy
// may arrive in its place. A full network loses it.
func (w *repairExWorld) send(st *repairExState) error {
	late := st.sender.sent == w.most
	if late {
		st.sender.sent, w.sched.sent = w.most-1, w.most-1
	}
	number := st.sender.sent
	s, ok := st.sender.Poll(present)
	if ok && st.slices.Len() < w.slices {
		p := packedSlice(s)
		if late {
			p = w.lacking(st, p)
		}
		st.slices.Add(p)
	}
	w.before.sender.sent, w.before.sched.sent = number, number
	err := w.afterSender(st, codec.Ack{})
	index := int(s.ChunkID - w.first)
	switch {
	case !ok:
		return errors.New("the next id does not go out (SND-9)")
	case s.SliceID != number || s.ChunkID != st.sender.chunkID || !w.isGenuine(index, s.NumSlices, s.LastBytes) || !bytes.Equal(s.Data, w.encoded[index].Slice(s.SliceID)):
		return fmt.Errorf("what goes out as id %d of chunk %d is not that of number %d (SND-14, SND-18)", s.SliceID, s.ChunkID, number)
	}
	return err
}

// lacking returns the highest id of the chunk in flight that adds to what the receiver holds
// of it; else what would go out.
func (w *repairExWorld) lacking(st *repairExState, out repairExPacket) repairExPacket {
	s, r := &st.sender, &st.receiver
	if r.chunkID != s.chunkID || r.state != ReceiverReceiving || r.numSlices != s.numSlices {
		return out
	}
	for id := w.most - 1; id >= 0; id-- {
		if w.adds(st, id) {
			return packedSlice(codec.Slice{ChunkID: s.chunkID, SliceID: id})
		}
	}
	return out
}

func (w *repairExWorld) ackArrives(st *repairExState, a codec.Ack) error {
	st.sender.HandleAck(present, a)
	if st.sender.row == "T10" {
		st.reported++
	}
	return w.afterSender(st, a)
}

// pollSender polls a sender whose scheduler has nothing to send.
func (w *repairExWorld) pollSender(st *repairExState, now core.Micros, want error) error {
	_, ok := st.sender.Poll(now)
	err := w.afterSender(st, codec.Ack{})
	if is := st.sender.Err(); ok || is != want {
		return fmt.Errorf("the sender's error is %v, not %v, or a slice goes out: %v (SND-9, SND-15)", is, want, ok)
	}
	return err
}

func (w *repairExWorld) sliceArrives(st *repairExState, s codec.Slice, forged bool) error {
	r := &st.receiver
	if r.state != ReceiverReady || s.ChunkID != r.chunkID {
		w.awake(st) // else it is held
	}
	hadSpare := r.spare.data != nil
	r.HandleSlice(present, s)
	if !hadSpare && r.spare.data != nil {
		st.spareBad = forged
	}
	return w.afterSlice(st, s, forged)
}

// pollReceiver has the receiver send an ack, or not. A full network loses it.
func (w *repairExWorld) pollReceiver(st *repairExState, now core.Micros) error {
	r := &st.receiver
	givesUp := now >= epoch+r.giveUp
	if givesUp {
		w.awake(st)
	}
	w.ids = st.held.list(w.ids[:0])
	r.held = w.ids
	a, ok := r.Poll(now)
	err := w.afterReceiverPoll(st, a, ok, now)
	if ok && st.acks.Len() < w.acks {
		st.acks.Add(packedAck(a))
	}
	r.held = nil
	if givesUp {
		st.held, st.spareBad = heldIDs{}, false
		w.asleep(st)
	}
	foldReceiver(&r.Receiver, now)
	if err == nil && !ok && r.state != ReceiverFailed && !w.blind && st.restarted == 0 {
		err = w.receiverUnchanged(st, "a poll")
	}
	return err
}

func (w *repairExWorld) read(st *repairExState) error {
	r := w.awake(st)
	wasReady := r.state == ReceiverReady
	chunk, refusal := r.Read(present, nil)
	if wasReady {
		st.delivered++
		st.held = heldIDs{}
	}
	err := w.afterRead(st)
	switch {
	case !wasReady && refusal != ErrNothingToRead, wasReady && refusal != nil:
		return fmt.Errorf("read in %v: %v (RCV-12)", w.before.receiver.state, refusal)
	case st.restarted != 0 || !wasReady:
	case int(st.delivered) > len(w.chunks):
		return errors.New("a chunk too many is delivered (SAFE-1)")
	case !bytes.Equal(chunk, w.chunks[st.delivered-1]):
		return fmt.Errorf("what is delivered is not chunk %d as submitted (SAFE-1)", w.first+uint16(st.delivered-1))
	}
	return err
}
