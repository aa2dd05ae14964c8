package statemachine

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/chunkwire/chunkwire/codec"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// What must hold in every state and of every step. It is said by an observer who knows what
// was submitted, not by the machines' own guards.

// took notes that a row was taken, which must lead from the one state to the other.
func (w *repairExWorld) took(row core.Row, from, to fmt.Stringer) error {
	w.rows[row] = true
	return leads(row, from, to)
}

// Check returns what is wrong with a folded state.
func (w *repairExWorld) Check(st *repairExState) error {
	if w.blind || st.restarted != 0 {
		return nil // nothing is promised but an end
	}
	for _, check := range []func(*repairExState) error{w.checkIDs, w.checkSender, w.checkAcked, w.checkReceiver, w.checkDue} {
		if err := check(st); err != nil {
			return err
		}
	}
	return nil
}

// completed returns how many chunks the receiver has had whole.
func (w *repairExWorld) completed(st *repairExState) int { return int(st.receiver.chunkID - w.first) }

func (w *repairExWorld) checkIDs(st *repairExState) error {
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

func (w *repairExWorld) checkSender(st *repairExState) error {
	s, c := &st.sender, &st.sched
	switch {
	case s.state != SenderSending && s.chunk != nil:
		return errors.New("a chunk is kept, though none is in flight")
	case s.state == SenderIdle && s.numSlices != 0:
		return errors.New("num_slices is not 0 in IDLE")
	case s.state != SenderSending:
		return nil
	case s.chunk != w.encoded[st.submitted-1] || s.numSlices != w.sizes[st.submitted-1]:
		return errors.New("the chunk in flight is not the one submitted")
	case s.have > s.top || s.top > s.sent || s.have >= s.numSlices:
		return fmt.Errorf("sent %d, acked %d below %d of %d slices", s.sent, s.have, s.top, s.numSlices)
	case c.numSlices != s.numSlices || c.sent != s.sent || c.have != s.have || c.top != s.top:
		return fmt.Errorf("the scheduler knows %+v (SND-12)", *c)
	}
	return nil
}

// checkAcked: what the sender knows to have arrived has (SAFE-4).
func (w *repairExWorld) checkAcked(st *repairExState) error {
	s, r := &st.sender, &st.receiver
	if st.acked != 0 || w.sameNumber(st) || s.state != SenderSending || r.state == ReceiverFailed || r.chunkID != s.chunkID {
		return nil
	}
	have, top := int(st.held.n), r.top
	if r.state != ReceiverReceiving || !w.isGenuine(w.completed(st), r.numSlices, r.lastBytes) {
		have, top = 0, 0
	}
	if s.have > have || s.top > top {
		return fmt.Errorf("acked %d below %d, but the receiver has %d below %d (SAFE-4)", s.have, s.top, have, top)
	}
	return nil
}

// sameNumber reports whether a slice was forged that differs in last_bytes only: acks do not
// say that, so the sender takes those of a chunk that is forged for its own.
func (w *repairExWorld) sameNumber(st *repairExState) bool {
	for i, f := range w.forged {
		if st.forged>>i&1 == 1 && f.chunk >= 0 && f.chunk < len(w.sizes) && f.numSlices == w.sizes[f.chunk] && f.lastBytes != 0 {
			return true
		}
	}
	return false
}

func (w *repairExWorld) checkReceiver(st *repairExState) error {
	r, held := &st.receiver, st.held.list(nil)
	switch {
	case r.state == ReceiverReceiving && (len(held) == 0 || len(held) >= r.numSlices || rankOf(r.numSlices, held...) != len(held)):
		return fmt.Errorf("RECEIVING with %v of %d slices", held, r.numSlices)
	case r.state == ReceiverReceiving && r.top <= held[len(held)-1]:
		return fmt.Errorf("top is %d with %v", r.top, held)
	case r.state != ReceiverReceiving && (r.numSlices != 0 || r.lastBytes != 0 || r.top != 0):
		return fmt.Errorf("%v with a chunk of %d slices, the last of %d bytes, below %d", r.state, r.numSlices, r.lastBytes, r.top)
	case r.state == ReceiverReady && r.readSize != len(w.chunks[w.completed(st)-1]):
		return fmt.Errorf("%d bytes wait to be read (SAFE-5)", r.readSize)
	case r.state == ReceiverReceiving && !w.isGenuine(w.completed(st), r.numSlices, r.lastBytes) && len(w.forged) == 0:
		return fmt.Errorf("%d slices are fixed, which is wrong (RCV-7)", r.numSlices)
	}
	return nil
}

// checkDue: for each chunk at most one ack is due, and that goes out soon.
func (w *repairExWorld) checkDue(st *repairExState) error {
	r := &st.receiver
	previous := 0
	if n := w.completed(st); n > 0 && r.state != ReceiverFailed {
		previous = w.sizes[n-1]
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
	}
	return nil
}

// afterSender checks an event of the sender's; a is the ack if it was one. It folds.
func (w *repairExWorld) afterSender(st *repairExState, a codec.Ack) error {
	st.sched = *w.sched
	before, s := &w.before.sender, &st.sender
	row, heard := s.row, s.heardAt
	foldSender(&s.Sender)
	if err := w.took(row, before.state, s.state); err != nil {
		return err
	}
	hears := row == "T1" || row == "T8" || row == "T9" || row == "T10"
	if hears != (heard == present) {
		return fmt.Errorf("%v sets heard_at: %v (SND-10, SND-11)", row, !hears)
	}
	switch row {
	case "T1":
		if s.sent != 0 || s.have != 0 || s.top != 0 {
			return fmt.Errorf("a chunk starts with sent %d, acked %d below %d (SND-10)", s.sent, s.have, s.top)
		}
	case "T13":
		if s.sent != before.sent+1 || s.have != before.have || s.top != before.top {
			return errors.New("sending a slice changes more than that (SND-14)")
		}
	case "T10", "T15":
		if s.sent != 0 || s.have != 0 || s.top != 0 || row == "T10" && (a.Have != before.numSlices || a.Top > before.sent) {
			return fmt.Errorf("%v with an ack of %+v leaves sent %d, acked %d below %d", row, a, s.sent, s.have, s.top)
		}
	case "T9":
		if s.have != max(before.have, a.Have) || s.top != max(before.top, a.Top) || s.sent != before.sent || a.Have > a.Top || a.Top > s.sent {
			return fmt.Errorf("acked %d below %d and an ack of %+v become %d below %d (SAFE-3)", before.have, before.top, a, s.have, s.top)
		}
	default:
		if repairSenderKey(st) != repairSenderKey(&w.before) {
			return fmt.Errorf("%v changes the sender", row)
		}
	}
	return nil
}

// wanted is what a slice must do.
type repairWanted struct {
	answer     answer
	held       int // the number of slices that a hold is to name
	adds       bool
	begins     bool
	completes  bool
	notesTop   bool
	compared   bool // a spare equation is compared
	mismatches int  // spare equations that are wrong
}

// wantedOf works out what a slice must do in w.before: not by the receiver's guards, but in
// the observer's own words.
func (w *repairExWorld) wantedOf(s codec.Slice, forged bool) repairWanted {
	st := &w.before
	r := &st.receiver
	previous := r.previousSlices > 0 && s.ChunkID == r.chunkID-1
	sameForm := s.NumSlices == r.numSlices && s.LastBytes == r.lastBytes
	switch {
	case r.state == ReceiverFailed, !previous && s.ChunkID != r.chunkID:
		return repairWanted{}
	case previous && s.NumSlices != r.previousSlices:
		return repairWanted{}
	case previous:
		return w.wantedOfPrevious(s, forged)
	case r.state == ReceiverReady:
		return repairWanted{answer: ofHold, held: s.NumSlices}
	case r.state == ReceiverReceiving && !sameForm && !halfPassed(&r.Receiver):
		return repairWanted{}
	}
	want := repairWanted{answer: ofCurrent, notesTop: true, begins: !sameForm}
	var ids []int
	if !want.begins {
		ids = st.held.list(nil)
	}
	repairAfter := rankOf(s.NumSlices, append(ids, s.SliceID)...)
	want.adds = repairAfter > len(ids)
	if want.completes = repairAfter == s.NumSlices; want.completes {
		want.answer = ofPrevious
		if st.spareID >= 0 && st.spareBad {
			want.mismatches++
		}
	}
	return want
}

// wantedOfPrevious: in READY the first repair slice that was not needed is compared.
func (w *repairExWorld) wantedOfPrevious(s codec.Slice, forged bool) repairWanted {
	st := &w.before
	want := repairWanted{answer: ofPrevious}
	sameSize := (s.NumSlices-1)*erasure.SliceSize+s.LastBytes == st.receiver.readSize
	want.compared = st.receiver.state == ReceiverReady && !st.receiver.spare.checked && s.SliceID >= s.NumSlices && sameSize && !st.held.has(s.SliceID)
	if want.compared && forged {
		want.mismatches = 1
	}
	return want
}

// afterSlice checks the arrival of a slice, and takes the receiver apart.
func (w *repairExWorld) afterSlice(st *repairExState, s codec.Slice, forged bool) error {
	before, r := &w.before.receiver, &st.receiver
	want := w.wantedOf(s, forged)
	if want.begins {
		st.held = heldIDs{}
	}
	if want.adds {
		st.held.add(s.SliceID)
	}
	row, progress, dueAt, mismatches, checked := r.row, r.progressAt, r.acks.At, int(r.stats.Inconsistent), r.spare.checked
	held, rebuilt := r.held, want.completes && !w.rebuilt(st, s)
	w.asleep(st)
	foldReceiver(&r.Receiver, present)
	if err := w.took(row, before.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	if err := w.checkAnswer(st, want, dueAt); err != nil {
		return fmt.Errorf("%v: %w", row, err)
	}
	switch top := max(before.top, s.SliceID+1); {
	case want.adds != (progress == present):
		return fmt.Errorf("%v: adds %v, but progress_at %d (RCV-11)", row, want.adds, progress-present)
	case mismatches != want.mismatches || want.compared && !checked:
		return fmt.Errorf("%v: %d spare equations are wrong, not %d", row, mismatches, want.mismatches)
	case rebuilt:
		return fmt.Errorf("%v: the chunk is not what was submitted (SAFE-1)", row)
	case want.completes:
		if r.state != ReceiverReady || r.chunkID != s.ChunkID+1 || r.previousTop != top {
			return fmt.Errorf("%v: the chunk is not complete, or its top %d not %d (RCV-12)", row, r.previousTop, top)
		}
	case want.notesTop:
		if want.begins {
			top = s.SliceID + 1
		}
		if len(held) != int(st.held.n) || r.numSlices != s.NumSlices || r.top != top {
			return fmt.Errorf("%v: %v of %d slices are held below %d, not %v below %d (RCV-11)", row, held, r.numSlices, r.top, st.held.list(nil), top)
		}
	case !undisturbed(st, &w.before):
		return fmt.Errorf("%v changes what is received (SAFE-5, RCV-4, RCV-7, RCV-13, RCV-14)", row)
	}
	return nil
}

// rebuilt reports whether the code has rebuilt the chunk that was submitted.
func (w *repairExWorld) rebuilt(st *repairExState, s codec.Slice) bool {
	all := bytes.Buffer{}
	for _, p := range st.receiver.code.Rebuild() {
		all.Write(p[:])
	}
	chunk := w.chunks[min(int(s.ChunkID-w.first), len(w.chunks)-1)]
	return bytes.HasPrefix(all.Bytes(), chunk)
}

// checkAnswer: a slice makes the ack due that it must, in time, and no other.
func (w *repairExWorld) checkAnswer(st *repairExState, want repairWanted, dueAt core.Micros) error {
	before, r := &w.before.receiver, &st.receiver
	answered := [...]bool{
		noAnswer:   r.pending == before.pending && r.heldSlices == before.heldSlices && r.acks == before.acks,
		ofCurrent:  r.pending.Current,
		ofPrevious: r.pending.Previous,
		ofHold:     r.pending.Hold && r.heldSlices == want.held,
	}[want.answer]
	switch {
	case !answered:
		return fmt.Errorf("its answer is wrong: an ack is due that must not be, or none (LIVE-1, RCV-4, RCV-7, RCV-13, RCV-14): %+v", want)
	case want.answer == noAnswer:
		return nil
	case want.completes && dueAt > present:
		return errors.New("the ack of the complete chunk is not due at once (ACQ-3)")
	case dueAt > present+acktimer.Interval || dueAt > before.acks.At:
		return fmt.Errorf("its ack is due only after %d us (AKT-2, section 8.5)", dueAt-present)
	case acksDue(r.pending) > acksDue(before.pending)+1:
		return errors.New("it makes two acks due (ACQ-2)")
	}
	return nil
}

// undisturbed reports whether the receiver still has what it had, acks and spare equations
// aside.
func undisturbed(a, b *repairExState) bool {
	was, is := *b, *a
	for _, st := range []*repairExState{&was, &is} {
		r := &st.receiver
		r.acks, r.pending, r.heldSlices, r.spare.checked = acktimer.Timer{}, PendingAcks{}, 0, false
	}
	return receiverKey(&was) == receiverKey(&is)
}

func (w *repairExWorld) receiverUnchanged(st *repairExState, event core.Row) error {
	if receiverKey(st) != receiverKey(&w.before) {
		return fmt.Errorf("%v changes the receiver", event)
	}
	return nil
}

// afterReceiverPoll checks what a poll of the receiver answered. It does not fold.
func (w *repairExWorld) afterReceiverPoll(st *repairExState, a codec.Ack, ok bool, now core.Micros) error {
	before, r := &w.before.receiver, &st.receiver
	if err := w.took(r.row, before.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	switch gave := now >= epoch+r.giveUp; {
	case gave && (ok || r.Err() != ErrGaveUp || r.acks.At != core.Never || r.pending != PendingAcks{}):
		return errors.New("the receiver does not give up in time (RCV-15)")
	case gave:
		return nil
	case ok != before.acks.Due(now):
		return errors.New("an ack is due and does not go out, or the other way round (AKT-5)")
	case !ok:
		return nil
	case acksDue(r.pending) != acksDue(before.pending)-1:
		return errors.New("sending an ack does not make it no longer due (RCV-16, ACQ-2)")
	case r.pending == PendingAcks{} && (r.acks.At != core.Never || r.acks.LastAt != now || r.acks.Unreported != 0):
		return errors.New("the last ack that was due does not stop the timer (AKT-5)")
	case a != w.wantedAck() || codec.Repair.ValidateAck(&a) != nil:
		return fmt.Errorf("the ack says %+v, and should %+v (RCV-16)", a, w.wantedAck())
	}
	return nil
}

// wantedAck is the ack that goes out next (RCV-16).
func (w *repairExWorld) wantedAck() codec.Ack {
	r := &w.before.receiver
	switch p := r.pending; {
	case p.Previous:
		n := w.sizes[int(r.chunkID-w.first)-1]
		return codec.Ack{ChunkID: r.chunkID - 1, NumSlices: n, Have: n, Top: r.previousTop}
	case p.Current:
		return codec.Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Have: int(w.before.held.n), Top: r.top}
	}
	return codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
}

func (w *repairExWorld) afterRead(st *repairExState) error {
	row := st.receiver.row
	w.asleep(st)
	foldReceiver(&st.receiver.Receiver, present)
	if err := w.took(row, w.before.receiver.state, st.receiver.state); err != nil || row == "U17" {
		return err
	}
	return w.receiverUnchanged(st, row)
}
