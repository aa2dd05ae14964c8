package statemachine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// exWorld is what the worlds of either kind have in common: all that is said of the machines
// and not of their ledgers. namedWorld and repairWorld are the explore.Worlds.
type exWorld struct {
	scenario
	ofKind
	chunks   [][]byte
	rows     map[core.Row]bool // rows taken
	now, was exParts           // the state that is looked at, and the one before its event
}

// ofKind is what a world does in the way of its kind, to the state that is looked at.
type ofKind interface {
	newSender()
	newReceiver()
	// lend gives the sender a scheduler that knows what it knew; takeBack keeps that again.
	lend()
	takeBack()
	sendable() core.Set // what the scheduler may have sent
	submit(i int) error // chunk i; -1: an empty one
	send(arg int) error
	// wake makes the receiver ready for an event, sleep takes it apart again: whole if what it
	// holds may be looked at. It holds nothing any more when that has ended.
	wake(whole bool)
	sleep(whole, ended bool)
	slice(p exPacket) codec.Slice
	ack(p exPacket) codec.Ack
	packedAck(a codec.Ack) exPacket
	sliceArrives(s codec.Slice, forged bool) error
	spoils(f forgery) bool
	foreignAcks() []codec.Ack
	checkSender() error
	checkAcked() error
	checkReceiver() error
	checkSenderStep(row core.Row, a codec.Ack) error
	receiverUnchanged(event core.Row) error
	// previousAck and currentAck say what an ack of a chunk must, before the event.
	previousAck(a *codec.Ack)
	currentAck(a *codec.Ack)
	texts() (sender, receiver string)
}

func newExWorld(sc scenario) exWorld {
	w := exWorld{scenario: sc, rows: map[core.Row]bool{}}
	for i, n := range sc.sizes {
		w.chunks = append(w.chunks, chunktest.Chunk((n-1)*codec.SliceSize+2+n, uint32(i+1)))
	}
	return w
}

// exParts are those that the states of either kind have.
type exParts struct {
	s            *Sender
	r            *Receiver
	slices, acks *explore.Bag[exPacket]
	*exCounts
}

// exCounts are what an observer who sees both ends has counted.
type exCounts struct {
	submitted uint8
	reported  uint8 // chunks that the sender said were delivered
	delivered uint8 // chunks that were read
	forged    uint8 // which forged slices have come
	acked     uint8 // which forged acks have
	restarted uint8 // which ends have
}

const (
	senderRestarted   = 1
	receiverRestarted = 2
)

// exRows are the rows that the explorer knows by name.
var exRows = [...]struct {
	heard     []core.Row // set heard_at
	delivered core.Row   // at the sender
	read      core.Row
}{
	codec.Named:  {[]core.Row{"S1", "S8", "S9", "S10"}, "S10", "R16"},
	codec.Repair: {[]core.Row{"T1", "T8", "T9", "T10"}, "T10", "U17"},
}

// epoch is the present, at both ends, in every state. See foldReceiver.
const epoch = 100 * core.Second

// Every event comes 1 us after the one before, so that a time that was set differs
// from one that was not.
const present = epoch + 1

// foldSender brings a sender to which it is now into the form in which states are
// compared. Of its times only one is ever compared with anything: give up holds when
// heardAt is long ago. That is a move of the explorer's.
func foldSender(s *Sender) {
	s.now, s.heardAt, s.startedAt = epoch, epoch, 0
	s.stats, s.row, s.refusal, s.out, s.given = SenderStats{}, "", nil, codec.Slice{}, given{}
}

// foldReceiver does the same for a receiver to which it is now: what its code compares
// with now stays on the same side of it, and the rest goes.
func foldReceiver(r *Receiver, now core.Micros) {
	switch t := &r.acks; {
	case t.At == core.Never:
	case t.At <= now:
		t.At = epoch
	default:
		t.At = epoch + acktimer.Interval
	}
	switch t := &r.acks; {
	case !t.SentOne:
		t.LastAt = 0
	case now-t.LastAt >= acktimer.Interval:
		t.LastAt = epoch - acktimer.Interval
	default:
		t.LastAt = epoch
	}
	if r.state == ReceiverReceiving && now-r.progressAt >= r.giveUp/2 {
		r.progressAt = epoch - r.giveUp/2
	} else {
		r.progressAt = epoch
	}
	r.now, r.startedAt = epoch, 0
	r.stats, r.row, r.out, r.read = ReceiverStats{}, "", codec.Ack{}, nil
}

// halfPassed reports whether the receiver waits for a slice that adds since half of the time
// after which it gives up.
func halfPassed(r *Receiver) bool { return r.progressAt < epoch }

// waiting reports whether 2 ms make a difference to the receiver.
func waiting(r *Receiver) bool {
	return r.acks.At == epoch+acktimer.Interval || r.acks.SentOne && r.acks.LastAt == epoch
}

// ended: a connection has ended when all is delivered and reported, or when an end has
// failed and the other waits for nothing.
func (w *exWorld) ended() bool {
	st, s, r, n := w.now, w.now.s, w.now.r, len(w.chunks)
	failed := s.state == SenderFailed || r.state == ReceiverFailed || st.restarted != 0
	done := int(st.submitted) == n && int(st.reported) == n && int(st.delivered) == n
	senderDone := s.state == SenderFailed || s.state == SenderIdle && int(st.submitted) == n
	receiverDone := r.state == ReceiverFailed || r.state == ReceiverWaiting
	return senderDone && receiverDone && (failed || done)
}

// completed returns how many chunks the receiver has had whole.
func (w *exWorld) completed() int { return int(w.now.r.chunkID - w.first) }

// isGenuine reports whether a chunk of this connection has the form.
func (w *exWorld) isGenuine(index, numSlices, lastBytes int) bool {
	return index >= 0 && index < len(w.sizes) && numSlices == w.sizes[index] && lastBytes == w.lastBytes(index)
}

// lastBytes is what slices of a chunk say of its last one: named ones nothing.
func (w *exWorld) lastBytes(index int) int {
	if w.kind == codec.Named {
		return 0
	}
	return len(w.chunks[index]) - (w.sizes[index]-1)*codec.SliceSize
}

// receivesGenuine reports whether what the receiver receives has the form of its chunk.
func (w *exWorld) receivesGenuine() bool {
	return w.isGenuine(w.completed(), w.now.r.numSlices, w.now.r.lastBytes)
}

var forgedData = chunktest.Chunk(codec.SliceSize, 99)

func forgedBytes(id, numSlices, lastBytes int) []byte {
	if numSlices == 1 || id == numSlices-1 {
		return forgedData[:lastBytes]
	}
	return forgedData
}

func (w *exWorld) forgedSlice(f forgery) codec.Slice {
	if f.lastBytes == 0 {
		f.lastBytes = w.lastBytes(f.chunk)
	}
	s := codec.Slice{ChunkID: w.first + uint16(f.chunk), SliceID: f.id, NumSlices: f.numSlices, Data: forgedBytes(f.id, f.numSlices, f.lastBytes)}
	if w.kind == codec.Repair {
		s.LastBytes = f.lastBytes
	}
	return s
}

// forgedAck returns a forged ack of the chunk in flight.
func (w *exWorld) forgedAck(i int) codec.Ack {
	a := w.acked[i]
	a.ChunkID, a.NumSlices = w.now.s.chunkID, w.now.s.numSlices
	return a
}

// applyMove makes a move: the state becomes the one after it, folded.
func (w *exWorld) applyMove(m exMove) error {
	st, i := w.now, int(m.arg)
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
		return w.sliceArrives(w.slice(st.slices.Take(i)), false)
	case moveForge:
		st.forged |= 1 << m.arg
		return w.sliceArrives(w.forgedSlice(w.forged[i]), true)
	case moveAck, pokeReceiver:
		return w.pollReceiver(present)
	case moveReceiverGivesUp:
		return w.pollReceiver(epoch + st.r.giveUp)
	case moveRead, pokeRead:
		return w.read()
	case moveWait:
		foldReceiver(st.r, epoch+acktimer.Interval)
	case moveHalf:
		foldReceiver(st.r, epoch+st.r.giveUp/2)
	case moveReceiverRestarts:
		st.restarted |= receiverRestarted
		w.newReceiver()
	default:
		return w.applyToSender(m)
	}
	return nil
}

func (w *exWorld) applyToSender(m exMove) error {
	st := w.now
	w.lend()
	switch m.kind {
	case moveSubmit:
		return w.submitNext()
	case moveSend:
		return w.send(int(m.arg))
	case moveAckArrives:
		return w.ackArrives(w.ack(st.acks.Take(int(m.arg))))
	case moveForgeAck:
		st.acked |= 1 << m.arg
		return w.ackArrives(w.forgedAck(int(m.arg)))
	case pokeAck:
		return w.ackArrives(w.foreignAcks()[m.arg])
	case moveSenderGivesUp:
		return w.pollSender(epoch+st.s.giveUp, ErrGaveUp)
	case pokeSender:
		return w.pollSender(present, w.was.s.Err())
	case pokeSubmitNothing:
		return w.submitInVain(-1)
	case pokeSubmitBusy:
		return w.submitInVain(0)
	case moveSenderRestarts:
		st.restarted |= senderRestarted
		w.newSender()
	}
	return nil
}

func (w *exWorld) submitNext() error {
	refusal := w.submit(int(w.now.submitted))
	w.now.submitted++
	err := w.afterSender(codec.Ack{})
	if refusal != nil {
		return fmt.Errorf("submit is refused: %v", refusal)
	}
	return err
}

func (w *exWorld) submitInVain(i int) error {
	want := [...]error{ErrChunkSize, ErrBusy, ErrGaveUp}[w.now.s.state]
	refusal := w.submit(i)
	err := w.afterSender(codec.Ack{})
	if refusal != want {
		return fmt.Errorf("submit in %v: %v (SND-1)", w.was.s.state, refusal)
	}
	return err
}

func (w *exWorld) ackArrives(a codec.Ack) error {
	w.now.s.HandleAck(present, a)
	if w.now.s.row == exRows[w.kind].delivered {
		w.now.reported++
	}
	return w.afterSender(a)
}

// pollSender polls a sender whose scheduler has nothing to send.
func (w *exWorld) pollSender(now core.Micros, want error) error {
	_, ok := w.now.s.Poll(now)
	err := w.afterSender(codec.Ack{})
	if is := w.now.s.Err(); ok || is != want {
		return fmt.Errorf("the sender's error is %v, not %v, or a slice is sent: %v (SND-9, SND-15)", is, want, ok)
	}
	return err
}

// pollReceiver has the receiver send an ack, or not. A full network loses it.
func (w *exWorld) pollReceiver(now core.Micros) error {
	st, r := w.now, w.now.r
	givesUp := now >= epoch+r.giveUp
	w.wake(givesUp)
	a, ok := r.Poll(now)
	err := w.afterReceiverPoll(a, ok, now)
	if ok && st.acks.Len() < w.acks {
		st.acks.Add(w.packedAck(a))
	}
	w.sleep(givesUp, givesUp)
	foldReceiver(r, now)
	if err == nil && !ok && !givesUp && !w.blind && st.restarted == 0 {
		err = w.receiverUnchanged("a poll")
	}
	return err
}

func (w *exWorld) read() error {
	st := w.now
	ready := st.r.state == ReceiverReady
	w.wake(true)
	chunk, refusal := st.r.Read(present, nil)
	if ready {
		st.delivered++
	}
	row := st.r.row
	w.sleep(true, ready)
	foldReceiver(st.r, present)
	err := w.took(row, w.was.r.state, st.r.state)
	if err == nil && row != exRows[w.kind].read {
		err = w.receiverUnchanged(row)
	}
	switch {
	case !ready && refusal != ErrNothingToRead, ready && refusal != nil:
		return fmt.Errorf("read in %v: %v (RCV-12)", w.was.r.state, refusal)
	case st.restarted != 0 || !ready:
	case int(st.delivered) > len(w.chunks):
		return errors.New("a chunk too many is delivered (SAFE-1)")
	case !bytes.Equal(chunk, w.chunks[st.delivered-1]):
		return fmt.Errorf("what is delivered is not chunk %d as submitted (SAFE-1)", w.first+uint16(st.delivered-1))
	}
	return err
}

// What must hold in every state (sections 7.2, 8.2 and 11). It is said by an observer who
// knows the submitted chunks, not by the machines' own guards.

// check returns what is wrong with a folded state.
func (w *exWorld) check() error {
	if w.blind || w.now.restarted != 0 {
		return nil // nothing is promised but an end
	}
	for _, check := range [...]func() error{w.checkIDs, w.checkSender, w.checkAcked, w.checkReceiver, w.checkDue} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (w *exWorld) checkIDs() error {
	st, s, r := w.now, w.now.s, w.now.r
	read := int(st.delivered)
	if r.state == ReceiverReady {
		read++
	}
	switch ahead := r.chunkID - s.chunkID; {
	case s.chunkID != w.first+uint16(st.reported):
		return fmt.Errorf("the sender is at chunk %d after %d (CID-2)", s.chunkID, st.reported)
	case w.completed() != read:
		return fmt.Errorf("the receiver is at chunk %d after %d (SAFE-1)", r.chunkID, read)
	case ahead == 65535:
		return errors.New("the sender has reported a chunk that the receiver does not have (SAFE-2)")
	case ahead > 1:
		return fmt.Errorf("the receiver is %d chunks ahead (CON-2)", ahead)
	}
	return nil
}

// atOneChunk reports whether the sender sends the chunk that the receiver is at.
func (w *exWorld) atOneChunk() bool {
	s, r := w.now.s, w.now.r
	return s.state == SenderSending && r.state != ReceiverFailed && r.chunkID == s.chunkID
}

// checkDue: for each chunk at most one ack is due, and it is sent soon.
func (w *exWorld) checkDue() error {
	r := w.now.r
	previous := 0
	if n := w.completed(); n > 0 && r.state != ReceiverFailed {
		previous = w.sizes[n-1]
	}
	switch {
	case (r.pending == PendingAcks{}) != (r.acks.At == core.Never):
		return fmt.Errorf("acks due: %+v, the next one is sent at %d (AKT-5)", r.pending, r.acks.At)
	case r.pending.Current && r.state != ReceiverReceiving:
		return fmt.Errorf("an ack of the current chunk is due in %v", r.state)
	case r.pending.Hold && r.state == ReceiverReceiving:
		return errors.New("a hold is due for a chunk that is received (RCV-10)")
	case r.pending.Previous && previous == 0:
		return errors.New("no ack of the previous chunk is due, though one is owed (RCV-6)")
	case r.state != ReceiverFailed && r.previousSlices != previous:
		return fmt.Errorf("the previous chunk had %d slices, not %d (RCV-12)", previous, r.previousSlices)
	case r.state != ReceiverReceiving && (r.numSlices != 0 || r.lastBytes != 0):
		return fmt.Errorf("%v with a chunk of %d slices, the last of %d bytes (section 8.2)", r.state, r.numSlices, r.lastBytes)
	case r.state == ReceiverReceiving && !w.receivesGenuine() && len(w.forged) == 0:
		return fmt.Errorf("%d slices are fixed, which is wrong (RCV-7)", r.numSlices)
	case r.state == ReceiverReady && r.readSize != len(w.chunks[w.completed()-1]):
		return fmt.Errorf("%d bytes wait to be read (SAFE-5)", r.readSize)
	}
	return nil
}

// What must hold of every step: w.was is the state before the event.

// took notes that a row was taken, which must lead from the one state to the other.
func (w *exWorld) took(row core.Row, from, to fmt.Stringer) error {
	w.rows[row] = true
	return leads(row, from, to)
}

// afterSender checks an event of the sender's, and folds it; a is the ack if it was one.
func (w *exWorld) afterSender(a codec.Ack) error {
	w.takeBack()
	s := w.now.s
	row, heard := s.row, s.heardAt
	foldSender(s)
	if err := w.took(row, w.was.s.state, s.state); err != nil {
		return err
	}
	want := core.Micros(epoch)
	if slices.Contains(exRows[w.kind].heard, row) {
		want = present
	}
	if heard != want {
		return fmt.Errorf("%v leaves heard_at %d, not %d (SND-10, SND-11)", row, heard-epoch, want-epoch)
	}
	return w.checkSenderStep(row, a)
}

// wanted is what a slice must do.
type wanted struct {
	answer     answer
	held       int  // the number of slices that a hold is to name
	begins     bool // the first one, or it replaces the form
	adds       bool
	completes  bool
	received   core.Set // the named slices here then
	compared   bool     // a spare equation is compared
	mismatches int      // spare equations that are wrong
}

// answer says of what an ack must be due.
type answer uint8

const (
	noAnswer answer = iota
	ofCurrent
	ofPrevious
	ofHold
)

// wantedOf works out of what a slice must make an ack due: not by the receiver's guards, but
// in the observer's own words. What else it must do its kind says.
func (w *exWorld) wantedOf(s codec.Slice) wanted {
	r := w.was.r
	previous := r.previousSlices > 0 && s.ChunkID == r.chunkID-1
	sameForm := s.NumSlices == r.numSlices && s.LastBytes == r.lastBytes
	switch {
	case r.state == ReceiverFailed, !previous && s.ChunkID != r.chunkID:
		return wanted{}
	case previous && s.NumSlices != r.previousSlices:
		return wanted{}
	case previous:
		return wanted{answer: ofPrevious}
	case r.state == ReceiverReady:
		return wanted{answer: ofHold, held: s.NumSlices}
	case r.state == ReceiverReceiving && !sameForm && !halfPassed(r):
		return wanted{}
	}
	return wanted{answer: ofCurrent, begins: !sameForm}
}

// checkAnswer: a slice makes the ack due that it must, in time, and no other.
func (w *exWorld) checkAnswer(want wanted, dueAt core.Micros) error {
	before, r := w.was.r, w.now.r
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

// afterReceiverPoll checks what a poll of the receiver answered. It does not fold.
func (w *exWorld) afterReceiverPoll(a codec.Ack, ok bool, now core.Micros) error {
	before, r := w.was.r, w.now.r
	if err := w.took(r.row, before.state, r.state); err != nil || w.now.restarted != 0 || w.blind {
		return err
	}
	switch gaveUp := now >= epoch+r.giveUp; {
	case gaveUp && (ok || r.Err() != ErrGaveUp || r.acks.At != core.Never || r.pending != PendingAcks{}):
		return errors.New("the receiver does not give up in time (RCV-15)")
	case gaveUp:
		return nil
	case ok != before.acks.Due(now):
		return errors.New("an ack is due and not sent, or sent and not due (AKT-5)")
	case !ok:
		return nil
	case acksDue(r.pending) != acksDue(before.pending)-1:
		return errors.New("sending an ack does not make it no longer due (RCV-16, ACQ-2)")
	case r.pending == PendingAcks{} && (r.acks.At != core.Never || r.acks.LastAt != now || r.acks.Unreported != 0):
		return errors.New("the last ack that was due does not stop the timer (AKT-5)")
	}
	if a != w.wantedAck() || w.kind.ValidateAck(&a) != nil || a.NumSlices > 8 {
		return fmt.Errorf("the ack says %+v, and should %+v (RCV-16)", a, w.wantedAck())
	}
	return nil
}

// wantedAck is the ack that is sent next (RCV-16).
func (w *exWorld) wantedAck() codec.Ack {
	r := w.was.r
	a := codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
	switch p := r.pending; {
	case p.Previous:
		a.ChunkID--
		a.NumSlices = w.sizes[int(a.ChunkID-w.first)]
		w.previousAck(&a)
	case p.Current:
		a.NumSlices = r.numSlices
		w.currentAck(&a)
	}
	return a
}
