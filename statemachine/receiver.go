package statemachine

import (
	"slices"

	"github.com/chunkwire/chunkwire/codec"
)

// ReceiverConfig sets up a Receiver. The zero value is ready to use.
type ReceiverConfig struct {
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk that has begun may stay without a new slice
	// before the receiver fails, at most 2^61; 0 means DefaultGiveUp.
	GiveUp Micros
	// Memory is where room for slices comes from, and goes when a chunk was read;
	// nil means that the receiver keeps its own for later chunks.
	Memory *Memory
}

// Receiver is the receiving end of one connection (section 8).
type Receiver struct {
	state  ReceiverState
	row    Row
	now    Micros
	giveUp Micros

	// The current chunk: the one that is arriving, or that is to come next.
	chunkID    uint16
	numSlices  int          // pinned by the first slice; 0 in WAITING and READY
	received   codec.Bitset // subset of FirstN(numSlices)
	progressAt Micros       // when the latest new slice came
	startedAt  Micros

	// The chunk before: it is complete. It may still wait to be read.
	previousSlices int // its number of slices; 0 while no chunk is complete (RCV-6)

	// The bytes of the chunk that arrives, or in READY of the one to be read.
	slices    []*[codec.SliceSize]byte // as slices arrive
	memory    *Memory
	lastBytes int
	readSize  int // in READY: the chunk's size in bytes

	acks       ackTimer
	pending    pendingAcks
	heldSlices int // num_slices of the slice that was held last

	out   codec.Ack // what the last step has for its caller
	chunk []byte

	stats ReceiverStats
}

// pendingAcks tells for which chunks an ack is due: at most one for each, so
// a flood cannot pile them up (ACQ-2).
type pendingAcks struct{ current, previous, hold bool }

// NewReceiver returns a receiver that waits for its first chunk.
func NewReceiver(cfg ReceiverConfig) *Receiver {
	r := &Receiver{chunkID: cfg.FirstChunkID, giveUp: giveUpAfter(cfg.GiveUp), memory: cfg.Memory}
	r.acks.at = Never
	return r
}

// HandleSlice takes a slice that arrived at now (RCV-1). It copies the data.
func (r *Receiver) HandleSlice(now Micros, s codec.Slice) {
	r.advance(now)
	r.stats.SlicesReceived++
	r.step(r.sliceGuard(s), receiverInput{slice: s})
}

// sliceGuard tells what a slice means; the first case that holds counts (RCV-3 to
// RCV-8). Ids are compared for equality only (CID-3).
func (r *Receiver) sliceGuard(s codec.Slice) Guard {
	switch {
	case s.Validate() != nil:
		return SliceForeign
	case s.ChunkID == r.chunkID-1 && s.NumSlices == r.previousSlices:
		return SlicePrevious
	case s.ChunkID != r.chunkID:
		return SliceForeign
	case r.state == ReceiverReady:
		return SliceEarly
	case r.state == ReceiverReceiving && s.NumSlices != r.numSlices:
		return r.conflictGuard(s)
	case r.received.Has(s.SliceID):
		return SliceDuplicate
	case r.received.Count()+1 == s.NumSlices:
		return SliceCompletes
	}
	return SliceAdds
}

// conflictGuard tells what to make of a slice that disagrees with the pinned
// num_slices. If the one that pinned it was forged, nothing more will come of
// it; after half the time to give up the genuine sender still has the other
// half (RCV-7).
func (r *Receiver) conflictGuard(s codec.Slice) Guard {
	switch {
	case r.now-r.progressAt < r.giveUp/2:
		return SliceConflicts
	case s.NumSlices == 1:
		return SliceRepinsAndCompletes
	}
	return SliceRepins
}

// Read appends the complete chunk to dst and returns the result, as append
// does; the receiver then takes the next chunk (RCV-1). It fails with ErrNothingToRead,
// and then returns dst as it was.
func (r *Receiver) Read(now Micros, dst []byte) ([]byte, error) {
	r.advance(now)
	r.step(ReadAsked, receiverInput{dst: dst})
	if r.row != R16Read {
		return dst, ErrNothingToRead
	}
	chunk := r.chunk
	r.chunk = nil
	return chunk, nil
}

// Poll returns an ack to send at now, or false when none is due. Call it until
// it says false (RCV-1, RCV-9).
func (r *Receiver) Poll(now Micros) (codec.Ack, bool) {
	r.advance(now)
	guard := PollNothing
	switch {
	case r.state == ReceiverReceiving && r.now-r.progressAt >= r.giveUp:
		guard = PollGiveUp
	case r.acks.due(r.now):
		guard = PollAck
	}
	r.step(guard, receiverInput{})
	switch r.row {
	case R19WaitingAck, R21ReceivingAck, R24ReadyAck:
		return r.out, true
	}
	return codec.Ack{}, false
}

// Deadline returns when Poll has something to do next, if nothing else happens
// before (RCV-17).
func (r *Receiver) Deadline() Micros {
	switch r.state {
	case ReceiverFailed:
		return Never
	case ReceiverReceiving:
		return min(r.acks.at, r.progressAt+r.giveUp)
	}
	return r.acks.at
}

// The actions of the transition table.

// start begins a chunk; nothing of the one before remains (RCV-10).
func (r *Receiver) start(s codec.Slice) {
	r.numSlices = s.NumSlices
	r.received = codec.Bitset{}
	r.startedAt = r.now
	r.pending.hold = false
	r.acks.startChunk()
}

// repin starts the chunk again with another number of slices.
func (r *Receiver) repin(s codec.Slice) {
	r.stats.Repins++
	r.start(s)
}

// store copies a slice to its place. Memory comes with each slice, not with what
// it announces (RCV-11, RCV-18).
func (r *Receiver) store(s codec.Slice) {
	for len(r.slices) <= s.SliceID {
		r.slices = append(r.slices, nil)
	}
	if r.slices[s.SliceID] == nil {
		r.slices[s.SliceID] = r.memory.take()
	}
	copy(r.slices[s.SliceID][:], s.Data)
	if s.Last() {
		r.lastBytes = len(s.Data)
	}
	r.received.Set(s.SliceID)
	r.progressAt = r.now
	r.stats.SlicesStored++
	r.pending.current = true
	r.acks.newSlice(r.now, s.SliceID)
}

// complete makes the current chunk the previous one; what is acked from now on
// is its full bitmap, at once, whether it was read or not (RCV-12, ACQ-3).
func (r *Receiver) complete() {
	r.readSize = (r.numSlices-1)*codec.SliceSize + r.lastBytes
	r.previousSlices, r.numSlices = r.numSlices, 0
	r.received = codec.Bitset{}
	r.chunkID++ // modulo 2^16 (CID-2)
	r.pending.current, r.pending.previous = false, true
	r.acks.atOnce(r.now)
	r.stats.Chunks++
	r.stats.ChunkBytes += int64(r.readSize)
	r.stats.LastChunkTime = r.now - r.startedAt
}

// ackAgain and ackPreviousAgain answer duplicates, in whatever state (RCV-13).
func (r *Receiver) ackAgain() {
	r.stats.Duplicates++
	r.pending.current = true
	r.acks.soon(r.now)
}

func (r *Receiver) ackPreviousAgain() {
	r.stats.Duplicates++
	r.pending.previous = true
	r.acks.soon(r.now)
}

// hold answers a slice that comes too early without taking it (RCV-14).
func (r *Receiver) hold(s codec.Slice) {
	r.stats.Held++
	r.heldSlices = s.NumSlices
	r.pending.hold = true
	r.acks.soon(r.now)
}

func (r *Receiver) deliver(dst []byte) {
	dst = slices.Grow(dst, r.readSize)
	for left, id := r.readSize, 0; left > 0; id++ {
		n := min(left, codec.SliceSize)
		dst = append(dst, r.slices[id][:n]...)
		left -= n
	}
	r.chunk = dst
	r.readSize = 0
	if r.memory != nil {
		r.slices = r.memory.release(r.slices)
	}
}

// sendAck makes the next of the acks that are due, the previous chunk's first
// (RCV-16). It holds all that is here (ACK-2).
func (r *Receiver) sendAck() {
	switch p := &r.pending; {
	case p.previous:
		p.previous = false
		r.out = codec.Ack{ChunkID: r.chunkID - 1, NumSlices: r.previousSlices, Acked: codec.FirstN(r.previousSlices)}
	case p.current:
		p.current = false
		r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Acked: r.received}
	default:
		p.hold = false
		r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
	}
	if r.pending == (pendingAcks{}) {
		r.acks.sent(r.now)
	}
	r.stats.AcksSent++
}

// drop lets go of everything that a failed receiver no longer needs.
func (r *Receiver) drop() {
	r.slices = nil
	r.numSlices, r.received = 0, codec.Bitset{}
	r.pending = pendingAcks{}
	r.acks.at = Never
}

// advance takes a time before the latest one as that one (TIM-1).
func (r *Receiver) advance(now Micros) { r.now = max(r.now, now) }
