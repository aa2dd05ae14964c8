package repair

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/table"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderConfig sets up a Sender.
type SenderConfig struct {
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk may stay without progress before the sender
	// fails: 1 us to statemachine.MaxGiveUp, or 0 for statemachine.DefaultGiveUp. It
	// should be three times the scheduler's longest interval between slices, and 100 ms
	// (SND-20).
	GiveUp core.Micros
	// Scheduler decides when the next slice goes. It is required, and serves one sender.
	Scheduler Scheduler
	// Log, when not nil, is given what happens to each slice, ack and chunk, and the rows.
	Log eventlog.Log
}

// Sender is the sending end of one connection (section 5). One chunk is in flight at a time (CON-2).
type Sender struct {
	state  statemachine.SenderState
	row    core.Row
	now    core.Micros
	giveUp core.Micros
	sched  Scheduler
	log    eventlog.Log

	// The chunk in flight, or the next one's id when there is none.
	chunkID   uint16
	chunk     *erasure.Encoded // the caller's; nil unless SENDING
	numSlices int
	sent      int // transmissions so far
	have      int // independent slices that have arrived; never falls within a chunk (SAFE-3)
	top       int // the highest number that arrived, and one; never falls within a chunk
	startedAt core.Micros
	heardAt   core.Micros // the latest sign of the peer: START, an ack with news, a hold

	refusal error // of the last Submit
	out     Slice // what the last step has for Poll
	stats   statemachine.SenderStats
}

// NewSender returns an idle sender (RPX-1). It fails with core.ErrConfig.
func NewSender(cfg SenderConfig) (*Sender, error) {
	giveUp, err := statemachine.CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	if cfg.Scheduler == nil {
		return nil, core.ConfigError("Scheduler", nil, "a scheduler, such as rateless.New returns")
	}
	return &Sender{chunkID: cfg.FirstChunkID, giveUp: giveUp, sched: cfg.Scheduler, log: cfg.Log}, nil
}

// The guards of section 5.3.
const (
	anySubmit uint8 = iota
	sizeValid
	sizeInvalid
	anyAck
	ackForeign
	ackNothingNew
	ackHold
	ackNews
	ackAll
	anySenderPoll
	sliceDue
	noSliceDue
	senderGivesUp
)

var senderGuards = []table.Guard{
	anySubmit:     {Event: "submit", Text: table.Always},
	sizeValid:     {Event: "submit", Text: "size valid"},
	sizeInvalid:   {Event: "submit", Text: "size invalid"},
	anyAck:        {Event: "ack", Text: table.Always},
	ackForeign:    {Event: "ack", Text: "foreign"},
	ackNothingNew: {Event: "ack", Text: "nothing new"},
	ackHold:       {Event: "ack", Text: "hold"},
	ackNews:       {Event: "ack", Text: "news"},
	ackAll:        {Event: "ack", Text: "all acked"},
	anySenderPoll: {Event: "poll", Text: table.Always},
	sliceDue:      {Event: "poll", Text: "slice due"},
	noSliceDue:    {Event: "poll", Text: "nothing due"},
	senderGivesUp: {Event: "poll", Text: "give up"},
}

// The actions of section 5.3. Those without a name only count.
type senderAction = table.Action[Sender, senderInput]

var (
	senderStart    = senderAction{Name: "START", Do: (*Sender).start}
	hear           = senderAction{Name: "HEAR", Do: (*Sender).hear}
	held           = senderAction{Name: "HELD", Do: (*Sender).held}
	note           = senderAction{Name: "NOTE", Do: (*Sender).note}
	senderComplete = senderAction{Name: "COMPLETE", Do: (*Sender).complete}
	send           = senderAction{Name: "SEND", Do: (*Sender).send}
	senderGiveUp   = senderAction{Name: "GIVE UP", Do: (*Sender).fail}
	refuseSize     = senderAction{Name: "refuse: chunk size", Do: func(s *Sender, _ senderInput) { s.refusal = statemachine.ErrChunkSize }}
	refuseBusy     = senderAction{Name: "refuse: busy", Do: func(s *Sender, _ senderInput) { s.refusal = statemachine.ErrBusy }}
	refuseGaveUp   = senderAction{Name: "refuse: gave up", Do: func(s *Sender, _ senderInput) { s.refusal = statemachine.ErrGaveUp }}
	ignoreAck      = senderAction{Do: func(s *Sender, _ senderInput) { s.stats.AcksIgnored++ }}
)

type senderTransition = table.Transition[statemachine.SenderState, uint8, Sender, senderInput]

func senderRow(row core.Row, from statemachine.SenderState, guard uint8, to statemachine.SenderState, does ...senderAction) senderTransition {
	return senderTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// The states are those of the chunk protocol.
const (
	idle    = statemachine.SenderIdle
	sending = statemachine.SenderSending
	gaveUp  = statemachine.SenderFailed
)

// senderTable is the sender: every transition that there is (section 5.2, RPX-2).
var senderTable = table.New(3, senderGuards, []senderTransition{
	senderRow("T1", idle, sizeValid, sending, senderStart),
	senderRow("T2", idle, sizeInvalid, idle, refuseSize),
	senderRow("T3", sending, anySubmit, sending, refuseBusy),
	senderRow("T4", gaveUp, anySubmit, gaveUp, refuseGaveUp),
	senderRow("T5", idle, anyAck, idle, ignoreAck),
	senderRow("T6", sending, ackForeign, sending, ignoreAck),
	senderRow("T7", sending, ackNothingNew, sending, ignoreAck),
	senderRow("T8", sending, ackHold, sending, hear, held),
	senderRow("T9", sending, ackNews, sending, note),
	senderRow("T10", sending, ackAll, idle, note, senderComplete),
	senderRow("T11", gaveUp, anyAck, gaveUp, ignoreAck),
	senderRow("T12", idle, anySenderPoll, idle),
	senderRow("T13", sending, sliceDue, sending, send),
	senderRow("T14", sending, noSliceDue, sending),
	senderRow("T15", sending, senderGivesUp, gaveUp, senderGiveUp),
	senderRow("T16", gaveUp, anySenderPoll, gaveUp),
})

// SenderTable returns the rows of the sender's table.
func SenderTable() []core.Line { return senderTable.Lines() }

// senderInput is what an event gives to the actions.
type senderInput struct {
	chunk     *erasure.Encoded
	have, top int // of an ack, as numbers
}

// step takes the transition for the guard that holds. Nothing else changes the
// state.
func (s *Sender) step(guard uint8, in senderInput) {
	from := s.state
	if does := senderTable.Step(s, &s.state, &s.row, guard, in); does && s.log != nil {
		s.log(eventlog.Event{Kind: eventlog.State, At: s.now, Machine: "repair-sender", From: from.String(), To: s.state.String(), Row: s.row})
	}
}

// advance takes a time before the latest one as that one (TIM-1).
func (s *Sender) advance(now core.Micros) { s.now = max(s.now, now) }

// Submit starts the transfer of a chunk of 1..codec.MaxChunkSize bytes. Any number of
// senders may have the same one (RPC-7). The sender does not copy it: its bytes must stay as they
// are until the sender is idle again (SND-18). Submit fails with
// statemachine.ErrChunkSize, ErrBusy or ErrGaveUp, and then the sender is as it was.
func (s *Sender) Submit(now core.Micros, chunk *erasure.Encoded) error {
	s.advance(now)
	s.refusal = nil
	guard := sizeValid
	if chunk == nil || chunk.NumSlices() < 1 || chunk.NumSlices() > codec.MaxSlices {
		guard = sizeInvalid
	}
	s.step(guard, senderInput{chunk: chunk})
	return s.refusal
}

// HandleAck takes an ack that arrived at now (SND-2). It reports whether the ack was of this
// connection: of the chunk in flight, or of the one before while the sender is idle
// (CON-6).
func (s *Sender) HandleAck(now core.Micros, a Ack) (ours bool) {
	s.advance(now)
	s.stats.AcksReceived++
	if s.log != nil {
		s.log(ackEvent(eventlog.AckReceived, s.now, &a))
	}
	guard, top := s.ackGuard(&a)
	ours = guard != ackForeign
	if s.state == idle {
		ours = s.stats.Chunks > 0 && a.ChunkID == s.chunkID-1
	}
	s.step(guard, senderInput{have: a.Have, top: top})
	return ours
}

// ackGuard returns the guard of an ack, and its top as a number. What was never sent
// cannot have arrived (RPX-3, RPX-4, SND-22).
func (s *Sender) ackGuard(a *Ack) (guard uint8, top int) {
	if a.ChunkID != s.chunkID || a.NumSlices != s.numSlices || a.Validate() != nil {
		return ackForeign, 0
	}
	top, ok := latestWith(a.Top, s.sent, s.numSlices)
	switch {
	case !ok || a.Have > top:
		return ackForeign, 0
	case a.Have == s.numSlices:
		return ackAll, top
	case a.Have > s.have || top > s.top:
		return ackNews, top
	case a.Have == 0 && top == 0 && s.have == 0 && s.top == 0:
		return ackHold, top
	}
	return ackNothingNew, top
}

// Poll returns a slice to send at now, or false when none is due. Call it until
// it returns false (SND-3, SND-9). The slice's data are the chunk's.
func (s *Sender) Poll(now core.Micros) (Slice, bool) {
	s.advance(now)
	guard := s.pollGuard()
	s.step(guard, senderInput{})
	if guard != sliceDue {
		return Slice{}, false
	}
	out := s.out
	s.out = Slice{}
	return out, true
}

func (s *Sender) pollGuard() uint8 {
	switch {
	case s.state != sending:
		return noSliceDue
	case s.now-s.heardAt >= s.giveUp:
		return senderGivesUp
	case s.sched.Next(s.now):
		return sliceDue
	}
	return noSliceDue
}

// Deadline returns when Poll has something to do next if no event comes before:
// Never unless a chunk is in flight (SND-16).
func (s *Sender) Deadline() core.Micros {
	if s.state != sending {
		return core.Never
	}
	return min(s.sched.Deadline(), s.heardAt+s.giveUp)
}

// Rest releases what only a chunk in flight needs. It does nothing while there is
// one, or if the scheduler is no statemachine.Rester.
func (s *Sender) Rest() {
	if r, ok := s.sched.(statemachine.Rester); ok && s.state != sending {
		r.Rest()
	}
}

// slice returns a slice of the chunk in flight: always the same bytes (RPS-4).
func (s *Sender) slice(id int) Slice {
	return Slice{ChunkID: s.chunkID, ID: id, NumSlices: s.numSlices, LastBytes: s.chunk.LastBytes(), Data: s.chunk.Slice(id)}
}

// start begins a chunk; nothing of the one before remains (RPX-5).
func (s *Sender) start(in senderInput) {
	s.chunk = in.chunk
	s.numSlices = in.chunk.NumSlices()
	s.sent, s.have, s.top = 0, 0, 0
	s.startedAt, s.heardAt = s.now, s.now
	if s.log != nil {
		s.log(eventlog.Event{
			Kind: eventlog.ChunkStarted, At: s.now, ChunkID: s.chunkID, Bytes: len(s.chunk.Bytes()),
			NumSlices: s.numSlices, Direction: eventlog.Out,
		})
	}
	first, last := s.slice(0), s.slice(s.numSlices-1)
	s.sched.Begin(statemachine.Flight{
		Now: s.now, ChunkID: s.chunkID, NumSlices: s.numSlices,
		Bytes: first.DatagramSize(), LastBytes: last.DatagramSize(), Log: s.log,
	})
}

// hear records a sign of life (SND-11).
func (s *Sender) hear(senderInput) { s.heardAt = s.now }

// held reports a hold to the scheduler (SND-23).
func (s *Sender) held(senderInput) { s.sched.Held(s.now) }

// note takes what an ack has counted, and passes it on to the scheduler. Acks may be lost,
// doubled and late: each count is kept at its maximum (RPX-6).
func (s *Sender) note(in senderInput) {
	s.hear(in)
	before := s.have
	s.have, s.top = max(s.have, in.have), max(s.top, in.top)
	s.stats.SlicesAcked += int64(s.have - before)
	if s.log != nil {
		s.log(eventlog.Event{Kind: eventlog.SlicesCounted, At: s.now, ChunkID: s.chunkID, Have: s.have, Top: s.top})
	}
	s.sched.Acked(s.now, s.have, s.top)
}

// complete counts the chunk as delivered and goes on to the next id (SND-13).
func (s *Sender) complete(in senderInput) {
	s.stats.Chunks++
	s.stats.ChunkBytes += int64(len(s.chunk.Bytes()))
	s.stats.LastChunkTime = s.now - s.startedAt
	if s.log != nil {
		s.log(eventlog.Event{
			Kind: eventlog.ChunkCompleted, At: s.now, ChunkID: s.chunkID, Bytes: len(s.chunk.Bytes()),
			Direction: eventlog.Out, Elapsed: s.stats.LastChunkTime,
		})
	}
	s.drop(in)
	s.chunkID++ // modulo 2^16 (CID-2)
	s.numSlices = 0
}

// fail gives up the chunk in flight (SND-15).
func (s *Sender) fail(in senderInput) {
	if s.log != nil {
		s.log(eventlog.Event{Kind: eventlog.ChunkFailed, At: s.now, ChunkID: s.chunkID, Direction: eventlog.Out, Why: eventlog.GaveUp})
	}
	s.drop(in)
}

// drop releases the caller's chunk, and forgets what was counted of it (RPX-8, SND-15,
// SND-19).
func (s *Sender) drop(senderInput) {
	s.chunk = nil
	s.sent, s.have, s.top = 0, 0, 0
}

// send sends the slice of the next number (RPX-7).
func (s *Sender) send(senderInput) {
	s.out = s.slice(idOf(s.sent, s.numSlices))
	if !s.out.Source() {
		s.stats.SlicesRepair++
	}
	if s.log != nil {
		s.log(eventlog.Event{
			Kind: eventlog.SliceSent, At: s.now, ChunkID: s.chunkID, SliceID: s.out.ID,
			Bytes: s.out.DatagramSize(), Times: s.times(), Why: s.why(),
		})
	}
	s.sent++
	s.stats.SlicesSent++
	s.stats.BytesSent += int64(s.out.DatagramSize())
}

// times returns how often the slice of the next number was sent, with that one: ids begin
// anew when there are no more (RPN-2).
func (s *Sender) times() int {
	if s.sent < erasure.MaxIDs {
		return 1
	}
	return 1 + (s.sent-s.numSlices)/(erasure.MaxIDs-s.numSlices)
}

// why returns what the slice that goes out is sent for.
func (s *Sender) why() string {
	if e, ok := s.sched.(Explainer); ok {
		return e.Why()
	}
	if s.out.Source() {
		return eventlog.First
	}
	return eventlog.Repair
}

// ackEvent is an ack in the log.
func ackEvent(kind eventlog.Kind, now core.Micros, a *Ack) eventlog.Event {
	return eventlog.Event{Kind: kind, At: now, ChunkID: a.ChunkID, Have: a.Have, NumSlices: a.NumSlices, Complete: a.Have == a.NumSlices}
}
