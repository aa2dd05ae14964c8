package statemachine

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// What must hold of every step: w.before is the state before the event, st the one
// after it, not yet folded. These fold it.

// took notes that a row was taken, which must lead from the one state to the other.
func (w *exWorld) took(row core.Row, from, to fmt.Stringer) error {
	w.rows[row] = true
	return leads(row, from, to)
}

// afterSender checks an event of the sender's; a is the ack if it was one.
func (w *exWorld) afterSender(st *exState, a codec.Ack) error {
	st.sched = *w.sched
	st.sched.next = -1
	before, s := &w.before.sender, &st.sender
	row, heard := s.row, s.heardAt
	foldSender(&s.Sender)
	if err := w.took(row, before.state, s.state); err != nil {
		return err
	}
	switch row {
	case "S1", "S8", "S9", "S10":
		if heard != present {
			return fmt.Errorf("%v does not set heard_at (SND-10, SND-11)", row)
		}
	default:
		if heard != epoch {
			return fmt.Errorf("%v sets heard_at", row)
		}
	}
	return w.checkSenderStep(st, row, a)
}

func (w *exWorld) checkSenderStep(st *exState, row core.Row, a codec.Ack) error {
	before, s := &w.before.sender, &st.sender
	switch row {
	case "S1":
		if !s.sent.Empty() || !s.acked.Empty() {
			return fmt.Errorf("a chunk starts with sent %v, acked %v (SND-10)", s.sent, s.acked)
		}
	case "S13":
		if s.acked != before.acked || s.sent.Minus(before.sent).Count() > 1 || !before.sent.Minus(s.sent).Empty() {
			return errors.New("sending a slice changes more than that (SND-14)")
		}
	case "S9", "S10":
		if s.acked != before.acked.Union(a.Acked.Intersect(before.sent)) || s.sent != before.sent {
			return fmt.Errorf("acked %v and an ack of %v become %v (SAFE-3, SND-7)", before.acked, a.Acked, s.acked)
		}
	case "S15":
	default:
		if senderKey(st) != senderKey(&w.before) {
			return fmt.Errorf("%v changes the sender", row)
		}
	}
	return nil
}

// afterSlice checks the arrival of a slice.
func (w *exWorld) afterSlice(st *exState, s codec.Slice) error {
	r := &st.receiver
	row, progress, dueAt := r.row, r.progressAt, r.acks.At
	foldReceiver(&r.Receiver, present)
	if err := w.took(row, w.before.receiver.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	want := w.wantedOf(s)
	if err := w.checkAnswer(st, want, dueAt); err != nil {
		return fmt.Errorf("%v: %w", row, err)
	}
	switch {
	case want.stored != (progress == present):
		return fmt.Errorf("%v: stored %v, but progress_at %d (RCV-11)", row, want.stored, progress-present)
	case want.completes:
		if r.state != ReceiverReady || r.chunkID != s.ChunkID+1 || r.numSlices != 0 {
			return fmt.Errorf("%v: the chunk is not complete (RCV-12)", row)
		}
	case want.stored:
		if r.received != want.received || r.numSlices != s.NumSlices {
			return fmt.Errorf("%v: received %v of %d slices, not %v of %d (RCV-11)", row, r.received, r.numSlices, want.received, s.NumSlices)
		}
	case !w.undisturbed(r):
		return fmt.Errorf("%v changes what is received (SAFE-5, RCV-4, RCV-7, RCV-13, RCV-14)", row)
	}
	return nil
}

// wanted is what a slice must do.
type wanted struct {
	answer    answer
	held      int // the number of slices that a hold is to name
	stored    bool
	completes bool
	received  core.Set
}

// answer says of what an ack must be due.
type answer uint8

const (
	noAnswer answer = iota
	ofCurrent
	ofPrevious
	ofHold
)

// wantedOf works out what a slice must do in w.before: not by the receiver's guards,
// but in the observer's own words.
func (w *exWorld) wantedOf(s codec.Slice) wanted {
	r := &w.before.receiver
	previous := r.previousSlices > 0 && s.ChunkID == r.chunkID-1
	switch {
	case r.state == ReceiverFailed, !previous && s.ChunkID != r.chunkID:
		return wanted{}
	case previous && s.NumSlices != r.previousSlices:
		return wanted{}
	case previous:
		return wanted{answer: ofPrevious}
	case r.state == ReceiverReady:
		return wanted{answer: ofHold, held: s.NumSlices}
	case r.state == ReceiverReceiving && s.NumSlices != r.numSlices && !halfPassed(&r.Receiver):
		return wanted{}
	}
	want := wanted{answer: ofCurrent, received: r.received}
	if s.NumSlices != r.numSlices {
		want.received = core.Set{} // the first one, or it replaces the number of slices
	}
	want.stored = !want.received.Has(s.SliceID)
	want.received.Add(s.SliceID)
	if want.completes = want.received == core.FirstN(s.NumSlices); want.completes {
		want.answer = ofPrevious
	}
	return want
}

// checkAnswer: a slice makes the ack due that it must, in time, and no other.
func (w *exWorld) checkAnswer(st *exState, want wanted, dueAt core.Micros) error {
	before, r := &w.before.receiver, &st.receiver
	answered := [...]bool{
		noAnswer:   r.pending == before.pending && r.heldSlices == before.heldSlices && r.acks == before.acks,
		ofCurrent:  r.pending.Current,
		ofPrevious: r.pending.Previous,
		ofHold:     r.pending.Hold && r.heldSlices == want.held,
	}[want.answer]
	switch {
	case !answered && want.answer == noAnswer:
		return errors.New("it is answered (RCV-4, RCV-7)")
	case !answered:
		return errors.New("it is not answered: no ack of it is due (LIVE-1, RCV-13, RCV-14)")
	case want.answer == noAnswer:
		return nil
	case want.completes && dueAt > present:
		return errors.New("the ack of the complete chunk is not due at once (ACQ-3)")
	case dueAt > present+acktimer.Interval:
		return fmt.Errorf("its ack is due only after %d us (AKT-2)", dueAt-present)
	case dueAt > before.acks.At:
		return errors.New("it puts off an ack that is due (section 8.5)")
	case acksDue(r.pending) > acksDue(before.pending)+1:
		return errors.New("it makes two acks due (ACQ-2)")
	}
	return nil
}

// acksDue returns how many acks are due.
func acksDue(p PendingAcks) (n int) {
	for _, due := range []bool{p.Current, p.Previous, p.Hold} {
		if due {
			n++
		}
	}
	return n
}

// undisturbed reports whether the receiver still has what it had, acks aside.
func (w *exWorld) undisturbed(r *exReceiver) bool {
	was, is := w.before.receiver, *r
	for _, r := range []*exReceiver{&was, &is} {
		r.acks, r.pending, r.heldSlices = acktimer.Timer{}, PendingAcks{}, 0
	}
	return w.receiverKey(&was) == w.receiverKey(&is)
}

func (w *exWorld) receiverUnchanged(r *exReceiver, row core.Row) error {
	if w.receiverKey(r) != w.receiverKey(&w.before.receiver) {
		return fmt.Errorf("%v changes the receiver", row)
	}
	return nil
}

// afterReceiverPoll checks what a poll of the receiver answered. It does not fold.
func (w *exWorld) afterReceiverPoll(st *exState, a codec.Ack, ok bool, now core.Micros) error {
	before, r := &w.before.receiver, &st.receiver
	if err := w.took(r.row, before.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	switch gaveUp := now >= epoch+r.giveUp; {
	case gaveUp && (ok || r.Err() != ErrGaveUp || r.acks.At != core.Never || r.pending != PendingAcks{}):
		return errors.New("the receiver does not give up in time (RCV-15)")
	case gaveUp:
		return nil
	case ok != before.acks.Due(now):
		return errors.New("an ack is due and does not go out, or the other way round (AKT-5)")
	case !ok:
		is := *r
		foldReceiver(&is.Receiver, now)
		return w.receiverUnchanged(&is, r.row)
	case acksDue(r.pending) != acksDue(before.pending)-1:
		return errors.New("sending an ack does not make it no longer due (RCV-16, ACQ-2)")
	case r.pending == PendingAcks{} && (r.acks.At != core.Never || r.acks.LastAt != now || r.acks.Unreported != 0):
		return errors.New("the last ack that was due does not stop the timer (AKT-5)")
	}
	if a != w.wantedAck(before) || codec.Named.ValidateAck(&a) != nil || a.NumSlices > 8 {
		return fmt.Errorf("the ack says %v, and should %v (RCV-16)", a, w.wantedAck(before))
	}
	return nil
}

// wantedAck is the ack that goes out next (RCV-16).
func (w *exWorld) wantedAck(r *exReceiver) codec.Ack {
	switch p := r.pending; {
	case p.Previous:
		n := slicesIn(w.chunks[int(r.chunkID-w.first)-1])
		return codec.Ack{ChunkID: r.chunkID - 1, NumSlices: n, Acked: core.FirstN(n)}
	case p.Current:
		return codec.Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Acked: r.received}
	}
	return codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
}

func (w *exWorld) afterRead(st *exState) error {
	row := st.receiver.row
	foldReceiver(&st.receiver.Receiver, present)
	if err := w.took(row, w.before.receiver.state, st.receiver.state); err != nil || row == "R16" {
		return err
	}
	return w.receiverUnchanged(&st.receiver, row)
}
