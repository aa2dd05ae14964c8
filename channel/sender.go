package channel

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// Sender is the sending end of a reliable channel (section 4). It keeps entries until a
// report releases them, and sends again those that a report names. It does nothing between calls.
// Its variables are in CHS-7.
type Sender struct {
	state State
	row   core.Row
	now   core.Micros // the latest that was given, in microseconds (CHN-2, CHN-3)

	// What does not change.
	id        uint8
	format    Format
	space     core.Space
	sendQueue int
	giveUp    core.Micros
	fresh     int

	entries ring[entry] // from base up to next
	base    core.Number // all below is released
	sent    core.Number // the first that was never sent
	next    core.Number // the next to be given out
	limit   core.Number // the receiver takes nothing from here on
	resent  core.Number // 1 + the highest that was sent more than once
	heard   core.Number // the packet of the newest report that counted
	deaths  deaths
	marked  int         // entries below sent that are due
	low     core.Number // no entry below it is due

	saidAt  core.Micros
	heardAt core.Micros
	backoff uint
	path    Path

	packet    core.Number // that is being composed
	freshInIt int         // sequences that it carries for the first time
	out       Record      // lent to the caller of Poll
	refused   *Error      // why the message of the latest Send was refused
	err       error
	stats     SenderStats
}

// entry is one sequence that is kept. An entry that was never sent is always due (CHS-14).
type entry struct {
	data   []byte      // none if gone; its memory is the slot's
	packet core.Number // of the latest transmission
	at     core.Micros // of the latest transmission
	death  int32       // of the message, in its last entry: its place in the heap
	index  uint8       // of the fragment
	count  uint8       // fragments of the message; 1: it is whole
	due    bool        // marked to be resent
	again  bool        // it was sent more than once
	gone   bool        // its lifetime is over
}

const noDeath = -1

// NewSender returns the sender of a reliable channel that has sent nothing. It fails with
// core.ErrConfig (CHP-2).
func NewSender(cfg Config) (*Sender, error) {
	cfg, err := cfg.reliable()
	if err != nil {
		return nil, err
	}
	first := cfg.First
	return &Sender{
		id: cfg.ID, format: cfg.Format, space: cfg.SequenceBits, sendQueue: cfg.SendQueue, giveUp: cfg.GiveUp, fresh: cfg.Fresh,
		base: first, sent: first, next: first, limit: first + core.Number(cfg.Window), resent: first, heard: core.NoNumber, low: first, packet: core.NoNumber,
	}, nil
}

// The guards of section 4 (CHS-9).
var (
	senderGuards table.Guards

	sizeIsBad      = senderGuards.Add("send", "size not allowed")
	queueIsFull    = senderGuards.Add("send", "queue full")
	messageIsTaken = senderGuards.Add("send", "otherwise")
	anySend        = senderGuards.Add("send", table.Always)
	isOvertaken    = senderGuards.Add("report", "overtaken")
	isImplausible  = senderGuards.Add("report", "implausible")
	reportCounts   = senderGuards.Add("report", "otherwise")
	anyReport      = senderGuards.Add("report", table.Always)
	senderGivesUp  = senderGuards.Add("poll", "given up")
	dueFits        = senderGuards.Add("poll", "due and fits")
	probeTime      = senderGuards.Add("poll", "probe time")
	nothingToSend  = senderGuards.Add("poll", "otherwise")
	anySenderPoll  = senderGuards.Add("poll", table.Always)
)

// senderInput is what an event gives to the actions.
type senderInput struct {
	refusal  *Error      // of send
	message  []byte      // of send
	lifetime core.Micros // of send
	number   core.Number // of report: of its packet; of poll: of the packet that is composed
	ack      core.Number // of report
	base     core.Number // of report, unwrapped
	report   *Record     // of report
	space    int         // of poll
}

type senderAction = table.Action[Sender, senderInput]

// The actions of section 4.
var (
	// REFUSE only says why: Send returns it (CHS-15).
	refuse         = senderAction{Name: "REFUSE", Do: func(s *Sender, in senderInput) { s.refused = in.refusal }}
	appendMessage  = senderAction{Name: "APPEND", Do: (*Sender).appendMessage}
	countReport    = senderAction{Name: "COUNT", Do: func(s *Sender, _ senderInput) { s.stats.Implausible++ }}
	release        = senderAction{Name: "RELEASE", Do: (*Sender).release}
	makeRoom       = senderAction{Name: "ROOM", Do: (*Sender).makeRoom}
	mark           = senderAction{Name: "MARK", Do: (*Sender).mark}
	failSender     = senderAction{Name: "FAIL", Do: (*Sender).fail}
	send           = senderAction{Name: "SEND", Do: (*Sender).send}
	probe          = senderAction{Name: "PROBE", Do: (*Sender).probe}
	countOvertaken = senderAction{Do: func(s *Sender, _ senderInput) { s.stats.Overtaken++ }}
)

type senderTransition = table.Transition[State, uint8, Sender, senderInput]

func senderRow(row core.Row, from State, guard uint8, to State, does ...senderAction) senderTransition {
	return senderTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// senderTable is the machine: every transition that there is (CHS-8).
var senderTable = table.New(states, senderGuards, []senderTransition{
	senderRow("D1", Open, sizeIsBad, Open, refuse),
	senderRow("D2", Open, queueIsFull, Open, refuse),
	senderRow("D3", Open, messageIsTaken, Open, appendMessage),
	senderRow("D4", Open, isOvertaken, Open, countOvertaken),
	senderRow("D5", Open, isImplausible, Open, countReport),
	senderRow("D6", Open, reportCounts, Open, release, makeRoom, mark),
	senderRow("D7", Open, senderGivesUp, Failed, failSender),
	senderRow("D8", Open, dueFits, Open, send),
	senderRow("D9", Open, probeTime, Open, probe),
	senderRow("D10", Open, nothingToSend, Open),
	senderRow("D11", Failed, anySend, Failed, refuse),
	senderRow("D12", Failed, anyReport, Failed),
	senderRow("D13", Failed, anySenderPoll, Failed),
})

// SenderTable returns the rows of the table.
func SenderTable() []core.Line { return senderTable.Lines() }

// Send gives the channel a message of 1 to Format.MaxMessage bytes, of which it keeps a copy.
// If lifetime is not 0 the message expires that much later, unless it was released before.
// Send fails with ErrMessageSize, ErrQueueFull or ErrFailed; then nothing has changed.
func (s *Sender) Send(now core.Micros, message []byte, lifetime core.Micros) error {
	s.advance(now)
	guard, refusal := s.sendGuard(len(message))
	s.refused = nil
	senderTable.Step(s, &s.state, &s.row, guard, senderInput{refusal: refusal, message: message, lifetime: lifetime})
	if s.refused != nil {
		return s.refused
	}
	return nil
}

func (s *Sender) sendGuard(size int) (guard uint8, refusal *Error) {
	switch {
	case s.state == Failed:
		return anySend, channelFailed.NotAt()
	case size < 1 || size > s.format.mostFragments()*s.format.Data:
		return sizeIsBad, sizeNotAllowed.NotAt()
	case int(s.next-s.base)+s.numFragments(size) > s.sendQueue:
		return queueIsFull, queueFull.NotAt()
	}
	return messageIsTaken, nil
}

// Report takes a REPORT that was decoded from the packet number of the peer, whose header
// acked ack, the newest of our packets that the peer knew of; None if it knew of none.
func (s *Sender) Report(now core.Micros, number, ack core.Number, r *Record) {
	s.advance(now)
	in := senderInput{number: number, ack: ack, report: r, base: s.unwrap(s.base, r.Sequence)}
	senderTable.Step(s, &s.state, &s.row, s.reportGuard(&in), in)
}

// reportGuard returns the first guard that holds for a report. Only the first of a packet
// counts: the next is not newer.
func (s *Sender) reportGuard(in *senderInput) uint8 {
	groups := in.report.Groups
	switch {
	case in.number <= s.heard:
		return isOvertaken
	case in.base > s.sent:
		return isImplausible
	case len(groups) > 0 && s.unwrap(in.base, groups[len(groups)-1].Start) >= s.sent:
		return isImplausible // groups ascend: the last names the highest
	}
	return reportCounts
}

// unwrap returns the first sequence at or after base that has these bits (CHN-5).
func (s *Sender) unwrap(base core.Number, wire uint16) core.Number {
	n, _ := s.space.From(base, wire)
	return n
}

// Poll returns a record for the packet that is being composed, which has this number, and
// room for space bytes. Call it until it returns none. The data are lent until the next call
// (CHS-12).
func (s *Sender) Poll(now core.Micros, number core.Number, space int) (r Record, ok bool) {
	s.advance(now)
	if number != s.packet {
		s.packet, s.freshInIt = number, 0
	}
	s.out = Record{}
	senderTable.Step(s, &s.state, &s.row, s.pollGuard(space), senderInput{number: number, space: space})
	return s.out, s.out.Type != TypePad
}

func (s *Sender) pollGuard(space int) uint8 {
	if s.state == Failed {
		return anySenderPoll
	}
	due, waits := s.lowestDue()
	switch {
	case s.base < s.next && s.now-s.heardAt >= s.giveUp:
		return senderGivesUp
	case waits && s.fits(due, space):
		return dueFits
	case !waits && s.base < s.next && s.now >= s.probeAt() && space >= statusSize:
		return probeTime
	}
	return nothingToSend
}

// advance begins an event at now. A time before the latest one counts as that one (CHN-3).
// What expires by then is gone before the event (CHX-1).
func (s *Sender) advance(now core.Micros) {
	s.now = max(s.now, now)
	for s.state == Open && s.deaths.earliest() <= s.now {
		s.expire()
	}
}

// SetPath takes the packet layer's estimates of the path. It is no event (CHP-3).
func (s *Sender) SetPath(p Path) { s.path = p }

// Deadline returns when Poll has something to do next if no event comes before, or Never
// (CHS-5).
func (s *Sender) Deadline() core.Micros {
	if s.Pending() {
		return s.now
	}
	return s.Prompt()
}

// Prompt returns what Deadline does if nothing waits to be sent for the first time: such
// messages can wait for the application's tick (CHC-9, CHC-10).
func (s *Sender) Prompt() core.Micros {
	switch {
	case s.state == Failed || s.base == s.next:
		return core.Never
	case s.marked > 0:
		return s.now
	}
	at := min(s.heardAt+s.giveUp, s.deaths.earliest())
	if !s.Pending() {
		at = min(at, s.probeAt())
	}
	return at
}

// Pending reports whether something waits to be sent for the first time, and can be sent.
func (s *Sender) Pending() bool { return s.state == Open && s.sent < min(s.limit, s.next) }
