package lanes

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ErrBusy refuses a chunk while as many wait as can.
var ErrBusy = errors.New("lanes: the queue of chunks is full")

// Lanes is the lanes of one end of a connection. It does nothing between calls.
type Lanes struct {
	cfg     Config
	lanes   []lane
	only    [1]lane // their memory, if there is one alone
	busy    uint16  // lanes with a chunk in flight, as a set of bits
	nextOut int     // lane of the next chunk to begin
	nextIn  int     // lane of the next chunk to deliver

	queue    []chunk // behind those in flight
	next     int64   // number of the next chunk to submit
	finished []int64 // numbers of chunks that were delivered, for Finished

	pacer     pacer
	heldUntil core.Micros
	turnAt    core.Micros // when Config.Total lets the next slice go
	calmAt    core.Micros // no lane waits for its turn then; one that begins does not at once
	deferred  int64       // slices that were left out for Config.Rebuilds
	err       error
}

// chunk is one that waits to be sent.
type chunk struct {
	number int64
	*erasure.Encoded
}

// New returns lanes that have sent and received nothing: their machines begin with chunk 0
// (CON-1, CID-1). It fails with core.ErrConfig, or with what NewScheduler fails with.
func New(cfg Config) (*Lanes, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	l := &Lanes{cfg: cfg, calmAt: none}
	l.lanes = l.only[:]
	if cfg.Lanes > 1 {
		l.lanes = make([]lane, cfg.Lanes)
	}
	for k := range l.lanes {
		l.lanes[k].number = none
	}
	_, err = l.senderOf(0)
	return l, err
}

// Len returns how many lanes there are.
func (l *Lanes) Len() int { return len(l.lanes) }

// senders are those that there are.
func (l *Lanes) senders() iter.Seq[*statemachine.Sender] {
	return func(yield func(*statemachine.Sender) bool) {
		for i := range l.lanes {
			if s := l.lanes[i].sender; s != nil && !yield(s) {
				return
			}
		}
	}
}

// after returns the lane behind lane k.
func (l *Lanes) after(k int) int { return (k + 1) % len(l.lanes) }

// bySubmission returns the i-th lane in the order in which the chunks in flight were submitted,
// the idle lanes among them.
func (l *Lanes) bySubmission(i int) int {
	if i += l.nextOut; i >= len(l.lanes) { // not by a division: each slice asks for all lanes
		i -= len(l.lanes)
	}
	return i
}

// latest returns the lane whose chunk began last, and lane 0 before the first.
func (l *Lanes) latest() *lane {
	if lane := &l.lanes[l.bySubmission(len(l.lanes)-1)]; lane.sender != nil {
		return lane
	}
	return &l.lanes[0]
}

// Submit puts a chunk of 1 to codec.MaxChunkSize bytes in line, and returns its number: they
// count from 0. The chunk is not copied: it must stay as it is until Finished returned its
// number. Submit fails with statemachine.ErrChunkSize, with ErrBusy, or with Err; then nothing
// has changed.
func (l *Lanes) Submit(now core.Micros, data []byte) (number int64, err error) {
	return l.SubmitEncoded(now, erasure.EncodeForOne(data))
}

// SubmitEncoded is Submit for a chunk of which others can send the same slices.
func (l *Lanes) SubmitEncoded(now core.Micros, e *erasure.Encoded) (number int64, err error) {
	switch {
	case l.err != nil:
		return none, l.err
	case len(e.Bytes()) < 1 || len(e.Bytes()) > codec.MaxChunkSize:
		return none, fmt.Errorf("lanes: chunk of %d bytes: %w", len(e.Bytes()), statemachine.ErrChunkSize)
	case len(l.queue) == l.cfg.SendQueue:
		return none, ErrBusy
	}
	if !l.Sending() {
		l.pacer.restart(now)
	}
	number = l.next
	l.next++
	l.queue = append(l.queue, chunk{number, e})
	l.begin(now)
	return number, nil
}

// Withdraw takes a chunk out of the line, and reports whether it did: one that is in flight
// cannot be taken back.
func (l *Lanes) Withdraw(number int64) bool {
	i := slices.IndexFunc(l.queue, func(c chunk) bool { return c.number == number })
	if i < 0 {
		return false
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	return true
}

// Finished returns the number of a chunk that the peer has whole, once for each. Chunks of
// different lanes can finish in another order than that in which they were submitted.
func (l *Lanes) Finished() (number int64, ok bool) {
	if len(l.finished) == 0 {
		return none, false
	}
	number = l.finished[0]
	if l.finished = slices.Delete(l.finished, 0, 1); len(l.finished) == 0 {
		l.finished = nil // an idle connection is to cost little
	}
	return number, true
}

// HandleAck takes an ack that came by lane k. It reports whether the ack was of this
// connection (CON-6).
func (l *Lanes) HandleAck(now core.Micros, k int, a codec.Ack) (ours bool) {
	s, err := l.senderOf(k)
	if err != nil {
		return false
	}
	ours = s.HandleAck(now, a)
	l.advance(now)
	return ours
}

// HandleSlice takes a slice that came by lane k, and copies its data. It reports whether the
// slice was of this connection (CON-6).
func (l *Lanes) HandleSlice(now core.Micros, k int, s codec.Slice) (ours bool) {
	if l.beyondLimit(k, s.ChunkID) {
		return false
	}
	receiver := l.receiverOf(k)
	if l.cfg.Rebuilds != nil && !l.cfg.Rebuilds.allow(now, receiver, s) {
		l.leaveOut(now, k, &s)
		return true
	}
	return receiver.HandleSlice(now, s)
}

// leaveOut counts a slice that costs more than Config.Rebuilds has.
func (l *Lanes) leaveOut(now core.Micros, k int, s *codec.Slice) {
	l.deferred++
	if l.cfg.Log != nil {
		l.cfg.Log(eventlog.Event{
			Kind: eventlog.SliceReceived, At: now, Lane: k, ChunkID: s.ChunkID, SliceID: s.SliceID,
			Bytes: s.DatagramSize(), As: eventlog.Deferred,
		})
	}
}

// beyondLimit reports whether a slice is of a chunk beyond Config.ReceiveLimit.
func (l *Lanes) beyondLimit(k int, chunkID uint16) bool {
	receiver := l.receiverOf(k)
	if l.cfg.ReceiveLimit == 0 || chunkID != receiver.ChunkID() {
		return false
	}
	return receiver.Chunks()*int64(len(l.lanes))+int64(k) >= l.cfg.ReceiveLimit
}

// PollAck returns an ack to send at now, and its lane, or false when none is due. Call it until
// it returns false, and before PollSlice.
func (l *Lanes) PollAck(now core.Micros) (k int, a codec.Ack, ok bool) {
	for k := range l.lanes {
		if r := l.lanes[k].receiver; r != nil {
			if a, ok := r.Poll(now); ok {
				return k, a, true
			}
		}
	}
	l.noteFailure()
	return none, codec.Ack{}, false
}

// PollSlice returns a slice to send at now, and its lane, or false when none is due. Call it
// until it returns false. The slice's data point into the chunk. Lanes that wait for their turn go
// first, and then the lanes of the earlier chunks (LAN-8, LAN-13). A sender that must wait is polled
// only when it is to give up.
func (l *Lanes) PollSlice(now core.Micros) (k int, s codec.Slice, ok bool) {
	l.begin(now)
	polled := ^l.busy & (1<<len(l.lanes) - 1)
	for polled != 1<<len(l.lanes)-1 && l.err == nil {
		k := l.nextTurn(now, polled)
		polled |= 1 << k
		if now < l.allowedAt() && now < l.lanes[k].givesUpAt(l.cfg.GiveUp) {
			continue
		}
		if s, ok := l.lanes[k].sender.Poll(now); ok {
			l.lanes[k].sentAt = now
			l.begin(now) // so that SliceDeadline knows of the chunk that this slice let begin
			return k, s, true
		}
		l.err = l.failure(k) // which ends the lanes behind it at once (LAN-6)
	}
	return none, codec.Slice{}, false
}

// nextTurn returns the lane that is polled next, of those that were not: of the lanes that wait the one
// that is silent for longest (LAN-13), otherwise the lane of the earliest chunk (LAN-8).
func (l *Lanes) nextTurn(now core.Micros, polled uint16) (next int) {
	next, longest := none, core.Never
	for i := range l.lanes {
		k := l.bySubmission(i)
		if polled&(1<<k) != 0 {
			continue
		}
		if next == none {
			next = k
		}
		if l.calmAt == now { // as for the slice before
			return next
		}
		if since, ok := l.lanes[k].waits(now); ok && since < longest {
			next, longest = k, since
		}
	}
	if longest == core.Never && polled == 0 {
		l.calmAt = now
	}
	return next
}

// advance notes the chunks that have been delivered and begins the next, one a lane (CON-2,
// CON-3, LAN-4).
func (l *Lanes) advance(now core.Micros) {
	finished := false
	for i := range l.lanes {
		lane := &l.lanes[l.bySubmission(i)]
		if lane.number != none && lane.idle() {
			l.finished = append(l.finished, lane.number)
			lane.number = none
			l.busy &^= 1 << l.bySubmission(i)
			finished = true
		}
	}
	l.begin(now)
	if finished && !l.Sending() {
		l.rest()
	}
}

// begin begins the chunks in line that can.
func (l *Lanes) begin(now core.Micros) {
	for len(l.queue) > 0 && l.err == nil && l.mayBegin() {
		s, err := l.senderOf(l.nextOut)
		if err != nil {
			l.err = fmt.Errorf("lanes: %w", err)
			return
		}
		c := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		l.sharePath(s)
		_ = s.SubmitEncoded(now, c.Encoded) // it is idle, and the size is valid
		l.lanes[l.nextOut].number = c.number
		l.busy |= 1 << l.nextOut
		l.nextOut = l.after(l.nextOut)
	}
}

// mayBegin reports whether the next chunk can begin: its lane is idle, nothing of the chunk
// before is to go first (LAN-7), and the path has room for more (LAN-10). So lanes take turns at the
// link and do not compete for it.
func (l *Lanes) mayBegin() bool {
	if !l.lanes[l.nextOut].idle() {
		return false
	}
	before := l.latest()
	if before.idle() {
		return true
	}
	return !before.sender.Wants() && l.inFlight() < before.sender.Scheduler().PathSlices()
}

// inFlight returns how many slices were sent and are not known to have arrived.
func (l *Lanes) inFlight() (n int) {
	for busy := l.busy; busy != 0; busy &= busy - 1 {
		n += l.lanes[bits.TrailingZeros16(busy)].sender.InFlight()
	}
	return n
}

// sharePath gives a lane that is about to begin what the latest one has learned (LAN-9).
func (l *Lanes) sharePath(to *statemachine.Sender) {
	if len(l.lanes) > 1 {
		to.Scheduler().Adopt(l.latest().sender.Scheduler())
	}
}

// rest releases what only chunks in flight need: an idle connection is to cost little.
func (l *Lanes) rest() {
	l.queue = nil
	for s := range l.senders() {
		s.Rest()
	}
}

// ReadSize returns how many bytes the chunk has that Read delivers next, or 0 if it is not
// complete.
func (l *Lanes) ReadSize() int {
	if r := l.lanes[l.nextIn].receiver; r != nil {
		return r.ReadSize()
	}
	return 0
}

// Work does some of what Read has to do before, and reports whether nothing is left, as [statemachine.Receiver.Work].
func (l *Lanes) Work(operations int) (done bool) {
	r := l.lanes[l.nextIn].receiver
	return r == nil || r.Work(operations)
}

// Read appends the next chunk to dst, if it is complete. Chunks are delivered in the order in
// which they were submitted, by reading the lanes in turn (LAN-5). A receiver whose chunk was
// not read asks the peer to wait, which is all the back-pressure that there is (CON-3). What is
// complete can be read also after a failure.
func (l *Lanes) Read(now core.Micros, dst []byte) (data []byte, ok bool) {
	data, err := l.receiverOf(l.nextIn).Read(now, dst)
	if err != nil {
		return dst, false
	}
	l.nextIn = l.after(l.nextIn)
	if !slices.ContainsFunc(l.lanes, func(l lane) bool { return l.receives() != statemachine.ReceiverWaiting }) {
		l.cfg.Memory.Rest()
	}
	return data, true
}

// ReadTime returns how long the chunk took that Read returned last, from its first slice to the last new one.
func (l *Lanes) ReadTime() core.Micros {
	return l.receiverOf((l.nextIn + len(l.lanes) - 1) % len(l.lanes)).Stats().LastChunkTime
}

// Sending reports whether a chunk is in flight or in line.
func (l *Lanes) Sending() bool { return l.busy != 0 || len(l.queue) > 0 }

// Receiving reports whether a chunk has begun to arrive.
func (l *Lanes) Receiving() bool {
	return slices.ContainsFunc(l.lanes, func(l lane) bool { return l.receives() == statemachine.ReceiverReceiving })
}

// Deadline returns the first deadline of all machines. A sender that must wait has none before
// it can go on, or gives up.
func (l *Lanes) Deadline() core.Micros { return min(l.AckDeadline(), l.SliceDeadline()) }

// SliceDeadline returns when PollSlice has something to do, or Never.
func (l *Lanes) SliceDeadline() core.Micros {
	first, allowed := core.Never, l.allowedAt()
	for busy := l.busy; busy != 0 && l.err == nil; busy &= busy - 1 {
		lane := &l.lanes[bits.TrailingZeros16(busy)]
		at := lane.sender.Deadline()
		if at < allowed {
			at = min(allowed, lane.givesUpAt(l.cfg.GiveUp))
		}
		first = min(first, at)
	}
	return first
}

// AckDeadline returns when PollAck has something to do, or Never.
func (l *Lanes) AckDeadline() core.Micros {
	first := core.Never
	for i := range l.lanes {
		if r := l.lanes[i].receiver; r != nil {
			first = min(first, r.Deadline())
		}
	}
	return first
}

// Expire lets machines fail whose time to give up has come at now. It returns nothing to send,
// and is for a driver that cannot send.
func (l *Lanes) Expire(now core.Micros) {
	for i := range l.lanes {
		lane := &l.lanes[i]
		if now >= lane.givesUpAt(l.cfg.GiveUp) {
			lane.sender.Poll(now)
		}
		if now >= lane.receiverGivesUpAt(l.cfg.GiveUp) {
			lane.receiver.Poll(now)
		}
	}
	l.noteFailure()
}

// noteFailure notes which machine failed first. A lane that fails ends the others (LAN-6).
func (l *Lanes) noteFailure() {
	for k := 0; k < len(l.lanes) && l.err == nil; k++ {
		l.err = l.failure(k)
	}
}

// failure returns which machine of a lane has failed, or nil.
func (l *Lanes) failure(k int) error {
	switch lane := &l.lanes[k]; {
	case lane.sender != nil && lane.sender.Err() != nil:
		return fmt.Errorf("lanes: %ssending chunk %d: %w", l.nameOf(k), lane.progressOut().ChunkID, lane.sender.Err())
	case lane.receiver != nil && lane.receiver.Err() != nil:
		return fmt.Errorf("lanes: %sreceiving chunk %d: %w", l.nameOf(k), lane.receiver.ChunkID(), lane.receiver.Err())
	}
	return nil
}

// nameOf returns how an error names a lane: chunk ids are each lane's own.
func (l *Lanes) nameOf(k int) string {
	if len(l.lanes) == 1 {
		return ""
	}
	return fmt.Sprintf("lane %d: ", k)
}

// Err returns which machine gave up, or nil; it wraps statemachine.ErrGaveUp. All lanes have
// then ended (LAN-6): no slice is sent any more, acks that are due are, and what is complete can
// be read.
func (l *Lanes) Err() error { return l.err }
