package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/table"
)

// SenderConfig sets up a Sender.
type SenderConfig struct {
	// Kind is the kind of slices, the same at both ends.
	Kind codec.Kind
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk can stay without progress before the sender
	// fails: 1 us to MaxGiveUp, or 0 for DefaultGiveUp. It should be three times the
	// scheduler's longest interval between slices, and 100 ms (SND-20).
	GiveUp core.Micros
	// Scheduler decides which slice goes next, and when. It is required, serves one
	// sender, and must be one for the kind of slices.
	Scheduler Scheduler
	// Log, when not nil, gets the events of each slice, ack and chunk, and the rows.
	Log eventlog.Log
}

// Sender is the sending end of one connection (section 7; section 5 of spec/REPAIR.md).
// One chunk is in flight at a time (CON-2).
type Sender struct {
	state  SenderState
	row    core.Row
	now    core.Micros
	giveUp core.Micros
	kind   codec.Kind
	ledger senderLedger
	sched  Scheduler
	log    eventlog.Log

	// The chunk in flight, or the next one's id when there is none.
	chunkID   uint16
	numSlices int
	size      int // in bytes
	startedAt core.Micros
	heardAt   core.Micros // the latest sign of the peer: START, an ack with news, a hold

	given   given
	refusal error       // of the last Submit
	out     codec.Slice // what the last step has for Poll
	stats   SenderStats
}

// senderLedger knows the slices of the chunk in flight: which were sent, and which have
// arrived. The machine knows only what the ledger says of an ack, and that a slice was sent.
type senderLedger interface {
	// start begins a chunk, of which nothing was sent.
	start(chunkID uint16, c chunk)
	// judge returns the guard of an ack for the chunk in flight, and sets what it says.
	judge(a *codec.Ack, said *Progress) (guard uint8)
	// note takes what an ack said, and makes of it what is known from then on, with the news.
	// It returns how many slices are newly acked.
	note(said *Progress) (newly int)
	// slice returns a slice of the chunk in flight: always the same bytes.
	slice(id int) codec.Slice
	// send sets the slice that is sent next, if the scheduler named one, and counts it
	// as sent. It reports whether the slice was sent before.
	send(id int, out *codec.Slice) (again bool)
	// told returns how often the slice was sent that was sent last, and what for, if the
	// scheduler says why.
	told(s *codec.Slice, why string) (times int, reason string)
	// drop releases the chunk.
	drop()
	// count returns how many slices an ack reports.
	count(a codec.Ack) int
	// unacked returns how many slices were sent of which it is not known that they arrived,
	// and whether there are slices of the chunk that were not sent.
	unacked() (n int, unsent bool)
	vars(v SenderVars) SenderVars // with the variables of the slices
}

// chunk is the submitted chunk.
type chunk struct {
	bytes   []byte           // the caller's
	encoded *erasure.Encoded // or nil, if it came as bytes
}

// NewSender returns an idle sender (SND-21, RPX-1). It fails with core.ErrConfig.
func NewSender(cfg SenderConfig) (*Sender, error) {
	giveUp, err := CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	if cfg.Scheduler == nil {
		return nil, core.ConfigError("Scheduler", nil, "a scheduler, such as adaptive.New or rateless.New returns")
	}
	s := &Sender{chunkID: cfg.FirstChunkID, giveUp: giveUp, kind: cfg.Kind, sched: cfg.Scheduler, log: cfg.Log}
	s.ledger = newSenderLedger(cfg.Kind, cfg.Log != nil)
	return s, nil
}

func newSenderLedger(kind codec.Kind, logs bool) senderLedger {
	if kind == codec.Repair {
		return &sentCount{}
	}
	l := &sentSet{}
	if logs {
		l.times = new([codec.MaxSlices]int)
	}
	return l
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
	// on what is delivered, and need a new connection.
	SenderFailed
)

func (s SenderState) String() string { return [...]string{"IDLE", "SENDING", "FAILED"}[s] }

// The guards of section 7.3, and of section 5.3 of spec/REPAIR.md.
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

// senderRow returns a row by its ids in the two documents: it is in the tables of both.
func senderRow(named, repair core.Row, from SenderState, guard uint8, to SenderState, does ...senderAction) pair[senderTransition] {
	row := senderTransition{From: from, If: guard, To: to, Do: does}
	var p pair[senderTransition]
	p[codec.Named], p[codec.Repair] = row, row
	p[codec.Named].Row, p[codec.Repair].Row = named, repair
	return p
}

// senderRows are the sender: every transition that there is (section 7.3, and section 5.2
// of spec/REPAIR.md, RPX-2).
var senderRows = []pair[senderTransition]{
	senderRow("S1", "T1", SenderIdle, sizeValid, SenderSending, senderStart),
	senderRow("S2", "T2", SenderIdle, sizeInvalid, SenderIdle, refuseSize),
	senderRow("S3", "T3", SenderSending, anySubmit, SenderSending, refuseBusy),
	senderRow("S4", "T4", SenderFailed, anySubmit, SenderFailed, refuseGaveUp),
	senderRow("S5", "T5", SenderIdle, anyAck, SenderIdle, ignoreAck),
	senderRow("S6", "T6", SenderSending, ackForeign, SenderSending, ignoreAck),
	senderRow("S7", "T7", SenderSending, ackNothingNew, SenderSending, ignoreAck),
	senderRow("S8", "T8", SenderSending, ackHold, SenderSending, hear, held),
	senderRow("S9", "T9", SenderSending, ackNews, SenderSending, note),
	senderRow("S10", "T10", SenderSending, ackAll, SenderIdle, note, senderComplete),
	senderRow("S11", "T11", SenderFailed, anyAck, SenderFailed, ignoreAck),
	senderRow("S12", "T12", SenderIdle, anySenderPoll, SenderIdle),
	senderRow("S13", "T13", SenderSending, sliceDue, SenderSending, send),
	senderRow("S14", "T14", SenderSending, noSliceDue, SenderSending),
	senderRow("S15", "T15", SenderSending, senderGivesUp, SenderFailed, senderGiveUp),
	senderRow("S16", "T16", SenderFailed, anySenderPoll, SenderFailed),
}

var senderTables = [...]*table.Table[SenderState, uint8, Sender, senderInput]{
	codec.Named:  table.New(3, senderGuards, rowsOf(codec.Named, senderRows)),
	codec.Repair: table.New(3, senderGuards, rowsOf(codec.Repair, senderRows)),
}

// SenderTable returns the rows of the sender's table, as the document of a kind has them.
func SenderTable(kind codec.Kind) []core.Line { return senderTables[kind].Lines() }

// senderNames are the names of the machine in logs.
var senderNames = [...]string{codec.Named: "sender", codec.Repair: "repair-sender"}

// pair is a row of the tables of both documents, by kind.
type pair[R any] [2]R

// rowsOf returns the rows of one document: those that have an id there.
func rowsOf[S table.State, M, In any](kind codec.Kind, pairs []pair[table.Transition[S, uint8, M, In]]) (rows []table.Transition[S, uint8, M, In]) {
	for _, p := range pairs {
		if p[kind].Row != "" {
			rows = append(rows, p[kind])
		}
	}
	return rows
}

// given is what an event gives to the actions. It is kept in the sender and not handed
// on: passing it by value through the table takes longer than most events, and a pointer
// to a value of the caller would need memory.
type given struct {
	chunk   chunk
	ack     codec.Ack
	said    Progress // by the ack
	sliceID int
}

type senderInput = struct{}

// step takes the transition for the guard that holds. Nothing else changes the
// state.
func (s *Sender) step(guard uint8) {
	from := s.state
	if does := senderTables[s.kind].Step(s, &s.state, &s.row, guard, senderInput{}); does && s.log != nil {
		s.log(eventlog.Event{Kind: eventlog.State, At: s.now, Machine: senderNames[s.kind], From: from.String(), To: s.state.String(), Row: s.row})
	}
}

// advance takes a time before the latest one as that one (TIM-1).
func (s *Sender) advance(now core.Micros) { s.now = max(s.now, now) }

// Submit starts the transfer of a chunk of 1..codec.MaxChunkSize bytes. The
// sender does not copy it: it must stay as it is until the sender is idle
// again (SND-18). Submit fails with ErrChunkSize, ErrBusy or ErrGaveUp, and then
// the sender is as it was (SND-1, LIM-1).
func (s *Sender) Submit(now core.Micros, data []byte) error {
	return s.submit(now, chunk{bytes: data})
}

// SubmitEncoded is Submit for a chunk of which any number of senders can send the same
// slices (RPC-7).
func (s *Sender) SubmitEncoded(now core.Micros, e *erasure.Encoded) error {
	return s.submit(now, chunk{e.Bytes(), e})
}

func (s *Sender) submit(now core.Micros, c chunk) error {
	s.advance(now)
	s.refusal = nil
	guard := sizeValid
	if len(c.bytes) < 1 || len(c.bytes) > codec.MaxChunkSize {
		guard = sizeInvalid
	}
	s.given.chunk = c
	s.step(guard)
	s.given.chunk = chunk{}
	return s.refusal
}

// HandleAck takes an ack that arrived at now (SND-2). It reports whether the ack
// was of this connection: of the chunk in flight, or of the one before while the
// sender is idle (CON-6).
func (s *Sender) HandleAck(now core.Micros, a codec.Ack) (ours bool) {
	s.advance(now)
	s.stats.AcksReceived++
	if s.log != nil {
		s.log(ackEvent(eventlog.AckReceived, s.now, a, s.ledger.count(a)))
	}
	s.given.ack, s.given.said = a, Progress{}
	guard := s.ackGuard(&s.given.ack)
	ours = guard != ackForeign
	if s.state == SenderIdle {
		ours = s.stats.Chunks > 0 && a.ChunkID == s.chunkID-1
	}
	s.step(guard)
	return ours
}

// ackGuard returns the guard of an ack (SND-5, SND-6, SND-8, SND-22; RPX-3, RPX-4).
func (s *Sender) ackGuard(a *codec.Ack) uint8 {
	if a.ChunkID != s.chunkID || a.NumSlices != s.numSlices || s.kind.ValidateAck(a) != nil {
		return ackForeign
	}
	return s.ledger.judge(a, &s.given.said)
}

// Poll returns a slice to send at now, or false when none is due. Call it until
// it returns false (SND-3, SND-9). The slice's data points into the chunk.
func (s *Sender) Poll(now core.Micros) (codec.Slice, bool) {
	s.advance(now)
	guard := s.pollGuard()
	s.step(guard)
	if guard != sliceDue {
		return codec.Slice{}, false
	}
	out := s.out
	s.out.Data = nil
	return out, true
}

func (s *Sender) pollGuard() uint8 {
	if s.state != SenderSending {
		return noSliceDue
	}
	if s.now-s.heardAt >= s.giveUp {
		return senderGivesUp
	}
	if id, ok := s.sched.Next(s.now); ok {
		s.given.sliceID = id
		return sliceDue
	}
	return noSliceDue
}

// Deadline returns when Poll has something to do next if no event comes before:
// Never unless a chunk is in flight (SND-16).
func (s *Sender) Deadline() core.Micros {
	if s.state != SenderSending {
		return core.Never
	}
	return min(s.sched.Deadline(), s.heardAt+s.giveUp)
}

// Rest releases what only a chunk in flight needs. It does nothing while there is one.
func (s *Sender) Rest() {
	if s.state != SenderSending {
		s.sched.Rest()
	}
}

// Wants reports whether slices of the chunk in flight are to be sent before another chunk
// begins, whatever the pace (LAN-7).
func (s *Sender) Wants() bool {
	_, unsent := s.ledger.unacked()
	return s.sched.Wants(unsent)
}

// InFlight returns how many slices of the chunk in flight were sent and are not known to
// have arrived (LAN-10).
func (s *Sender) InFlight() int {
	n, _ := s.ledger.unacked()
	return s.sched.InFlight(n)
}

// start begins a chunk; nothing of the one before remains (SND-10, RPX-5).
func (s *Sender) start(senderInput) {
	s.size = len(s.given.chunk.bytes)
	s.numSlices = codec.NumSlices(s.size)
	s.startedAt, s.heardAt = s.now, s.now
	s.ledger.start(s.chunkID, s.given.chunk)
	if s.log != nil {
		s.log(eventlog.Event{
			Kind: eventlog.ChunkStarted, At: s.now, ChunkID: s.chunkID, Bytes: s.size,
			NumSlices: s.numSlices, Direction: eventlog.Out,
		})
	}
	first, last := s.ledger.slice(0), s.ledger.slice(s.numSlices-1)
	s.sched.Begin(Flight{
		Now: s.now, ChunkID: s.chunkID, NumSlices: s.numSlices,
		Bytes: first.DatagramSize(), LastBytes: last.DatagramSize(), Log: s.log,
	})
}

// hear records a sign of life (SND-11).
func (s *Sender) hear(senderInput) { s.heardAt = s.now }

// held reports a hold to the scheduler (SND-23).
func (s *Sender) held(senderInput) { s.sched.Held(s.now) }

// note takes what an ack said, and passes it on to the scheduler (SND-12, RPX-6).
func (s *Sender) note(in senderInput) {
	s.hear(in)
	s.stats.SlicesAcked += int64(s.ledger.note(&s.given.said))
	if s.log != nil {
		s.logProgress(&s.given.said)
	}
	s.sched.Acked(s.now, s.given.said)
}

// logProgress logs which slices are newly acked, or how many are.
func (s *Sender) logProgress(p *Progress) {
	for id := range p.News.All() {
		s.log(eventlog.Event{Kind: eventlog.SliceAcked, At: s.now, ChunkID: s.chunkID, SliceID: id})
	}
	if p.News.Empty() {
		s.log(eventlog.Event{Kind: eventlog.SlicesCounted, At: s.now, ChunkID: s.chunkID, Have: p.Have, Top: p.Top})
	}
}

// complete counts the chunk as delivered and goes on to the next id (SND-13).
func (s *Sender) complete(in senderInput) {
	s.stats.Chunks++
	s.stats.ChunkBytes += int64(s.size)
	s.stats.LastChunkTime = s.now - s.startedAt
	if s.log != nil {
		s.log(eventlog.Event{
			Kind: eventlog.ChunkCompleted, At: s.now, ChunkID: s.chunkID, Bytes: s.size,
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

// drop releases the caller's chunk (SND-15, SND-19, RPX-8).
func (s *Sender) drop(senderInput) {
	s.size = 0
	s.ledger.drop()
}

// send sends the next slice (SND-14, RPX-7).
func (s *Sender) send(senderInput) {
	if again := s.ledger.send(s.given.sliceID, &s.out); again {
		s.stats.SlicesResent++
	}
	s.stats.SlicesSent++
	s.stats.BytesSent += int64(s.out.DatagramSize())
	if !s.out.Source() {
		s.stats.SlicesRepair++
	}
	if s.log != nil {
		s.logSlice(&s.out)
	}
}

// logSlice logs the slice that is sent.
func (s *Sender) logSlice(out *codec.Slice) {
	times, why := s.ledger.told(out, s.sched.Why(out.SliceID))
	s.log(eventlog.Event{
		Kind: eventlog.SliceSent, At: s.now, ChunkID: s.chunkID, SliceID: out.SliceID,
		Bytes: out.DatagramSize(), Times: times, Why: why,
	})
}

// ackEvent is an ack in the log, which reports so many slices.
func ackEvent(kind eventlog.Kind, now core.Micros, a codec.Ack, have int) eventlog.Event {
	return eventlog.Event{Kind: kind, At: now, ChunkID: a.ChunkID, Have: have, NumSlices: a.NumSlices, Complete: have == a.NumSlices}
}
