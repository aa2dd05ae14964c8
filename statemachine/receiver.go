package statemachine

import (
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/acktimer"
	"github.com/chunkwire/chunkwire/internal/table"
)

// ReceiverConfig sets up a Receiver. The zero value is ready to use.
type ReceiverConfig struct {
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk that has begun may stay without a new slice before
	// the receiver fails: 1 us to MaxGiveUp, or 0 for DefaultGiveUp.
	GiveUp core.Micros
	// Memory is a pool of slice buffers that several receivers share. If nil, the
	// receiver reuses its own.
	Memory *Memory
	// Log, when not nil, is given what happens to each slice, ack and chunk, and the rows.
	Log eventlog.Log
}

// Receiver is the receiving end of one connection (section 8).
type Receiver struct {
	state  ReceiverState
	row    core.Row
	now    core.Micros
	giveUp core.Micros

	// The current chunk: the one that is arriving, or that is to come next.
	chunkID    uint16
	numSlices  int         // fixed by the first slice; 0 but in RECEIVING
	received   core.Set    // subset of FirstN(numSlices)
	progressAt core.Micros // when the latest new slice came
	startedAt  core.Micros

	// The chunk before: it is complete. It may still wait to be read.
	previousSlices int // its number of slices; 0 while no chunk is complete (RCV-6)

	// The bytes of the chunk that arrives, or in READY of the one to be read.
	slices    []*[codec.SliceSize]byte // as slices arrive
	memory    *Memory
	lastBytes int
	readSize  int // in READY: the chunk's size in bytes

	acks       acktimer.Timer
	pending    PendingAcks
	heldSlices int // num_slices of the slice that was held last

	out  codec.Ack // what the last step has for Poll
	read []byte    // and for Read

	stats ReceiverStats
	log   eventlog.Log
}

// PendingAcks says for which chunks an ack is due: at most one for each, so that a
// flood cannot accumulate them (ACQ-2).
type PendingAcks struct{ Current, Previous, Hold bool }

// NewReceiver returns a receiver that waits for its first chunk (RCV-20). It fails with
// core.ErrConfig.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	giveUp, err := CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	return &Receiver{chunkID: cfg.FirstChunkID, giveUp: giveUp, memory: cfg.Memory, acks: acktimer.New(), log: cfg.Log}, nil
}

// ReceiverState is what a receiver is doing (section 8.1).
type ReceiverState uint8

const (
	// ReceiverWaiting has nothing of the current chunk.
	ReceiverWaiting ReceiverState = iota
	// ReceiverReceiving has some slices of the current chunk, but not all. It
	// leaves with the last one, or when no new one came for too long.
	ReceiverReceiving
	// ReceiverReady has a complete chunk, which waits to be read. It takes no
	// slice of the next chunk before.
	ReceiverReady
	// ReceiverFailed has given up. No event leaves it.
	ReceiverFailed
)

func (s ReceiverState) String() string {
	return [...]string{"WAITING", "RECEIVING", "READY", "FAILED"}[s]
}

// The guards of sections 8.3 and 8.4.
const (
	anySlice uint8 = iota
	sliceForeign
	slicePrevious
	sliceDuplicate
	sliceConflicts
	sliceReplaces
	sliceReplacesAndCompletes
	sliceAdds
	sliceCompletes
	sliceEarly
	anyRead
	anyReceiverPoll
	ackDue
	noAckDue
	receiverGivesUp
)

var receiverGuards = []table.Guard{
	anySlice:                  {Event: "slice", Text: table.Always},
	sliceForeign:              {Event: "slice", Text: "foreign"},
	slicePrevious:             {Event: "slice", Text: "previous"},
	sliceDuplicate:            {Event: "slice", Text: "duplicate"},
	sliceConflicts:            {Event: "slice", Text: "conflicts"},
	sliceReplaces:             {Event: "slice", Text: "replaces"},
	sliceReplacesAndCompletes: {Event: "slice", Text: "replaces and completes"},
	sliceAdds:                 {Event: "slice", Text: "adds"},
	sliceCompletes:            {Event: "slice", Text: "completes"},
	sliceEarly:                {Event: "slice", Text: "early"},
	anyRead:                   {Event: "read", Text: table.Always},
	anyReceiverPoll:           {Event: "poll", Text: table.Always},
	ackDue:                    {Event: "poll", Text: "ack due"},
	noAckDue:                  {Event: "poll", Text: "nothing due"},
	receiverGivesUp:           {Event: "poll", Text: "give up"},
}

// The actions of section 8.4. Those without a name only count.
type receiverAction = table.Action[Receiver, receiverInput]

var (
	receiverStart    = receiverAction{Name: "START", Do: (*Receiver).start}
	store            = receiverAction{Name: "STORE", Do: (*Receiver).store}
	receiverComplete = receiverAction{Name: "COMPLETE", Do: (*Receiver).complete}
	ackCurrent       = receiverAction{Name: "ACK CURRENT", Do: (*Receiver).ackCurrent}
	ackPrevious      = receiverAction{Name: "ACK PREVIOUS", Do: (*Receiver).ackPrevious}
	hold             = receiverAction{Name: "HOLD", Do: (*Receiver).hold}
	deliver          = receiverAction{Name: "deliver the chunk", Do: (*Receiver).deliver}
	sendAck          = receiverAction{Name: "SEND ACK", Do: (*Receiver).sendAck}
	receiverGiveUp   = receiverAction{Name: "GIVE UP", Do: (*Receiver).fail}
	countConflict    = receiverAction{Name: "count it", Do: func(r *Receiver, _ receiverInput) { r.stats.Conflicts++ }}
	refuseRead       = receiverAction{Name: "refuse: nothing to read", Do: func(*Receiver, receiverInput) {}}
	countReplaced    = receiverAction{Do: func(r *Receiver, _ receiverInput) { r.stats.Replaced++ }}
	countDuplicate   = receiverAction{Do: func(r *Receiver, _ receiverInput) { r.stats.Duplicates++ }}
	ignoreSlice      = receiverAction{Do: func(r *Receiver, _ receiverInput) { r.stats.Ignored++ }}
)

type receiverTransition = table.Transition[ReceiverState, uint8, Receiver, receiverInput]

func receiverRow(row core.Row, from ReceiverState, guard uint8, to ReceiverState, does ...receiverAction) receiverTransition {
	return receiverTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// receiverTable is the receiver: every transition that there is (section 8.3).
var receiverTable = table.New(4, receiverGuards, []receiverTransition{
	receiverRow("R1", ReceiverWaiting, sliceCompletes, ReceiverReady, receiverStart, store, receiverComplete),
	receiverRow("R2", ReceiverWaiting, sliceAdds, ReceiverReceiving, receiverStart, store),
	receiverRow("R3", ReceiverWaiting, slicePrevious, ReceiverWaiting, countDuplicate, ackPrevious),
	receiverRow("R4", ReceiverWaiting, sliceForeign, ReceiverWaiting, ignoreSlice),
	receiverRow("R5", ReceiverReceiving, sliceAdds, ReceiverReceiving, store),
	receiverRow("R6", ReceiverReceiving, sliceCompletes, ReceiverReady, store, receiverComplete),
	receiverRow("R7", ReceiverReceiving, sliceDuplicate, ReceiverReceiving, countDuplicate, ackCurrent),
	receiverRow("R8", ReceiverReceiving, sliceConflicts, ReceiverReceiving, countConflict),
	receiverRow("R9", ReceiverReceiving, sliceReplaces, ReceiverReceiving, countReplaced, receiverStart, store),
	receiverRow("R10", ReceiverReceiving, sliceReplacesAndCompletes, ReceiverReady, countReplaced, receiverStart, store, receiverComplete),
	receiverRow("R11", ReceiverReceiving, slicePrevious, ReceiverReceiving, countDuplicate, ackPrevious),
	receiverRow("R12", ReceiverReceiving, sliceForeign, ReceiverReceiving, ignoreSlice),
	receiverRow("R13", ReceiverReady, sliceEarly, ReceiverReady, hold),
	receiverRow("R14", ReceiverReady, slicePrevious, ReceiverReady, countDuplicate, ackPrevious),
	receiverRow("R15", ReceiverReady, sliceForeign, ReceiverReady, ignoreSlice),
	receiverRow("R16", ReceiverReady, anyRead, ReceiverWaiting, deliver),
	receiverRow("R17", ReceiverWaiting, anyRead, ReceiverWaiting, refuseRead),
	receiverRow("R18", ReceiverReceiving, anyRead, ReceiverReceiving, refuseRead),
	receiverRow("R19", ReceiverWaiting, ackDue, ReceiverWaiting, sendAck),
	receiverRow("R20", ReceiverWaiting, noAckDue, ReceiverWaiting),
	receiverRow("R21", ReceiverReceiving, ackDue, ReceiverReceiving, sendAck),
	receiverRow("R22", ReceiverReceiving, noAckDue, ReceiverReceiving),
	receiverRow("R23", ReceiverReceiving, receiverGivesUp, ReceiverFailed, receiverGiveUp),
	receiverRow("R24", ReceiverReady, ackDue, ReceiverReady, sendAck),
	receiverRow("R25", ReceiverReady, noAckDue, ReceiverReady),
	receiverRow("R26", ReceiverFailed, anySlice, ReceiverFailed, ignoreSlice),
	receiverRow("R27", ReceiverFailed, anyRead, ReceiverFailed, refuseRead),
	receiverRow("R28", ReceiverFailed, anyReceiverPoll, ReceiverFailed),
})

// ReceiverTable returns the rows of the receiver's table.
func ReceiverTable() []core.Line { return receiverTable.Lines() }

// receiverInput is what an event gives to the actions.
type receiverInput struct {
	slice codec.Slice
	dst   []byte
}

// step takes the transition for the guard that holds. Nothing else changes the
// state.
func (r *Receiver) step(guard uint8, in receiverInput) {
	from := r.state
	if does := receiverTable.Step(r, &r.state, &r.row, guard, in); does && r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.State, At: r.now, Machine: "receiver", From: from.String(), To: r.state.String(), Row: r.row})
	}
}

// advance takes a time before the latest one as that one (TIM-1).
func (r *Receiver) advance(now core.Micros) { r.now = max(r.now, now) }

// HandleSlice takes a slice that arrived at now (RCV-1), and copies its data. It
// reports whether the slice was of this connection: of the current chunk or of
// the one before (CON-6).
func (r *Receiver) HandleSlice(now core.Micros, s codec.Slice) (ours bool) {
	r.advance(now)
	r.stats.SlicesReceived++
	guard := r.sliceGuard(s)
	if r.log != nil {
		r.log(eventlog.Event{
			Kind: eventlog.SliceReceived, At: r.now, ChunkID: s.ChunkID, SliceID: s.SliceID,
			Bytes: s.DatagramSize(), As: r.takenAs(guard),
		})
	}
	r.step(guard, receiverInput{slice: s})
	return guard != sliceForeign
}

// sliceGuard returns the guard of a slice (RCV-3 to RCV-8, RCV-21). Ids are compared for
// equality only (CID-3).
func (r *Receiver) sliceGuard(s codec.Slice) uint8 {
	switch {
	case s.Validate() != nil:
		return sliceForeign
	case s.ChunkID == r.chunkID-1 && s.NumSlices == r.previousSlices:
		return slicePrevious
	case s.ChunkID != r.chunkID:
		return sliceForeign
	case r.state == ReceiverReady:
		return sliceEarly
	case r.state == ReceiverReceiving && s.NumSlices != r.numSlices:
		return r.conflictGuard(s)
	case r.received.Has(s.SliceID):
		return sliceDuplicate
	case r.received.Count()+1 == s.NumSlices:
		return sliceCompletes
	}
	return sliceAdds
}

// takenAs returns what a slice is for the log.
func (r *Receiver) takenAs(guard uint8) string {
	if r.state == ReceiverFailed {
		return eventlog.Foreign
	}
	if as := takenAs[guard]; as != "" {
		return as
	}
	return eventlog.New
}

// takenAs is what slices are that are not new, by their guard.
var takenAs = [receiverGivesUp + 1]string{
	sliceForeign: eventlog.Foreign, slicePrevious: eventlog.Late, sliceDuplicate: eventlog.Duplicate,
	sliceConflicts: eventlog.Conflict, sliceEarly: eventlog.Early,
}

// conflictGuard returns the guard of a slice that disagrees with the fixed
// num_slices. If the slice that fixed it was forged, nothing more will come of
// it; after half the time to give up the genuine sender still has the other
// half (RCV-7).
func (r *Receiver) conflictGuard(s codec.Slice) uint8 {
	switch {
	case r.now-r.progressAt < r.giveUp/2:
		return sliceConflicts
	case s.NumSlices == 1:
		return sliceReplacesAndCompletes
	}
	return sliceReplaces
}

// Read appends the complete chunk to dst and returns the result, as append
// does; the receiver then takes the next chunk (RCV-1). It fails with
// ErrNothingToRead, and then returns dst as it was.
func (r *Receiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	r.advance(now)
	if r.state != ReceiverReady {
		r.step(anyRead, receiverInput{})
		return dst, ErrNothingToRead
	}
	r.step(anyRead, receiverInput{dst: dst})
	chunk := r.read
	r.read = nil
	return chunk, nil
}

// Poll returns an ack to send at now, or false when none is due. Call it until
// it returns false (RCV-1, RCV-9).
func (r *Receiver) Poll(now core.Micros) (codec.Ack, bool) {
	r.advance(now)
	guard := noAckDue
	switch {
	case r.state == ReceiverReceiving && r.now-r.progressAt >= r.giveUp:
		guard = receiverGivesUp
	case r.state != ReceiverFailed && r.acks.Due(r.now):
		guard = ackDue
	}
	r.step(guard, receiverInput{})
	if guard != ackDue {
		return codec.Ack{}, false
	}
	return r.out, true
}

// Deadline returns when Poll has something to do next if no event comes before
// (RCV-17).
func (r *Receiver) Deadline() core.Micros {
	switch r.state {
	case ReceiverFailed:
		return core.Never
	case ReceiverReceiving:
		return min(r.acks.At, r.progressAt+r.giveUp)
	}
	return r.acks.At
}

// start begins a chunk; nothing of the one before remains (RCV-10).
func (r *Receiver) start(in receiverInput) {
	r.numSlices = in.slice.NumSlices
	r.received = core.Set{}
	r.startedAt = r.now
	r.pending.Hold, r.heldSlices = false, 0
	r.acks.StartChunk()
	if r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.ChunkStarted, At: r.now, ChunkID: r.chunkID, NumSlices: r.numSlices, Direction: eventlog.In})
	}
}

// store copies a slice to its place. Memory comes with each slice, not with what
// it announces (RCV-11, RCV-18).
func (r *Receiver) store(in receiverInput) {
	s := &in.slice
	for len(r.slices) <= s.SliceID {
		r.slices = append(r.slices, nil)
	}
	if r.slices[s.SliceID] == nil {
		r.slices[s.SliceID] = r.memory.Take()
	}
	copy(r.slices[s.SliceID][:], s.Data)
	if s.Last() {
		r.lastBytes = len(s.Data)
	}
	r.received.Add(s.SliceID)
	r.progressAt = r.now
	r.stats.SlicesStored++
	r.pending.Current = true
	r.acks.NewSlice(r.now, s.SliceID)
}

// complete makes the current chunk the previous one; what is acked from now on
// is its full bitmap, at once, whether it was read or not (RCV-12, ACQ-3).
func (r *Receiver) complete(receiverInput) {
	r.readSize = (r.numSlices-1)*codec.SliceSize + r.lastBytes
	r.previousSlices, r.numSlices = r.numSlices, 0
	r.received = core.Set{}
	r.chunkID++ // modulo 2^16 (CID-2)
	r.pending.Current, r.pending.Previous = false, true
	r.acks.AtOnce(r.now)
	r.stats.Chunks++
	r.stats.ChunkBytes += int64(r.readSize)
	r.stats.LastChunkTime = r.now - r.startedAt
	if r.log != nil {
		r.log(eventlog.Event{
			Kind: eventlog.ChunkCompleted, At: r.now, ChunkID: r.chunkID - 1, Bytes: r.readSize,
			Direction: eventlog.In, Elapsed: r.stats.LastChunkTime,
		})
	}
}

// ackCurrent and ackPrevious answer duplicates (RCV-13).
func (r *Receiver) ackCurrent(receiverInput) {
	r.pending.Current = true
	r.acks.Soon(r.now)
}

func (r *Receiver) ackPrevious(receiverInput) {
	r.pending.Previous = true
	r.acks.Soon(r.now)
}

// hold answers a slice that comes too early without taking it (RCV-14).
func (r *Receiver) hold(in receiverInput) {
	r.stats.Held++
	r.heldSlices = in.slice.NumSlices
	r.pending.Hold = true
	r.acks.Soon(r.now)
}

// deliver appends the chunk to what Read was given.
func (r *Receiver) deliver(in receiverInput) {
	dst := slices.Grow(in.dst, r.readSize)
	for left, id := r.readSize, 0; left > 0; id++ {
		n := min(left, codec.SliceSize)
		dst = append(dst, r.slices[id][:n]...)
		left -= n
	}
	r.read, r.readSize = dst, 0
	if r.memory != nil {
		r.slices = r.memory.release(r.slices)
	}
}

// sendAck makes the next of the acks that are due, the previous chunk's first
// (RCV-16). It holds all that is here (ACK-2).
func (r *Receiver) sendAck(receiverInput) {
	switch p := &r.pending; {
	case p.Previous:
		p.Previous = false
		r.out = codec.Ack{ChunkID: r.chunkID - 1, NumSlices: r.previousSlices, Acked: core.FirstN(r.previousSlices)}
	case p.Current:
		p.Current = false
		r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Acked: r.received}
	default:
		p.Hold = false
		r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
	}
	if r.pending == (PendingAcks{}) {
		r.acks.Sent(r.now)
	}
	r.stats.AcksSent++
	if r.log != nil {
		r.log(ackEvent(eventlog.AckSent, r.now, &r.out))
	}
}

// fail gives up the chunk that arrives (RCV-15).
func (r *Receiver) fail(in receiverInput) {
	if r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.ChunkFailed, At: r.now, ChunkID: r.chunkID, Direction: eventlog.In, Why: eventlog.GaveUp})
	}
	r.drop(in)
}

// drop releases everything that a failed receiver no longer needs (RCV-19).
func (r *Receiver) drop(receiverInput) {
	r.slices = nil
	r.numSlices, r.received = 0, core.Set{}
	r.pending = PendingAcks{}
	r.acks.At = core.Never
}
