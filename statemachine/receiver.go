package statemachine

import (
	"math"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/acktimer"
	"github.com/chunkwire/chunkwire/internal/table"
)

// ReceiverConfig sets up a Receiver. The zero value is ready to use.
type ReceiverConfig struct {
	// Kind is the kind of slices, the same at both ends.
	Kind codec.Kind
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk that has begun can stay without a slice that adds to
	// it before the receiver fails: 1 us to MaxGiveUp, or 0 for DefaultGiveUp.
	GiveUp core.Micros
	// Memory is a pool of slice buffers that several receivers share. If nil, the
	// receiver reuses its own.
	Memory *Memory
	// Log, when not nil, gets the events of each slice, ack and chunk, and the rows.
	Log eventlog.Log
}

// Receiver is the receiving end of one connection (section 8; section 6 of
// spec/REPAIR.md).
type Receiver struct {
	state  ReceiverState
	row    core.Row
	now    core.Micros
	giveUp core.Micros
	kind   codec.Kind
	ledger receiverLedger

	// The current chunk: the one that is arriving, or that is to come next.
	chunkID    uint16
	numSlices  int         // fixed by the first slice; 0 except in RECEIVING
	lastBytes  int         // with repair slices fixed by the first slice; else 0
	progressAt core.Micros // when the latest slice came that added to the chunk
	startedAt  core.Micros

	// The chunk before: it is complete. It can still wait to be read.
	previousSlices int  // its number of slices; 0 while no chunk is complete (RCV-6)
	readSize       int  // in READY: the chunk's size in bytes
	unmade         bool // in READY: Work has something to do

	acks       acktimer.Timer // RPK-2
	pending    PendingAcks
	heldSlices int // num_slices of the slice that was held last

	out  codec.Ack // what the last step has for Poll
	read []byte    // and for Read

	stats ReceiverStats
	log   eventlog.Log
}

// receiverLedger knows the slices of the chunk that arrives, and its bytes. The machine knows
// only what the ledger says of a slice, and how many are here.
type receiverLedger interface {
	// start begins a chunk with the form that a slice has; nothing of the one before remains.
	start(s codec.Slice)
	// judge returns the guard of a slice of the chunk that arrives: sliceDuplicate,
	// sliceDependent, or sliceAdds.
	judge(s codec.Slice) (guard uint8)
	// has reports whether a slice is here.
	has(id int) bool
	// count returns how many slices are here.
	count() int
	ids() []int
	// noteTop notes by which transmission a slice came, whether it adds to the chunk or not.
	noteTop(id int)
	// store keeps a slice that adds to the chunk.
	store(s codec.Slice)
	// dependent takes a slice that follows from those that are here.
	dependent(s codec.Slice)
	// complete makes the chunk that is here the previous one, and returns its size.
	complete() (size int)
	// work does some of what is left to make the chunk of so many bytes of what is here, as [erasure.Decoder.Step]
	// does. When that is done it returns how often it found that a slice was forged.
	work(size, operations int) (inconsistent int, done bool)
	// contradicts reports whether a slice of a chunk that waits to be read, of so many
	// bytes, shows that a slice of it was forged.
	contradicts(s codec.Slice, size int) bool
	// deliver appends the chunk of so many bytes to dst, and releases it.
	deliver(dst []byte, size int) []byte
	// report puts all that is here into an ack of the current chunk, or of the previous one,
	// which is complete.
	report(a codec.Ack, previous bool) codec.Ack
	// rebuilds returns how many slices must be rebuilt if a slice comes that completes the
	// chunk.
	rebuilds(s codec.Slice) int
	// drop releases everything.
	drop()
	vars(v ReceiverVars) ReceiverVars // with the variables of the slices
}

// PendingAcks says for which chunks an ack is due: at most one for each, so that a
// flood cannot accumulate them (ACQ-2).
type PendingAcks struct{ Current, Previous, Hold bool }

// NewReceiver returns a receiver that waits for its first chunk (RCV-20, RPR-1). It fails with
// core.ErrConfig.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	giveUp, err := CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	r := &Receiver{chunkID: cfg.FirstChunkID, giveUp: giveUp, kind: cfg.Kind, acks: acktimer.New(), log: cfg.Log}
	r.ledger = newReceiverLedger(cfg.Kind, cfg.Memory)
	return r, nil
}

func newReceiverLedger(kind codec.Kind, memory *Memory) receiverLedger {
	if kind == codec.Repair {
		return newReceivedRank(memory)
	}
	return &receivedSet{memory: memory}
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

// The guards of sections 8.3 and 8.4, and of section 6.3 of spec/REPAIR.md.
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

// The actions of section 8.4, and of section 6.4 of spec/REPAIR.md. Those without a name only count.
type receiverAction = table.Action[Receiver, receiverInput]

var (
	receiverStart    = receiverAction{Name: "START", Do: (*Receiver).start}
	noteTop          = receiverAction{Name: "NOTE TOP", Do: (*Receiver).noteTop} // with repair slices
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
	dependent        = receiverAction{Do: (*Receiver).dependent}
	compare          = receiverAction{Do: (*Receiver).compare}
	ignoreSlice      = receiverAction{Do: func(r *Receiver, _ receiverInput) { r.stats.Ignored++ }}
)

type receiverTransition = table.Transition[ReceiverState, uint8, Receiver, receiverInput]

// receiverRow returns a row by its ids in the two documents. The table of
// spec/PROTOCOL.md has no NOTE TOP, and lacks a row.
func receiverRow(named, repair core.Row, from ReceiverState, guard uint8, to ReceiverState, does ...receiverAction) (p pair[receiverTransition]) {
	row := receiverTransition{From: from, If: guard, To: to, Do: does}
	p[codec.Named], p[codec.Repair] = row, row
	p[codec.Named].Row, p[codec.Repair].Row = named, repair
	p[codec.Named].Do = slices.DeleteFunc(slices.Clone(does), func(a receiverAction) bool { return a.Name == noteTop.Name })
	return p
}

// receiverRows are the receiver: every transition that there is (section 8.3, and section
// 6.2 of spec/REPAIR.md, RPR-2).
var receiverRows = []pair[receiverTransition]{
	receiverRow("R1", "U1", ReceiverWaiting, sliceCompletes, ReceiverReady, receiverStart, noteTop, store, receiverComplete),
	receiverRow("R2", "U2", ReceiverWaiting, sliceAdds, ReceiverReceiving, receiverStart, noteTop, store),
	receiverRow("R3", "U3", ReceiverWaiting, slicePrevious, ReceiverWaiting, countDuplicate, ackPrevious),
	receiverRow("R4", "U4", ReceiverWaiting, sliceForeign, ReceiverWaiting, ignoreSlice),
	receiverRow("R5", "U5", ReceiverReceiving, sliceAdds, ReceiverReceiving, noteTop, store),
	receiverRow("R6", "U6", ReceiverReceiving, sliceCompletes, ReceiverReady, noteTop, store, receiverComplete),
	receiverRow("R7", "U7", ReceiverReceiving, sliceDuplicate, ReceiverReceiving, countDuplicate, noteTop, ackCurrent),
	receiverRow("", "U8", ReceiverReceiving, sliceDependent, ReceiverReceiving, dependent, noteTop, ackCurrent),
	receiverRow("R8", "U9", ReceiverReceiving, sliceConflicts, ReceiverReceiving, countConflict),
	receiverRow("R9", "U10", ReceiverReceiving, sliceReplaces, ReceiverReceiving, countReplaced, receiverStart, noteTop, store),
	receiverRow("R10", "U11", ReceiverReceiving, sliceReplacesAndCompletes, ReceiverReady, countReplaced, receiverStart, noteTop, store, receiverComplete),
	receiverRow("R11", "U12", ReceiverReceiving, slicePrevious, ReceiverReceiving, countDuplicate, ackPrevious),
	receiverRow("R12", "U13", ReceiverReceiving, sliceForeign, ReceiverReceiving, ignoreSlice),
	receiverRow("R13", "U14", ReceiverReady, sliceEarly, ReceiverReady, hold),
	receiverRow("R14", "U15", ReceiverReady, slicePrevious, ReceiverReady, countDuplicate, compare, ackPrevious),
	receiverRow("R15", "U16", ReceiverReady, sliceForeign, ReceiverReady, ignoreSlice),
	receiverRow("R16", "U17", ReceiverReady, anyRead, ReceiverWaiting, deliver),
	receiverRow("R17", "U18", ReceiverWaiting, anyRead, ReceiverWaiting, refuseRead),
	receiverRow("R18", "U19", ReceiverReceiving, anyRead, ReceiverReceiving, refuseRead),
	receiverRow("R19", "U20", ReceiverWaiting, ackDue, ReceiverWaiting, sendAck),
	receiverRow("R20", "U21", ReceiverWaiting, noAckDue, ReceiverWaiting),
	receiverRow("R21", "U22", ReceiverReceiving, ackDue, ReceiverReceiving, sendAck),
	receiverRow("R22", "U23", ReceiverReceiving, noAckDue, ReceiverReceiving),
	receiverRow("R23", "U24", ReceiverReceiving, receiverGivesUp, ReceiverFailed, receiverGiveUp),
	receiverRow("R24", "U25", ReceiverReady, ackDue, ReceiverReady, sendAck),
	receiverRow("R25", "U26", ReceiverReady, noAckDue, ReceiverReady),
	receiverRow("R26", "U27", ReceiverFailed, anySlice, ReceiverFailed, ignoreSlice),
	receiverRow("R27", "U28", ReceiverFailed, anyRead, ReceiverFailed, refuseRead),
	receiverRow("R28", "U29", ReceiverFailed, anyReceiverPoll, ReceiverFailed),
}

var receiverTables = [...]*table.Table[ReceiverState, uint8, Receiver, receiverInput]{
	codec.Named:  table.New(4, receiverGuards, rowsOf(codec.Named, receiverRows)),
	codec.Repair: table.New(4, receiverGuards, rowsOf(codec.Repair, receiverRows)),
}

// ReceiverTable returns the rows of the receiver's table, as the document of a kind has
// them.
func ReceiverTable(kind codec.Kind) []core.Line { return receiverTables[kind].Lines() }

// receiverNames are the names of the machine in logs.
var receiverNames = [...]string{codec.Named: "receiver", codec.Repair: "repair-receiver"}

// receiverInput is what an event gives to the actions.
type receiverInput struct {
	slice codec.Slice
	dst   []byte
}

// step takes the transition for the guard that holds. Nothing else changes the
// state.
func (r *Receiver) step(guard uint8, in receiverInput) {
	from := r.state
	if does := receiverTables[r.kind].Step(r, &r.state, &r.row, guard, in); does && r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.State, At: r.now, Machine: receiverNames[r.kind], From: from.String(), To: r.state.String(), Row: r.row})
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

// sliceGuard returns the guard of a slice (RCV-3 to RCV-8, RCV-21; RPR-3, RPR-5). Ids of
// chunks are compared for equality only (CID-3).
func (r *Receiver) sliceGuard(s codec.Slice) uint8 {
	switch {
	case r.kind.ValidateSlice(&s) != nil:
		return sliceForeign
	case s.ChunkID == r.chunkID-1 && s.NumSlices == r.previousSlices:
		return slicePrevious
	case s.ChunkID != r.chunkID:
		return sliceForeign
	case r.state == ReceiverReady:
		return sliceEarly
	case r.state != ReceiverReceiving:
		return addsOr(s.NumSlices == 1)
	case s.NumSlices != r.numSlices || s.LastBytes != r.lastBytes:
		return r.conflictGuard(s)
	}
	if guard := r.ledger.judge(s); guard != sliceAdds {
		return guard
	}
	return addsOr(r.ledger.count()+1 == r.numSlices)
}

// addsOr returns the guard of a slice that adds to the chunk, and can complete it.
func addsOr(completes bool) uint8 {
	if completes {
		return sliceCompletes
	}
	return sliceAdds
}

// StoresRepair reports whether a slice is a repair slice of the current chunk whose id did not arrive before, so that it
// costs the work to store it, or to find that it is dependent.
func (r *Receiver) StoresRepair(s codec.Slice) bool {
	return !s.Source() && s.ChunkID == r.chunkID && (r.state == ReceiverWaiting || r.state == ReceiverReceiving && !r.ledger.has(s.SliceID))
}

// Rebuilds returns how many slices of the current chunk must be rebuilt if a slice comes now: 0
// unless that completes it. Named slices are not rebuilt.
func (r *Receiver) Rebuilds(s codec.Slice) (missing int) {
	if r.state > ReceiverReceiving || r.state == ReceiverReceiving && r.ledger.count()+1 < r.numSlices || r.sliceGuard(s) != sliceCompletes {
		return 0
	}
	return r.ledger.rebuilds(s)
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
	sliceDependent: eventlog.Dependent, sliceConflicts: eventlog.Conflict, sliceEarly: eventlog.Early,
}

// conflictGuard returns the guard of a slice that disagrees with the fixed
// num_slices or last_bytes. If the slice that fixed them was forged, nothing more will come
// of it; after half the time to give up the genuine sender still has the other
// half (RCV-7, RPR-4).
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

// Work does a part of the rebuilding that Read needs, and reports whether nothing is left: all of it takes up to 12 ms,
// so that a caller with other connections serves them between two calls. A call does at most 544 operations on slices
// more than the argument says. Without it Read and Stats do all at once.
func (r *Receiver) Work(operations int) (done bool) {
	if !r.unmade {
		return true
	}
	inconsistent, done := r.ledger.work(r.readSize, operations)
	if done {
		r.unmade = false
		r.stats.Inconsistent += int64(inconsistent)
	}
	return done
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

// start begins a chunk; nothing of the one before remains (RCV-10, RPR-7).
func (r *Receiver) start(in receiverInput) {
	r.numSlices, r.lastBytes = in.slice.NumSlices, in.slice.LastBytes
	r.ledger.start(in.slice)
	r.startedAt = r.now
	r.pending.Hold, r.heldSlices = false, 0
	r.acks.StartChunk()
	if r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.ChunkStarted, At: r.now, ChunkID: r.chunkID, NumSlices: r.numSlices, Direction: eventlog.In})
	}
}

// noteTop: RPR-6.
func (r *Receiver) noteTop(in receiverInput) { r.ledger.noteTop(in.slice.SliceID) }

// store keeps a slice that adds to the chunk. Memory comes with each slice, not with what
// it announces (RCV-11, RCV-18; RPR-8, RPR-14).
func (r *Receiver) store(in receiverInput) {
	r.ledger.store(in.slice)
	r.progressAt = r.now
	r.stats.SlicesStored++
	r.pending.Current = true
	r.acks.NewSlice(r.now, in.slice.SliceID)
}

// dependent counts a slice that follows from those that are here (RPR-10, RPR-11).
func (r *Receiver) dependent(in receiverInput) {
	r.stats.Dependent++
	r.ledger.dependent(in.slice)
}

// compare looks whether a slice that came after its chunk was complete agrees with it, as
// long as the chunk is here (RPR-11).
func (r *Receiver) compare(in receiverInput) {
	if r.ledger.contradicts(in.slice, r.readSize) {
		r.stats.Inconsistent++
	}
}

// complete makes the current chunk the previous one; what is acked from now on
// is all of it, at once, whether it was read or not (RCV-12, ACQ-3; RPR-9, RPK-1).
func (r *Receiver) complete(receiverInput) {
	r.readSize, r.unmade = r.ledger.complete(), true
	r.previousSlices, r.numSlices, r.lastBytes = r.numSlices, 0, 0
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
	r.Work(math.MaxInt)
	r.read = r.ledger.deliver(slices.Grow(in.dst, r.readSize), r.readSize)
	r.readSize = 0
}

// sendAck makes the next of the acks that are due, the previous chunk's first
// (RCV-16, RPR-12). It holds all that is here (ACK-2, RPA-2, RPN-4).
func (r *Receiver) sendAck(receiverInput) {
	switch p := &r.pending; {
	case p.Previous:
		p.Previous = false
		r.out = r.ledger.report(codec.Ack{ChunkID: r.chunkID - 1, NumSlices: r.previousSlices}, true)
	case p.Current:
		p.Current = false
		r.out = r.ledger.report(codec.Ack{ChunkID: r.chunkID, NumSlices: r.numSlices}, false)
	default:
		p.Hold = false
		r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}
	}
	if r.pending == (PendingAcks{}) {
		r.acks.Sent(r.now)
	}
	r.stats.AcksSent++
	if r.log != nil {
		r.log(ackEvent(eventlog.AckSent, r.now, r.out, max(r.out.Acked.Count(), r.out.Have)))
	}
}

// fail gives up the chunk that arrives (RCV-15).
func (r *Receiver) fail(in receiverInput) {
	if r.log != nil {
		r.log(eventlog.Event{Kind: eventlog.ChunkFailed, At: r.now, ChunkID: r.chunkID, Direction: eventlog.In, Why: eventlog.GaveUp})
	}
	r.drop(in)
}

// drop releases everything that a failed receiver no longer needs (RCV-19, RPR-13).
func (r *Receiver) drop(receiverInput) {
	r.ledger.drop()
	r.numSlices, r.lastBytes = 0, 0
	r.pending = PendingAcks{}
	r.acks.At = core.Never
}
