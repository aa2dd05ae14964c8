package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/table"
)

// SenderConfig sets up a Sender.
type SenderConfig struct {
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk may stay without progress before the sender
	// fails: 1 us to MaxGiveUp, or 0 for DefaultGiveUp. It should be three times the
	// scheduler's longest interval between slices, and 100 ms (SND-20).
	GiveUp core.Micros
	// Scheduler decides which slice goes next, and when. It is required, and serves
	// one sender.
	Scheduler Scheduler
	// Log, when not nil, is given what happens to each slice, ack and chunk, and the rows.
	Log eventlog.Log
}

// Sender is the sending end of one connection (section 7). One chunk is in
// flight at a time (CON-2).
type Sender struct {
	state  SenderState
	row    core.Row
	now    core.Micros
	giveUp core.Micros
	sched  Scheduler
	log    eventlog.Log
	times  *[codec.MaxSlices]int // with a log: transmissions of each slice

	// The chunk in flight, or the next one's id when there is none.
	chunkID   uint16
	chunk     []byte // the caller's; nil unless SENDING
	numSlices int
	sent      core.Set // sent at least once
	acked     core.Set // subset of sent; a bit is never cleared within a chunk (SAFE-3)
	startedAt core.Micros
	heardAt   core.Micros // the latest sign of the peer: START, an ack with news, a hold

	refusal error // of the last Submit
	stats   SenderStats
}

// NewSender returns an idle sender (SND-21). It fails with core.ErrConfig.
func NewSender(cfg SenderConfig) (*Sender, error) {
	giveUp, err := CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	if cfg.Scheduler == nil {
		return nil, core.ConfigError("Scheduler", nil, "a scheduler, such as adaptive.New returns")
	}
	s := &Sender{chunkID: cfg.FirstChunkID, giveUp: giveUp, sched: cfg.Scheduler, log: cfg.Log}
	if s.log != nil {
		s.times = new([codec.MaxSlices]int)
	}
	return s, nil
}

// SenderState is what a sender is doing (section 7.1).
type SenderState uint8

const (
	// SenderIdle has no chunk. It waits for one to be submitted.
	SenderIdle SenderState = iota
	// SenderSending has one chunk in flight, of which at least one slice is not
	// acked. It leaves when all are, or when there was no progress for too long.
	SenderSending
	// SenderFailed has given up. No event leaves it: the two ends no longer agree
	// on what was delivered, and need a new connection.
	SenderFailed
)

func (s SenderState) String() string { return [...]string{"IDLE", "SENDING", "FAILED"}[s] }

// The guards of section 7.3.
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

// The actions of section 7.3. Those without a name only count.
type senderAction = table.Action[Sender, senderInput]

var (
	senderStart    = senderAction{Name: "START", Do: (*Sender).start}
	hear           = senderAction{Name: "HEAR", Do: (*Sender).hear}
	held           = senderAction{Name: "HELD", Do: (*Sender).held}
	note           = senderAction{Name: "NOTE", Do: (*Sender).note}
	senderComplete = senderAction{Name: "COMPLETE", Do: (*Sender).complete}
	send           = senderAction{Name: "SEND", Do: (*Sender).send}
	senderGiveUp   = senderAction{Name: "GIVE UP", Do: (*Sender).fail}
	refuseSize     = senderAction{Name: "refuse: chunk size", Do: func(s *Sender, _ senderInput) { s.refusal = ErrChunkSize }}
	refuseBusy     = senderAction{Name: "refuse: busy", Do: func(s *Sender, _ senderInput) { s.refusal = ErrBusy }}
	refuseGaveUp   = senderAction{Name: "refuse: gave up", Do: func(s *Sender, _ senderInput) { s.refusal = ErrGaveUp }}
	ignoreAck      = senderAction{Do: func(s *Sender, _ senderInput) { s.stats.AcksIgnored++ }}
)

type senderTransition = table.Transition[SenderState, uint8, Sender, senderInput]

func senderRow(row core.Row, from SenderState, guard uint8, to SenderState, does ...senderAction) senderTransition {
	return senderTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// senderTable is the sender: every transition that there is (section 7.3).
var senderTable = table.New(3, senderGuards, []senderTransition{
	senderRow("S1", SenderIdle, sizeValid, SenderSending, senderStart),
	senderRow("S2", SenderIdle, sizeInvalid, SenderIdle, refuseSize),
	senderRow("S3", SenderSending, anySubmit, SenderSending, refuseBusy),
	senderRow("S4", SenderFailed, anySubmit, SenderFailed, refuseGaveUp),
	senderRow("S5", SenderIdle, anyAck, SenderIdle, ignoreAck),
	senderRow("S6", SenderSending, ackForeign, SenderSending, ignoreAck),
	senderRow("S7", SenderSending, ackNothingNew, SenderSending, ignoreAck),
	senderRow("S8", SenderSending, ackHold, SenderSending, hear, held),
	senderRow("S9", SenderSending, ackNews, SenderSending, note),
	senderRow("S10", SenderSending, ackAll, SenderIdle, note, senderComplete),
	senderRow("S11", SenderFailed, anyAck, SenderFailed, ignoreAck),
	senderRow("S12", SenderIdle, anySenderPoll, SenderIdle),
	senderRow("S13", SenderSending, sliceDue, SenderSending, send),
	senderRow("S14", SenderSending, noSliceDue, SenderSending),
	senderRow("S15", SenderSending, senderGivesUp, SenderFailed, senderGiveUp),
	senderRow("S16", SenderFailed, anySenderPoll, SenderFailed),
})

// SenderTable returns the rows of the sender's table.
func SenderTable() []core.Line { return senderTable.Lines() }

// senderInput is what an event gives to the actions.
type senderInput struct {
	chunk   []byte
	news    core.Set
	sliceID int
}

// step takes the transition for the guard that holds. Nothing else changes the
// state.
func (s *Sender) step(guard uint8, in senderInput) {
	from := s.state
	if does := senderTable.Step(s, &s.state, &s.row, guard, in); does && s.log != nil {
		s.log(eventlog.Event{Kind: eventlog.State, At: s.now, Machine: "sender", From: from.String(), To: s.state.String(), Row: s.row})
	}
}

// advance takes a time before the latest one as that one (TIM-1).
func (s *Sender) advance(now core.Micros) { s.now = max(s.now, now) }

// Submit starts the transfer of a chunk of 1..codec.MaxChunkSize bytes. The
// sender does not copy it: it must stay as it is until the sender is idle
// again (SND-18). Submit fails with ErrChunkSize, ErrBusy or ErrGaveUp, and then
// the sender is as it was (SND-1, LIM-1).
func (s *Sender) Submit(now core.Micros, chunk []byte) error {
	s.advance(now)
	s.refusal = nil
	guard := sizeValid
	if len(chunk) < 1 || len(chunk) > codec.MaxChunkSize {
		guard = sizeInvalid
	}
	s.step(guard, senderInput{chunk: chunk})
	return s.refusal
}

// HandleAck takes an ack that arrived at now (SND-2). It reports whether the ack
// was of this connection: of the chunk in flight, or of the one before while the
// sender is idle (CON-6).
func (s *Sender) HandleAck(now core.Micros, a codec.Ack) (ours bool) {
	s.advance(now)
	s.stats.AcksReceived++
	if s.log != nil {
		s.log(ackEvent(eventlog.AckReceived, s.now, &a))
	}
	// A slice that was never sent cannot have arrived (SND-7).
	news := a.Acked.Intersect(s.sent).Minus(s.acked)
	guard := s.ackGuard(a, news)
	ours = guard != ackForeign
	if s.state == SenderIdle {
		ours = s.stats.Chunks > 0 && a.ChunkID == s.chunkID-1
	}
	s.step(guard, senderInput{news: news})
	return ours
}

// ackGuard returns the guard of an ack (SND-5, SND-6, SND-8, SND-22).
func (s *Sender) ackGuard(a codec.Ack, news core.Set) uint8 {
	switch {
	case a.ChunkID != s.chunkID || a.NumSlices != s.numSlices || a.Validate() != nil:
		return ackForeign
	case s.acked.Count()+news.Count() == s.numSlices:
		return ackAll
	case !news.Empty():
		return ackNews
	case s.acked.Empty() && a.Acked.Empty():
		return ackHold
	}
	return ackNothingNew
}

// Poll returns a slice to send at now, or false when none is due. Call it until
// it returns false (SND-3, SND-9). The slice's data points into the chunk.
func (s *Sender) Poll(now core.Micros) (codec.Slice, bool) {
	s.advance(now)
	guard, in := s.pollGuard()
	s.step(guard, in)
	if guard != sliceDue {
		return codec.Slice{}, false
	}
	return s.slice(in.sliceID), true
}

func (s *Sender) pollGuard() (guard uint8, in senderInput) {
	if s.state != SenderSending {
		return noSliceDue, in
	}
	if s.now-s.heardAt >= s.giveUp {
		return senderGivesUp, in
	}
	if id, ok := s.sched.Next(s.now); ok {
		return sliceDue, senderInput{sliceID: id}
	}
	return noSliceDue, in
}

// Deadline returns when Poll has something to do next if no event comes before:
// Never unless a chunk is in flight (SND-16).
func (s *Sender) Deadline() core.Micros {
	if s.state != SenderSending {
		return core.Never
	}
	return min(s.sched.Deadline(), s.heardAt+s.giveUp)
}

// Rest releases what only a chunk in flight needs. It does nothing while there is
// one, or if the scheduler is no Rester.
func (s *Sender) Rest() {
	if r, ok := s.sched.(Rester); ok && s.state != SenderSending {
		r.Rest()
	}
}

// slice returns a slice of the chunk in flight: always the same bytes (SLC-4,
// LIM-2).
func (s *Sender) slice(id int) codec.Slice {
	from := id * codec.SliceSize
	to := min(from+codec.SliceSize, len(s.chunk))
	return codec.Slice{ChunkID: s.chunkID, SliceID: id, NumSlices: s.numSlices, Data: s.chunk[from:to:to]}
}

// start begins a chunk; nothing of the one before remains (SND-10).
func (s *Sender) start(in senderInput) {
	s.chunk = in.chunk
	s.numSlices = codec.NumSlices(len(in.chunk))
	s.sent, s.acked = core.Set{}, core.Set{}
	s.startedAt, s.heardAt = s.now, s.now
	if s.log != nil {
		*s.times = [codec.MaxSlices]int{}
		s.log(eventlog.Event{
			Kind: eventlog.ChunkStarted, At: s.now, ChunkID: s.chunkID, Bytes: len(s.chunk),
			NumSlices: s.numSlices, Direction: eventlog.Out,
		})
	}
	first, last := s.slice(0), s.slice(s.numSlices-1)
	s.sched.Begin(Flight{
		Now: s.now, ChunkID: s.chunkID, NumSlices: s.numSlices,
		Bytes: first.DatagramSize(), LastBytes: last.DatagramSize(), Log: s.log,
	})
}

// hear records a sign of life (SND-11).
func (s *Sender) hear(senderInput) { s.heardAt = s.now }

// held reports a hold to the scheduler (SND-23).
func (s *Sender) held(senderInput) { s.sched.Held(s.now) }

// note takes newly acked slices, and passes them on to the scheduler (SND-12).
func (s *Sender) note(in senderInput) {
	s.hear(in)
	s.acked = s.acked.Union(in.news)
	s.stats.SlicesAcked += int64(in.news.Count())
	if s.log != nil {
		for id := range in.news.All() {
			s.log(eventlog.Event{Kind: eventlog.SliceAcked, At: s.now, ChunkID: s.chunkID, SliceID: id})
		}
	}
	s.sched.Acked(s.now, in.news)
}

// complete counts the chunk as delivered and goes on to the next id (SND-13).
func (s *Sender) complete(in senderInput) {
	s.stats.Chunks++
	s.stats.ChunkBytes += int64(len(s.chunk))
	s.stats.LastChunkTime = s.now - s.startedAt
	if s.log != nil {
		s.log(eventlog.Event{
			Kind: eventlog.ChunkCompleted, At: s.now, ChunkID: s.chunkID, Bytes: len(s.chunk),
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

// drop releases the caller's chunk (SND-15, SND-19).
func (s *Sender) drop(senderInput) { s.chunk = nil }

// send counts the slice that goes out (SND-14).
func (s *Sender) send(in senderInput) {
	if s.sent.Has(in.sliceID) {
		s.stats.SlicesResent++
	}
	s.sent.Add(in.sliceID)
	s.stats.SlicesSent++
	out := s.slice(in.sliceID)
	s.stats.BytesSent += int64(out.DatagramSize())
	if s.log != nil {
		s.times[in.sliceID]++
		s.log(eventlog.Event{
			Kind: eventlog.SliceSent, At: s.now, ChunkID: s.chunkID, SliceID: in.sliceID,
			Bytes: out.DatagramSize(), Times: s.times[in.sliceID], Why: s.why(in.sliceID),
		})
	}
}

// why returns what the slice that goes out is sent for.
func (s *Sender) why(id int) string {
	if s.times[id] == 1 {
		return eventlog.First
	}
	if e, ok := s.sched.(Explainer); ok {
		return e.Why(id)
	}
	return eventlog.Lost
}

// ackEvent is an ack in the log.
func ackEvent(kind eventlog.Kind, now core.Micros, a *codec.Ack) eventlog.Event {
	have := a.Acked.Count()
	return eventlog.Event{Kind: kind, At: now, ChunkID: a.ChunkID, Have: have, NumSlices: a.NumSlices, Complete: have == a.NumSlices}
}
