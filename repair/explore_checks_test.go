package repair

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
	"github.com/chunkwire/chunkwire/statemachine"
)

// What must hold in every state and of every step. It is said by an observer who knows what
// was submitted, not by the machines' own guards.

// exRows are the rows of both tables.
var exRows = func() map[core.Row]core.Line {
	rows := map[core.Row]core.Line{}
	for _, l := range append(SenderTable(), ReceiverTable()...) {
		rows[l.Row] = l
	}
	return rows
}()

// took notes that a row was taken, which must lead from the one state to the other.
func (w *exWorld) took(row core.Row, from, to fmt.Stringer) error {
	w.rows[row] = true
	if l := exRows[row]; l.State != from.String() || l.Next != to.String() {
		return fmt.Errorf("%v leads from %v to %v", row, from, to)
	}
	return nil
}

// Check returns what is wrong with a folded state.
func (w *exWorld) Check(st *exState) error {
	if w.blind || st.restarted != 0 {
		return nil // nothing is promised but an end
	}
	for _, check := range []func(*exState) error{w.checkIDs, w.checkSender, w.checkAcked, w.checkReceiver, w.checkDue} {
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
	if st.receiver.state == ready {
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
	s, c := &st.sender, &st.sched
	switch {
	case s.state != sending && s.chunk != nil:
		return errors.New("a chunk is kept, though none is in flight")
	case s.state == idle && s.numSlices != 0:
		return errors.New("num_slices is not 0 in IDLE")
	case s.state != sending:
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
func (w *exWorld) checkAcked(st *exState) error {
	s, r := &st.sender, &st.receiver
	if st.acked != 0 || w.sameNumber(st) || s.state != sending || r.state == failed || r.chunkID != s.chunkID {
		return nil
	}
	have, top := int(st.held.n), r.top
	if r.state != receiving || !w.isGenuine(w.completed(st), r.numSlices, r.lastBytes) {
		have, top = 0, 0
	}
	if s.have > have || s.top > top {
		return fmt.Errorf("acked %d below %d, but the receiver has %d below %d (SAFE-4)", s.have, s.top, have, top)
	}
	return nil
}

// sameNumber reports whether a slice was forged that differs in last_bytes only: acks do not
// say that, so the sender takes those of a chunk that is forged for its own.
func (w *exWorld) sameNumber(st *exState) bool {
	for i, f := range w.forged {
		if st.forged>>i&1 == 1 && f.chunk >= 0 && f.chunk < len(w.sizes) && f.numSlices == w.sizes[f.chunk] && f.lastBytes != 0 {
			return true
		}
	}
	return false
}

func (w *exWorld) checkReceiver(st *exState) error {
	r, held := &st.receiver, st.held.list(nil)
	switch {
	case r.state == receiving && (len(held) == 0 || len(held) >= r.numSlices || rankOf(r.numSlices, held...) != len(held)):
		return fmt.Errorf("RECEIVING with %v of %d slices", held, r.numSlices)
	case r.state == receiving && r.top <= held[len(held)-1]:
		return fmt.Errorf("top is %d with %v", r.top, held)
	case r.state != receiving && (r.numSlices != 0 || r.lastBytes != 0 || r.top != 0):
		return fmt.Errorf("%v with a chunk of %d slices, the last of %d bytes, below %d", r.state, r.numSlices, r.lastBytes, r.top)
	case r.state == ready && r.readSize != len(w.chunks[w.completed(st)-1]):
		return fmt.Errorf("%d bytes wait to be read (SAFE-5)", r.readSize)
	case r.state == receiving && !w.isGenuine(w.completed(st), r.numSlices, r.lastBytes) && len(w.forged) == 0:
		return fmt.Errorf("%d slices are fixed, which is wrong (RCV-7)", r.numSlices)
	}
	return nil
}

// checkDue: for each chunk at most one ack is due, and that goes out soon.
func (w *exWorld) checkDue(st *exState) error {
	r := &st.receiver
	previous := 0
	if n := w.completed(st); n > 0 && r.state != failed {
		previous = w.sizes[n-1]
	}
	switch {
	case (r.pending == statemachine.PendingAcks{}) != (r.acks.At == core.Never):
		return fmt.Errorf("acks due: %+v, the next one goes out at %d (AKT-5)", r.pending, r.acks.At)
	case r.pending.Current && r.state != receiving:
		return fmt.Errorf("an ack of the current chunk is due in %v", r.state)
	case r.pending.Hold && r.state == receiving:
		return errors.New("a hold is due for a chunk that is received (RCV-10)")
	case r.pending.Previous && previous == 0:
		return errors.New("an ack of the previous chunk is due, but there is none (RCV-6)")
	case r.state != failed && r.previousSlices != previous:
		return fmt.Errorf("the previous chunk had %d slices, not %d (RCV-12)", previous, r.previousSlices)
	}
	return nil
}

// afterSender checks an event of the sender's; a is the ack if it was one. It folds.
func (w *exWorld) afterSender(st *exState, a Ack) error {
	st.sched = *w.sched
	before, s := &w.before.sender, &st.sender
	row, heard := s.row, s.heardAt
	foldSender(s)
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
		if senderKey(st) != senderKey(&w.before) {
			return fmt.Errorf("%v changes the sender", row)
		}
	}
	return nil
}

// wanted is what a slice must do.
type wanted struct {
	answer     answer
	held       int // the number of slices that a hold is to name
	adds       bool
	begins     bool
	completes  bool
	notesTop   bool
	compared   bool // a spare equation is compared
	mismatches int  // spare equations that are wrong
}

// answer says of what an ack must be due.
type answer uint8

const (
	noAnswer answer = iota
	ofCurrent
	ofPrevious
	ofHold
)

// wantedOf works out what a slice must do in w.before: not by the receiver's guards, but in
// the observer's own words.
func (w *exWorld) wantedOf(s Slice, forged bool) wanted {
	st := &w.before
	r := &st.receiver
	previous := r.previousSlices > 0 && s.ChunkID == r.chunkID-1
	sameForm := s.NumSlices == r.numSlices && s.LastBytes == r.lastBytes
	switch {
	case r.state == failed, !previous && s.ChunkID != r.chunkID:
		return wanted{}
	case previous && s.NumSlices != r.previousSlices:
		return wanted{}
	case previous:
		return w.wantedOfPrevious(s, forged)
	case r.state == ready:
		return wanted{answer: ofHold, held: s.NumSlices}
	case r.state == receiving && !sameForm && !halfPassed(r):
		return wanted{}
	}
	want := wanted{answer: ofCurrent, notesTop: true, begins: !sameForm}
	var ids []int
	if !want.begins {
		ids = st.held.list(nil)
	}
	after := rankOf(s.NumSlices, append(ids, s.ID)...)
	want.adds = after > len(ids)
	if want.completes = after == s.NumSlices; want.completes {
		want.answer = ofPrevious
		if st.spareID >= 0 && st.spareBad {
			want.mismatches++
		}
	}
	return want
}

// wantedOfPrevious: in READY the first repair slice that was not needed is compared.
func (w *exWorld) wantedOfPrevious(s Slice, forged bool) wanted {
	st := &w.before
	want := wanted{answer: ofPrevious}
	sameSize := (s.NumSlices-1)*erasure.SliceSize+s.LastBytes == st.receiver.readSize
	want.compared = st.receiver.state == ready && !st.receiver.spare.checked && s.ID >= s.NumSlices && sameSize && !st.held.has(s.ID)
	if want.compared && forged {
		want.mismatches = 1
	}
	return want
}

// afterSlice checks the arrival of a slice, and takes the receiver apart.
func (w *exWorld) afterSlice(st *exState, s Slice, forged bool) error {
	before, r := &w.before.receiver, &st.receiver
	want := w.wantedOf(s, forged)
	if want.begins {
		st.held = heldIDs{}
	}
	if want.adds {
		st.held.add(s.ID)
	}
	row, progress, dueAt, mismatches, checked := r.row, r.progressAt, r.acks.At, int(r.stats.Inconsistent), r.spare.checked
	held, rebuilt := r.held, want.completes && !w.rebuilt(st, s)
	w.asleep(st)
	foldReceiver(r, present)
	if err := w.took(row, before.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	if err := w.checkAnswer(st, want, dueAt); err != nil {
		return fmt.Errorf("%v: %w", row, err)
	}
	switch top := max(before.top, s.ID+1); {
	case want.adds != (progress == present):
		return fmt.Errorf("%v: adds %v, but progress_at %d (RCV-11)", row, want.adds, progress-present)
	case mismatches != want.mismatches || want.compared && !checked:
		return fmt.Errorf("%v: %d spare equations are wrong, not %d", row, mismatches, want.mismatches)
	case rebuilt:
		return fmt.Errorf("%v: the chunk is not what was submitted (SAFE-1)", row)
	case want.completes:
		if r.state != ready || r.chunkID != s.ChunkID+1 || r.previousTop != top {
			return fmt.Errorf("%v: the chunk is not complete, or its top %d not %d (RCV-12)", row, r.previousTop, top)
		}
	case want.notesTop:
		if want.begins {
			top = s.ID + 1
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
func (w *exWorld) rebuilt(st *exState, s Slice) bool {
	all := bytes.Buffer{}
	for _, p := range st.receiver.code.Rebuild() {
		all.Write(p[:])
	}
	chunk := w.chunks[min(int(s.ChunkID-w.first), len(w.chunks)-1)]
	return bytes.HasPrefix(all.Bytes(), chunk)
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

// acksDue returns how many acks are due.
func acksDue(p statemachine.PendingAcks) (n int) {
	for _, due := range []bool{p.Current, p.Previous, p.Hold} {
		if due {
			n++
		}
	}
	return n
}

// undisturbed reports whether the receiver still has what it had, acks and spare equations
// aside.
func undisturbed(a, b *exState) bool {
	was, is := *b, *a
	for _, st := range []*exState{&was, &is} {
		r := &st.receiver
		r.acks, r.pending, r.heldSlices, r.spare.checked = acktimer.Timer{}, statemachine.PendingAcks{}, 0, false
	}
	return receiverKey(&was) == receiverKey(&is)
}

func (w *exWorld) receiverUnchanged(st *exState, event core.Row) error {
	if receiverKey(st) != receiverKey(&w.before) {
		return fmt.Errorf("%v changes the receiver", event)
	}
	return nil
}

// afterReceiverPoll checks what a poll of the receiver answered. It does not fold.
func (w *exWorld) afterReceiverPoll(st *exState, a Ack, ok bool, now core.Micros) error {
	before, r := &w.before.receiver, &st.receiver
	if err := w.took(r.row, before.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	switch gave := now >= epoch+r.giveUp; {
	case gave && (ok || r.Err() != statemachine.ErrGaveUp || r.acks.At != core.Never || r.pending != statemachine.PendingAcks{}):
		return errors.New("the receiver does not give up in time (RCV-15)")
	case gave:
		return nil
	case ok != before.acks.Due(now):
		return errors.New("an ack is due and does not go out, or the other way round (AKT-5)")
	case !ok:
		return nil
	case acksDue(r.pending) != acksDue(before.pending)-1:
		return errors.New("sending an ack does not make it no longer due (RCV-16, ACQ-2)")
	case r.pending == statemachine.PendingAcks{} && (r.acks.At != core.Never || r.acks.LastAt != now || r.acks.Unreported != 0):
		return errors.New("the last ack that was due does not stop the timer (AKT-5)")
	case a != w.wantedAck() || a.Validate() != nil:
		return fmt.Errorf("the ack says %+v, and should %+v (RCV-16)", a, w.wantedAck())
	}
	return nil
}

// wantedAck is the ack that goes out next (RCV-16).
func (w *exWorld) wantedAck() Ack {
	r := &w.before.receiver
	switch p := r.pending; {
	case p.Previous:
		n := w.sizes[int(r.chunkID-w.first)-1]
		return Ack{ChunkID: r.chunkID - 1, NumSlices: n, Have: n, Top: r.previousTop}
	case p.Current:
		return Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Have: int(w.before.held.n), Top: r.top}
	}
	return Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
}

func (w *exWorld) afterRead(st *exState) error {
	row := st.receiver.row
	w.asleep(st)
	foldReceiver(&st.receiver, present)
	if err := w.took(row, w.before.receiver.state, st.receiver.state); err != nil || row == "U17" {
		return err
	}
	return w.receiverUnchanged(st, row)
}
