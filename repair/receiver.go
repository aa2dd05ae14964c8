package repair

import (
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/acktimer"
	"github.com/chunkwire/chunkwire/internal/table"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ReceiverConfig sets up a Receiver. The zero value is ready to use.
type ReceiverConfig struct {
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk that has begun may stay without a slice that adds to it
	// before the receiver fails: 1 us to statemachine.MaxGiveUp, or 0 for
	// statemachine.DefaultGiveUp.
	GiveUp core.Micros
	// Memory is a pool of slice buffers that several receivers share. If nil, the
	// receiver reuses its own.
	Memory *statemachine.Memory
	// Log, when not nil, is given what happens to each slice, ack and chunk, and the rows.
	Log eventlog.Log
}

// Receiver is the receiving end of one connection (section 6).
type Receiver struct {
	state  statemachine.ReceiverState
	row    core.Row
	now    core.Micros
	giveUp core.Micros

	// The current chunk: the one that is arriving, or that is to come next.
	chunkID    uint16
	numSlices  int         // fixed by the first slice; 0 but in RECEIVING
	lastBytes  int         // fixed by the first slice; 0 but in RECEIVING
	held       []int       // ids in the order in which they came; their rows are independent
	top        int         // the highest number that came, and one
	progressAt core.Micros // when the latest slice came that added to the chunk
	startedAt  core.Micros

	// The chunk before: it is complete. It may still wait to be read.
	previousSlices int // its number of slices; 0 while no chunk is complete (RCV-6)
	previousTop    int // its top when it was complete

	// The bytes of the chunk that arrives, or in READY of the one to be read.
	code     erasure.Decoder
	memory   *statemachine.Memory
	shared   bool // the memory is
	spare    spare
	readSize int // in READY: the chunk's size in bytes

	acks       acktimer.Timer // RPK-2
	pending    statemachine.PendingAcks
	heldSlices int // num_slices of the slice that was held last

	out  Ack    // what the last step has for Poll
	read []byte // and for Read

	stats statemachine.ReceiverStats
	log   eventlog.Log
}

// NewReceiver returns a receiver that waits for its first chunk (RPR-1). It fails with
// core.ErrConfig.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	giveUp, err := statemachine.CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	r := &Receiver{chunkID: cfg.FirstChunkID, giveUp: giveUp, memory: cfg.Memory, shared: cfg.Memory != nil, acks: acktimer.New(), log: cfg.Log}
	if !r.shared {
		r.memory = new(statemachine.Memory)
	}
	return r, nil
}

// The guards of section 6.3, and of PROTOCOL.md.
const (
	anySlice uint8 = iota
	sliceForeign
	slicePrevious
	sliceDuplicate
	sliceDependent
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
	sliceDependent:            {Event: "slice", Text: "dependent"},
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

// The actions of section 6.4. Those without a name only count.
type receiverAction = table.Action[Receiver, receiverInput]

var (
	receiverStart    = receiverAction{Name: "START", Do: (*Receiver).start}
	noteTop          = receiverAction{Name: "NOTE TOP", Do: (*Receiver).noteTop}
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
	countDependent   = receiverAction{Do: (*Receiver).countDependent}
	compareSpare     = receiverAction{Do: (*Receiver).compareSpare}
	ignoreSlice      = receiverAction{Do: func(r *Receiver, _ receiverInput) { r.stats.Ignored++ }}
)

type receiverTransition = table.Transition[statemachine.ReceiverState, uint8, Receiver, receiverInput]

func receiverRow(row core.Row, from statemachine.ReceiverState, guard uint8, to statemachine.ReceiverState, does ...receiverAction) receiverTransition {
	return receiverTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// The states are those of the chunk protocol.
const (
	waiting   = statemachine.ReceiverWaiting
	receiving = statemachine.ReceiverReceiving
	ready     = statemachine.ReceiverReady
	failed    = statemachine.ReceiverFailed
)

// receiverTable is the receiver: every transition that there is (section 6.2, RPR-2).
var receiverTable = table.New(4, receiverGuards, []receiverTransition{
	receiverRow("U1", waiting, sliceCompletes, ready, receiverStart, noteTop, store, receiverComplete),
	receiverRow("U2", waiting, sliceAdds, receiving, receiverStart, noteTop, store),
	receiverRow("U3", waiting, slicePrevious, waiting, countDuplicate, ackPrevious),
	receiverRow("U4", waiting, sliceForeign, waiting, ignoreSlice),
	receiverRow("U5", receiving, sliceAdds, receiving, noteTop, store),
	receiverRow("U6", receiving, sliceCompletes, ready, noteTop, store, receiverComplete),
	receiverRow("U7", receiving, sliceDuplicate, receiving, countDuplicate, noteTop, ackCurrent),
	receiverRow("U8", receiving, sliceDependent, receiving, countDependent, noteTop, ackCurrent),
	receiverRow("U9", receiving, sliceConflicts, receiving, countConflict),
	receiverRow("U10", receiving, sliceReplaces, receiving, countReplaced, receiverStart, noteTop, store),
	receiverRow("U11", receiving, sliceReplacesAndCompletes, ready, countReplaced, receiverStart, noteTop, store, receiverComplete),
	receiverRow("U12", receiving, slicePrevious, receiving, countDuplicate, ackPrevious),
	receiverRow("U13", receiving, sliceForeign, receiving, ignoreSlice),
	receiverRow("U14", ready, sliceEarly, ready, hold),
	receiverRow("U15", ready, slicePrevious, ready, countDuplicate, compareSpare, ackPrevious),
	receiverRow("U16", ready, sliceForeign, ready, ignoreSlice),
	receiverRow("U17", ready, anyRead, waiting, deliver),
	receiverRow("U18", waiting, anyRead, waiting, refuseRead),
	receiverRow("U19", receiving, anyRead, receiving, refuseRead),
	receiverRow("U20", waiting, ackDue, waiting, sendAck),
	receiverRow("U21", waiting, noAckDue, waiting),
	receiverRow("U22", receiving, ackDue, receiving, sendAck),
	receiverRow("U23", receiving, noAckDue, receiving),
	receiverRow("U24", receiving, receiverGivesUp, failed, receiverGiveUp),
	receiverRow("U25", ready, ackDue, ready, sendAck),
	receiverRow("U26", ready, noAckDue, ready),
	receiverRow("U27", failed, anySlice, failed, ignoreSlice),
	receiverRow("U28", failed, anyRead, failed, refuseRead),
	receiverRow("U29", failed, anyReceiverPoll, failed),
})

// ReceiverTable returns the rows of the receiver's table.
func ReceiverTable() []core.Line { return receiverTable.Lines() }

// receiverInput is what an event gives to the actions.
type receiverInput struct {
	slice Slice
	dst   []byte
}

// step takes the transition for the guard that holds. Nothing else changes the
// state.
func (r *Receiver) step(guard uint8, in receiverInput) {
	from := r.state
	if does := receiverTable.Step(r, &r.state, &r.row, guard, in); does && r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.State, At: r.now, Machine: "repair-receiver", From: from.String(), To: r.state.String(), Row: r.row})
	}
}

// advance takes a time before the latest one as that one (TIM-1).
func (r *Receiver) advance(now core.Micros) { r.now = max(r.now, now) }

// HandleSlice takes a slice that arrived at now (RCV-1), and copies its data. It reports whether
// the slice was of this connection: of the current chunk or of the one before (CON-6).
func (r *Receiver) HandleSlice(now core.Micros, s Slice) (ours bool) {
	r.advance(now)
	r.stats.SlicesReceived++
	guard := r.sliceGuard(&s)
	if r.log != nil {
		r.log(eventlog.Event{
			Kind: eventlog.SliceReceived, At: r.now, ChunkID: s.ChunkID, SliceID: s.ID,
			Bytes: s.DatagramSize(), As: r.takenAs(guard),
		})
	}
	r.step(guard, receiverInput{slice: s})
	return guard != sliceForeign
}

// sliceGuard returns the guard of a slice (RPR-3, RPR-5). Ids of chunks are compared for
// equality only (CID-3).
func (r *Receiver) sliceGuard(s *Slice) uint8 {
	switch {
	case s.Validate() != nil:
		return sliceForeign
	case s.ChunkID == r.chunkID-1 && s.NumSlices == r.previousSlices:
		return slicePrevious
	case s.ChunkID != r.chunkID:
		return sliceForeign
	case r.state == ready:
		return sliceEarly
	case r.state != receiving:
		return addsOr(s.NumSlices == 1)
	case s.NumSlices != r.numSlices || s.LastBytes != r.lastBytes:
		return r.conflictGuard(s)
	case r.code.Has(s.ID):
		return sliceDuplicate
	case !r.code.Independent(s.ID):
		return sliceDependent
	}
	return addsOr(len(r.held)+1 == r.numSlices)
}

// takenAs returns what a slice is for the log.
func (r *Receiver) takenAs(guard uint8) string {
	if r.state == failed {
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
	sliceDependent: eventlog.Dependent, sliceConflicts: eventlog.Conflict, sliceEarly: eventlog.Early,
}

// Rebuilds returns how many slices of the current chunk must be rebuilt if a slice comes now: 0
// unless that completes it.
func (r *Receiver) Rebuilds(s Slice) (missing int) {
	if r.state != receiving || len(r.held)+1 < r.numSlices || r.sliceGuard(&s) != sliceCompletes {
		return 0
	}
	for _, id := range r.held {
		if id >= r.numSlices {
			missing++
		}
	}
	if s.ID >= r.numSlices {
		missing++
	}
	return missing
}

// addsOr returns the guard of a slice that adds to the chunk, and may complete it.
func addsOr(completes bool) uint8 {
	if completes {
		return sliceCompletes
	}
	return sliceAdds
}

// conflictGuard returns the guard of a slice that disagrees with the fixed num_slices or
// last_bytes. If the slice that fixed them was forged, nothing more will come of it; after
// half the time to give up the genuine sender still has the other half (RPR-4).
func (r *Receiver) conflictGuard(s *Slice) uint8 {
	switch {
	case r.now-r.progressAt < r.giveUp/2:
		return sliceConflicts
	case s.NumSlices == 1:
		return sliceReplacesAndCompletes
	}
	return sliceReplaces
}

// Read appends the complete chunk to dst and returns the result, as append
// does; the receiver then takes the next chunk. It fails with
// statemachine.ErrNothingToRead, and then returns dst as it was.
func (r *Receiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	r.advance(now)
	if r.state != ready {
		r.step(anyRead, receiverInput{})
		return dst, statemachine.ErrNothingToRead
	}
	r.step(anyRead, receiverInput{dst: dst})
	chunk := r.read
	r.read = nil
	return chunk, nil
}

// Poll returns an ack to send at now, or false when none is due. Call it until
// it returns false (RCV-9).
func (r *Receiver) Poll(now core.Micros) (Ack, bool) {
	r.advance(now)
	guard := noAckDue
	switch {
	case r.state == receiving && r.now-r.progressAt >= r.giveUp:
		guard = receiverGivesUp
	case r.state != failed && r.acks.Due(r.now):
		guard = ackDue
	}
	r.step(guard, receiverInput{})
	if guard != ackDue {
		return Ack{}, false
	}
	return r.out, true
}

// Deadline returns when Poll has something to do next if no event comes before
// (RCV-17).
func (r *Receiver) Deadline() core.Micros {
	switch r.state {
	case failed:
		return core.Never
	case receiving:
		return min(r.acks.At, r.progressAt+r.giveUp)
	}
	return r.acks.At
}

// start begins a chunk; nothing of the one before remains (RPR-7).
func (r *Receiver) start(in receiverInput) {
	r.numSlices, r.lastBytes = in.slice.NumSlices, in.slice.LastBytes
	r.held, r.top = r.held[:0], 0
	r.spare.forget(r.memory)
	r.code.Begin(r.numSlices, r.lastBytes, r.memory)
	r.startedAt = r.now
	r.pending.Hold, r.heldSlices = false, 0
	r.acks.StartChunk()
	if r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.ChunkStarted, At: r.now, ChunkID: r.chunkID, NumSlices: r.numSlices, Direction: eventlog.In})
	}
}

// noteTop notes by which transmission a slice came, whether it adds to the chunk or not
// (RPR-6).
func (r *Receiver) noteTop(in receiverInput) {
	r.top = max(r.top, arrivedAs(in.slice.ID, r.top, r.numSlices)+1)
}

// store keeps a slice that adds to the chunk. Memory comes with each slice, not with what
// it announces (RPR-8, RPR-14).
func (r *Receiver) store(in receiverInput) {
	r.code.Add(in.slice.ID, in.slice.Data)
	r.held = append(r.held, in.slice.ID)
	r.progressAt = r.now
	r.stats.SlicesStored++
	r.pending.Current = true
	r.acks.NewSlice(r.now, in.slice.ID)
}

// complete rebuilds the current chunk and makes it the previous one; what is acked from
// now on is all of it, at once, whether it was read or not (RPR-9, RPK-1).
func (r *Receiver) complete(receiverInput) {
	r.rebuild()
	r.readSize = (r.numSlices-1)*codec.SliceSize + r.lastBytes
	r.previousSlices, r.previousTop = r.numSlices, r.top
	r.numSlices, r.lastBytes, r.held, r.top = 0, 0, r.held[:0], 0
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

// ackCurrent and ackPrevious answer slices that add nothing (RCV-13).
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
	for _, s := range r.code.Rebuild() {
		n := min(r.readSize, codec.SliceSize)
		dst = append(dst, s[:n]...)
		r.readSize -= n
	}
	r.read = dst
	r.release()
}

// sendAck makes the next of the acks that are due, the previous chunk's first
// (RCV-16, RPR-12). It says all that is here (RPA-2, RPN-4).
func (r *Receiver) sendAck(receiverInput) {
	switch p := &r.pending; {
	case p.Previous:
		p.Previous = false
		k := r.previousSlices
		r.out = Ack{ChunkID: r.chunkID - 1, NumSlices: k, Have: k, Top: idOf(r.previousTop, k)}
	case p.Current:
		p.Current = false
		r.out = Ack{ChunkID: r.chunkID, NumSlices: r.numSlices, Have: len(r.held), Top: idOf(r.top, r.numSlices)}
	default:
		p.Hold = false
		r.out = Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
	}
	if r.pending == (statemachine.PendingAcks{}) {
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

// drop releases everything that a failed receiver no longer needs (RPR-13).
func (r *Receiver) drop(receiverInput) {
	r.spare.forget(r.memory)
	r.code.Release()
	r.code, r.memory, r.held = erasure.Decoder{}, nil, nil
	r.numSlices, r.lastBytes, r.top = 0, 0, 0
	r.pending = statemachine.PendingAcks{}
	r.acks.At = core.Never
}
