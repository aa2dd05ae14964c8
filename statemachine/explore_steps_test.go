package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
)

// What must hold of every step: e.before is the state before the event, st the
// one after it, not yet folded. These fold it.

// afterSender checks an event of the sender's; a is the ack if it was one.
func (e *explorer) afterSender(st *exState, a codec.Ack) string {
	st.sched = *e.sched
	st.sched.next = -1
	before, s := &e.before.sender, &st.sender
	row, heard := s.row, s.heardFromAt
	t := senderIndexByRow[row]
	e.rows[row] = true
	foldSender(s)
	if t.From != before.state || t.To != s.state {
		return fmt.Sprintf("%v leads from %v to %v", row, before.state, s.state)
	}
	switch row {
	case S1Start, S8HoldAck, S9News, S10Complete:
		if heard != present {
			return fmt.Sprintf("%v does not set heard_at (SND-10, SND-11)", row)
		}
	default:
		if heard != epoch {
			return fmt.Sprintf("%v sets heard_at", row)
		}
	}
	return e.checkSenderStep(st, row, a)
}

func (e *explorer) checkSenderStep(st *exState, row Row, a codec.Ack) string {
	before, s := &e.before.sender, &st.sender
	switch row {
	case S1Start:
		if !s.sent.Empty() || !s.acked.Empty() {
			return fmt.Sprintf("a chunk starts with sent %v, acked %v (SND-10)", s.sent, s.acked)
		}
	case S13SendSlice:
		if s.acked != before.acked || s.sent.Minus(before.sent).Count() > 1 || !before.sent.Minus(s.sent).Empty() {
			return "sending a slice changes more than that (SND-14)"
		}
	case S9News, S10Complete:
		if s.acked != before.acked.Union(a.Acked.Intersect(before.sent)) || s.sent != before.sent {
			return fmt.Sprintf("acked %v and news %v become %v (SAFE-3, SND-7)", before.acked, a.Acked, s.acked)
		}
	case S15GiveUp:
	default:
		if e.senderKey(st) != e.senderKey(&e.before) {
			return fmt.Sprintf("%v changes the sender", row)
		}
	}
	return ""
}

// afterSlice checks the arrival of a slice.
func (e *explorer) afterSlice(st *exState, s codec.Slice) string {
	r := &st.receiver
	row, progress, dueAt := r.row, r.progressAt, r.acks.at
	foldReceiver(r, present)
	if problem := e.checkReceiverRow(st, row); problem != "" || st.restarted != 0 || e.scenario.blind {
		return problem
	}
	want := e.wantedOf(s)
	if problem := e.checkAnswer(st, want, dueAt); problem != "" {
		return fmt.Sprintf("%v: %s", row, problem)
	}
	switch {
	case want.stored != (progress == present):
		return fmt.Sprintf("%v: stored %v, but progress_at %d (RCV-11)", row, want.stored, progress-present)
	case want.completes:
		if r.state != ReceiverReady || r.chunkID != s.ChunkID+1 || r.numSlices != 0 {
			return fmt.Sprintf("%v: the chunk is not complete (RCV-12)", row)
		}
	case want.stored:
		if r.received != want.received || r.numSlices != s.NumSlices {
			return fmt.Sprintf("%v: received %v of %d slices, not %v of %d (RCV-11)", row, r.received, r.numSlices, want.received, s.NumSlices)
		}
	case !e.undisturbed(st):
		return fmt.Sprintf("%v changes what is received (SAFE-5, RCV-4, RCV-7, RCV-13, RCV-14)", row)
	}
	return ""
}

// wanted is what a slice must do.
type wanted struct {
	answer    answer
	held      int // the number of slices that a hold is to name
	stored    bool
	completes bool
	received  codec.Bitset
}

// answer tells of what an ack must be due.
type answer uint8

const (
	noAnswer answer = iota
	ofCurrent
	ofPrevious
	ofHold
)

// wantedOf works out what a slice must do in e.before: not by the receiver's
// guards, but in the observer's own words.
func (e *explorer) wantedOf(s codec.Slice) wanted {
	r := &e.before.receiver
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
	case r.state == ReceiverReceiving && s.NumSlices != r.numSlices && !halfPassed(r):
		return wanted{}
	}
	w := wanted{answer: ofCurrent, received: r.received}
	if s.NumSlices != r.numSlices {
		w.received = codec.Bitset{} // the first one, or it pins anew
	}
	w.stored = !w.received.Has(s.SliceID)
	w.received.Set(s.SliceID)
	if w.completes = w.received == codec.FirstN(s.NumSlices); w.completes {
		w.answer = ofPrevious
	}
	return w
}

// checkAnswer: a slice makes the ack due that it must, in time, and no other.
func (e *explorer) checkAnswer(st *exState, want wanted, dueAt Micros) string {
	before, r := &e.before.receiver, &st.receiver
	answered := [...]bool{
		noAnswer:   r.pending == before.pending && r.heldSlices == before.heldSlices && r.acks == before.acks,
		ofCurrent:  r.pending.current,
		ofPrevious: r.pending.previous,
		ofHold:     r.pending.hold && r.heldSlices == want.held,
	}[want.answer]
	switch {
	case !answered && want.answer == noAnswer:
		return "it is answered (RCV-4, RCV-7)"
	case !answered:
		return "it is not answered: no ack of it is due (LIVE-1, RCV-13, RCV-14)"
	case want.answer == noAnswer:
		return ""
	case want.completes && dueAt > present:
		return "the ack of the complete chunk is not due at once (ACQ-3)"
	case dueAt > present+ackInterval:
		return fmt.Sprintf("its ack is due only after %d us (AKT-2)", dueAt-present)
	case dueAt > before.acks.at:
		return "it puts off an ack that is due (section 8.5)"
	case acksDue(r.pending) > acksDue(before.pending)+1:
		return "it makes two acks due (ACQ-2)"
	}
	return ""
}

// acksDue returns how many acks are due.
func acksDue(p pendingAcks) (n int) {
	for _, due := range []bool{p.current, p.previous, p.hold} {
		if due {
			n++
		}
	}
	return n
}

// undisturbed tells whether the receiver still has what it had, acks aside.
func (e *explorer) undisturbed(st *exState) bool {
	was, is := e.before, *st
	for _, r := range []*Receiver{&was.receiver, &is.receiver} {
		r.acks, r.pending, r.heldSlices = ackTimer{}, pendingAcks{}, 0
	}
	return e.receiverKey(&was) == e.receiverKey(&is)
}

func (e *explorer) receiverUnchanged(st *exState, row Row) string {
	if e.receiverKey(st) != e.receiverKey(&e.before) {
		return fmt.Sprintf("%v changes the receiver", row)
	}
	return ""
}

func (e *explorer) checkReceiverRow(st *exState, row Row) string {
	e.rows[row] = true
	if t := receiverIndexByRow[row]; t.From != e.before.receiver.state || t.To != st.receiver.state {
		return fmt.Sprintf("%v leads from %v to %v", row, e.before.receiver.state, st.receiver.state)
	}
	return ""
}

// afterReceiverPoll checks what a poll of the receiver answered. It does not fold.
func (e *explorer) afterReceiverPoll(st *exState, a codec.Ack, ok bool, now Micros) string {
	before, r := &e.before.receiver, &st.receiver
	if problem := e.checkReceiverRow(st, r.row); problem != "" || st.restarted != 0 || e.scenario.blind {
		return problem
	}
	switch gaveUp := now >= epoch+r.giveUp; {
	case gaveUp && (ok || r.Err() != ErrGaveUp || r.acks.at != Never || r.pending != pendingAcks{}):
		return "the receiver does not give up in time (RCV-15)"
	case gaveUp:
		return ""
	case ok != before.acks.due(now):
		return "an ack is due and does not go out, or the other way round (AKT-5)"
	case !ok:
		return e.afterIdlePoll(st, now)
	case acksDue(r.pending) != acksDue(before.pending)-1:
		return "sending an ack does not make it no longer due (RCV-16, ACQ-2)"
	case r.pending == pendingAcks{} && (r.acks.at != Never || r.acks.lastAt != now || r.acks.unreported != 0):
		return "the last ack that was due does not stop the timer (AKT-5)"
	}
	if a != e.wantedAck(before) || a.Validate() != nil || a.NumSlices > 8 {
		return fmt.Sprintf("the ack says %v, and should %v (RCV-16)", a, e.wantedAck(before))
	}
	return ""
}

func (e *explorer) afterIdlePoll(st *exState, now Micros) string {
	is := *st
	foldReceiver(&is.receiver, now)
	return e.receiverUnchanged(&is, st.receiver.row)
}

// wantedAck is the ack that goes out next (RCV-16).
func (e *explorer) wantedAck(r *Receiver) codec.Ack {
	switch p := r.pending; {
	case p.previous:
		n := numSlicesOf(e.chunks[int(r.chunkID-e.scenario.first)-1])
		return codec.Ack{ChunkID: r.chunkID - 1, NumSlices: n, Acked: codec.FirstN(n)}
	case p.current:
		return codec.Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Acked: r.received}
	}
	return codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
}

func (e *explorer) afterRead(st *exState) string {
	row := st.receiver.row
	foldReceiver(&st.receiver, present)
	if problem := e.checkReceiverRow(st, row); problem != "" || row == R16Read {
		return problem
	}
	return e.receiverUnchanged(st, row)
}

// The tables' rows by their ids.
var (
	senderIndexByRow   = indexByRow(senderTable)
	receiverIndexByRow = indexByRow(receiverTable)
)

func indexByRow[S ~uint8](table []Transition[S]) (rows [lastRow + 1]Transition[S]) {
	for _, t := range table {
		rows[t.Row] = t
	}
	return rows
}
