package connection

import (
	"fmt"
	"unicode/utf8"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/table"
	"github.com/chunkwire/chunkwire/packet"
)

// Conn is one end of a connection that both ends have the keys of (section 9). Its variables are
// in CXL-13. It does nothing between calls. Times are of any clock that does not run backward, from 0 on; a time
// before the latest counts as that one.
type Conn struct {
	state State
	row   core.Row
	now   core.Micros // the latest that was given

	// What does not change.
	link      *session.Link
	memory    *Memory
	records   Format
	timeout   core.Micros
	keepAlive core.Micros
	tick      core.Micros
	rate      int64                                // MESSAGE_RATE
	above     func(packet.Delivery) packet.Verdict // c.takePayload

	machines
	budget    budget
	reports   budget
	total     *lanes.Total // of a server; nil if there is no server
	turnAt    core.Micros  // when it lets messages and reports go
	wornAt    core.Micros  // when the keys have had their time (CXE-12)
	confirmed bool         // a datagram of the link came
	heardAt   core.Micros
	unackedAt core.Micros // since when heavy packets are sent and none was acked; or never (CXL-18)
	holes     holes
	spokeAt   core.Micros // never before something was sent
	messageAt core.Micros // the latest with messages; never before, long ago
	tickAt    core.Micros // when messages can go that were not sent before
	ticking   bool        // they go now, in as many packets as it takes
	moving    bool        // the other end does not know yet where this one is
	bodies    bodies      // that wait to be sealed: fragments of a large message
	marks     *marks      // nil: the ends do not have them
	clocks    *clocks     // likewise
	witnesses *witnesses  // nil: no slice was sent
	polledAt  core.Micros // when Poll had nothing to send, if nothing happened since

	in  incoming
	out outgoing

	failed uint64 // the channels that have failed, as far as it is logged

	// Closing.
	code     uint16
	text     string
	closedAt core.Micros
	sayAt    core.Micros // when CLOSE is due in CLOSING, or Never
	owed     bool        // a CLOSE is to answer the CLOSE of the other end
	saidAt   core.Micros // the latest CLOSE
	err      error
	counts   Counts
	log      eventlog.Log // nil: there is none
}

const never core.Micros = -1

// Side is which end of a connection a Conn is.
type Side uint8

const (
	// ClientSide linked. It sends a pad until something came.
	ClientSide Side = iota
	// ServerSide was linked to. It exists because something came.
	ServerSide
)

// NewConn returns a connection that has begun at now: no channel has sent or received anything
// (CXL-9).
// It fails with core.ErrConfig.
func NewConn(cfg Config, link *session.Link, side Side, now core.Micros) (*Conn, error) {
	cfg, err := cfg.Complete()
	if err != nil {
		return nil, err
	}
	c, err := newConn(&cfg, link, side, now)
	if err == nil {
		c.logStarted(&cfg, side, nil)
	}
	return c, err
}

// newConn makes one of a configuration that is complete.
func newConn(cfg *Config, link *session.Link, side Side, now core.Micros) (*Conn, error) {
	log := logOf(cfg.Log, side, link)
	agreed := link.Agreed()
	m, err := cfg.machines(agreed, log)
	if err != nil {
		return nil, err
	}
	c := &Conn{
		now: now, link: link, memory: cfg.Memory, records: recordsOf(agreed), timeout: agreed.Timeout,
		keepAlive: min(agreed.Timeout/keepAlivePart, mostKeepAlive), tick: cfg.Tick, rate: cfg.MessageRate, machines: m,
		budget: budget{left: burst, now: now}, reports: budget{left: burst, now: now}, total: cfg.Chunks.Total, confirmed: side == ServerSide,
		heardAt: now, unackedAt: never, spokeAt: never, messageAt: -YieldTime, tickAt: now, polledAt: never, sayAt: core.Never,
		marks: newMarks(agreed), clocks: newClocks(agreed), holes: newHoles(cfg.Seed), log: log,
	}
	if c.wornAt = core.Never; link.Mode() != session.CRC {
		c.wornAt = now + session.KeyTime
	}
	c.above = c.takePayload
	return c, nil
}

// recordsOf returns the codec of the records of a connection.
func recordsOf(agreed session.Agreed) Format {
	return Format{agreed.Lanes, agreed.Variant == session.VariantRepair, agreed.Extensions&session.ExtensionECN != 0, agreed.Extensions&session.ExtensionClock != 0}
}

// State is the state of a Conn (section 9).
type State uint8

const (
	// Open sends and takes everything.
	Open State = iota
	// Closing sends CLOSE until the other end says it, or time is over.
	Closing
	// Closed ended. Data that arrived before can be read.
	Closed

	states = iota
)

func (s State) String() string { return [...]string{"OPEN", "CLOSING", "CLOSED"}[s] }

// The guards of section 9 (CXL-3).
var (
	guards table.Guards

	isRefused   = guards.Add("datagram", "refused")
	closes      = guards.Add("datagram", "closes")
	lies        = guards.Add("datagram", "lies")
	isTaken     = guards.Add("datagram", "otherwise")
	anyDatagram = guards.Add("datagram", table.Always)
	anyClose    = guards.Add("close", table.Always)
	anyEnd      = guards.Add("end", table.Always)
	timedOut    = guards.Add("poll", "timed out")
	hasFailed   = guards.Add("poll", "failed")
	packetDue   = guards.Add("poll", "packet due")
	isOver      = guards.Add("poll", "over")
	closeDue    = guards.Add("poll", "CLOSE due")
	closeOwed   = guards.Add("poll", "CLOSE owed")
	nothingDue  = guards.Add("poll", "otherwise")
)

// input is what an event gives to the actions.
type input struct {
	code uint16 // of close
	text string
	err  error // of end, of a time-out, of a failure, of a CLOSE that came
}

type action = table.Action[Conn, input]

// The actions of section 9 (CXL-4 to CXL-8).
var (
	count  = action{Name: "COUNT", Do: func(c *Conn, _ input) { c.counts.Refused++ }}
	hear   = action{Name: "HEAR", Do: (*Conn).hear}
	answer = action{Name: "ANSWER", Do: (*Conn).answer}
	fail   = action{Name: "FAIL", Do: func(c *Conn, in input) { c.err = in.err }}
	begin  = action{Name: "CLOSE", Do: (*Conn).begin}
	again  = action{Name: "AGAIN", Do: (*Conn).again}
	send   = action{Name: "SEND", Do: (*Conn).send}
	say    = action{Name: "SAY", Do: (*Conn).say}
)

type transition = table.Transition[State, uint8, Conn, input]

func row(row core.Row, from State, guard uint8, to State, does ...action) transition {
	return transition{Row: row, From: from, If: guard, To: to, Do: does}
}

// transitions is the machine: every transition that there is (CXL-2).
var transitions = table.New(states, guards, []transition{
	row("K1", Open, isRefused, Open, count),
	row("K2", Open, closes, Closed, hear, answer, fail),
	row("K3", Open, isTaken, Open, hear),
	row("K4", Open, anyClose, Closing, begin),
	row("K5", Open, timedOut, Closed, fail),
	row("K6", Open, hasFailed, Closing, fail, begin),
	row("K7", Open, packetDue, Open, send),
	row("K8", Open, nothingDue, Open),
	row("K9", Closing, isRefused, Closing, count),
	row("K10", Closing, closes, Closed),
	row("K11", Closing, isTaken, Closing, again),
	row("K12", Closing, isOver, Closed),
	row("K13", Closing, closeDue, Closing, say),
	row("K14", Closing, nothingDue, Closing),
	row("K15", Closing, anyClose, Closing),
	row("K16", Closed, anyDatagram, Closed),
	row("K17", Closed, anyClose, Closed),
	row("K18", Closed, closeOwed, Closed, say),
	row("K19", Closed, nothingDue, Closed),
	row("K20", Open, anyEnd, Closed, fail),
	row("K21", Closing, anyEnd, Closed),
	row("K22", Closed, anyEnd, Closed),
	row("K23", Open, lies, Closing, fail, begin),
})

// Table returns the rows of the table.
func Table() []core.Line { return transitions.Lines() }

func (c *Conn) step(guard uint8, in input) {
	from := c.state
	transitions.Step(c, &c.state, &c.row, guard, in)
	c.logStep(from)
}

// advance begins an event at now.
func (c *Conn) advance(now core.Micros) {
	c.now = max(c.now, now)
	c.budget.refill(c.now, c.messageRate())
	c.reports.refill(c.now, c.messageRate()/reportShare)
	c.polledAt = never
}

// Receive takes a datagram that arrived at now. It fails with why the datagram, or its payload,
// was refused; nothing else has then changed but counters, and what the packet layer knows of
// fragments. A datagram whose envelope opens is a sign of life all the same (CXL-11).
func (c *Conn) Receive(now core.Micros, datagram []byte) error {
	return c.ReceiveECN(now, datagram, NotECT)
}

// ReceiveECN is Receive for a datagram that came with a value of the field ECN.
func (c *Conn) ReceiveECN(now core.Micros, datagram []byte, ecn ECN) error {
	_, err := c.receive(now, datagram, ecn)
	return err
}

// heard is what a datagram says, whatever is in it.
type heard struct {
	opened bool // the envelope was right
	news   bool // and a packet of this end was acked that none had acked before (CXL-15)
}

// receive does what ReceiveECN does.
func (c *Conn) receive(now core.Micros, datagram []byte, ecn ECN) (h heard, err error) {
	c.advance(now)
	if c.state == Closed {
		c.step(anyDatagram, input{})
		return h, c.err
	}
	body, err := c.memory.open(c.link, datagram)
	if err != nil {
		c.step(isRefused, input{})
		c.memory.logRefused(c.log, c.now, uint64(c.link.ID()), datagram, err)
		return h, err
	}
	return c.takeBody(body, ecn)
}

// takeBody takes what an envelope held (CXM-7).
func (c *Conn) takeBody(body []byte, ecn ECN) (h heard, err error) {
	c.marks.opened(ecn)
	c.counts.DatagramsReceived++
	if ecn == CE {
		c.counts.CEReceived++
	}
	c.counts.BytesReceived += int64(len(body) + c.link.Overhead())
	c.in = incoming{}
	err = c.packets.Receive(c.now, body, c.above)
	switch {
	case c.in.refusal == ErrLied:
		c.step(lies, input{code: CodeLied, err: ErrLied})
	case err == nil && c.in.closed != nil:
		c.step(closes, input{err: c.in.closed})
	default:
		c.step(isTaken, input{})
	}
	c.memory.forget()
	h = heard{opened: true, news: c.learn()}
	if c.in.refusal != nil {
		err = c.in.refusal
	}
	if err != nil {
		c.counts.Refused++
		c.memory.logRefused(c.log, c.now, uint64(c.link.ID()), body, err)
	}
	return h, err
}

// Poll appends a datagram to send at now to dst, or returns false when none is due (CXL-14). Call
// it until it returns false; also when the connection has closed, which notifies the other end.
func (c *Conn) Poll(now core.Micros, dst []byte) (out []byte, ok bool) {
	c.advance(now)
	c.out.datagram, c.out.sent, c.out.ect = dst, false, false
	for {
		guard, in := c.pollGuard()
		c.step(guard, in)
		if guard == nothingDue || c.out.sent {
			break
		}
	}
	if c.learn(); !c.out.sent {
		c.polledAt = c.now
	}
	out = c.out.datagram
	c.out.datagram, c.out.payload = nil, nil // the caller's memory
	return out, c.out.sent
}

// ECT reports whether the datagram that Poll returned last is to go with ECT0, and not with
// NotECT (CXM-15).
func (c *Conn) ECT() bool { return c.out.ect }

// pollGuard returns the first guard that holds for a poll.
func (c *Conn) pollGuard() (guard uint8, in input) {
	switch {
	case c.state == Open:
		return c.openGuard()
	case c.state == Closing && c.now >= c.closedAt+CloseTime:
		return isOver, in
	case c.state == Closing && c.now >= c.sayAt && !c.moving:
		return closeDue, in
	case c.owed:
		return closeOwed, in
	}
	return nothingDue, in
}

// openGuard composes a packet, if one is due. That is when a machine that is to be given up
// fails.
func (c *Conn) openGuard() (guard uint8, in input) {
	if c.now >= c.heardAt+c.timeout {
		return timedOut, input{err: fmt.Errorf("connection: nothing came for %v: %w", c.timeout.Duration(), session.ErrTimeout)}
	}
	if c.now >= c.endsAt() {
		return timedOut, input{err: ErrUnacked}
	}
	if c.moving {
		return nothingDue, in
	}
	if c.failure() == nil && c.compose() {
		return packetDue, in
	}
	if err := c.failure(); err != nil {
		code := CodeFailed
		if err == ErrWorn {
			code = CodeWorn
		}
		return hasFailed, input{code: code, err: fmt.Errorf("%w: %w", ErrFailed, err)}
	}
	return nothingDue, in
}

// failure returns why a chunk machine was given up, or the keys are, or nil. A channel that was ends
// nothing else (CHC-6).
func (c *Conn) failure() error {
	if c.link.Worn() || c.now >= c.wornAt {
		return ErrWorn
	}
	if c.lanes != nil {
		return c.lanes.Err()
	}
	return nil
}

// Deadline returns when Poll has something to do if no event comes before, or core.Never
// (CXM-9). Asking for it changes nothing (CXM-27).
func (c *Conn) Deadline() core.Micros {
	at := core.Never
	switch {
	case c.state == Open:
		at = c.openDeadline()
	case c.state == Closing && c.moving:
		at = c.closedAt + CloseTime
	case c.state == Closing:
		at = min(c.sayAt, c.closedAt+CloseTime)
	case c.owed:
		at = c.now
	}
	if c.polledAt == never {
		return at
	}
	return max(at, c.polledAt+1) // nothing was due then, whatever a scheduler says
}

// endsAt returns when the connection times out if nothing arrives before (CXL-3).
func (c *Conn) endsAt() core.Micros {
	if c.unackedAt == never {
		return c.heardAt + c.timeout
	}
	return min(c.heardAt, c.unackedAt) + c.timeout
}

// openDeadline returns Deadline while the connection is open.
func (c *Conn) openDeadline() core.Micros {
	switch {
	case c.moving:
		return c.endsAt()
	case c.bodies.waiting() || c.failure() != nil:
		return c.now
	}
	at := min(c.endsAt(), c.wornAt, c.aliveAt(), c.packets.Deadline(), c.reportAt())
	if data := c.dataAt(); data < at {
		at = min(at, max(data, c.budget.at(c.messageRate()), c.turnAt))
	}
	if c.lanes != nil {
		at = min(at, c.lanes.Deadline())
	}
	return at
}

// Close begins to close the connection, with a code of the application, 0 or FirstCode and
// more, and a text of at most MaxText bytes of UTF-8. What waits to be sent is not sent any
// more; see Delivered. Close fails with ErrReserved, ErrLength or ErrText, and then has done
// nothing. A connection that closed before stays as it is.
func (c *Conn) Close(now core.Micros, code uint16, text string) error {
	if err := checkClose(code, text); err != nil {
		return err
	}
	c.advance(now)
	c.step(anyClose, input{code: code, text: text, err: &ClosedError{Code: code, Text: text}})
	return nil
}

// checkClose returns why an application cannot close with a code and a text.
func checkClose(code uint16, text string) error {
	switch {
	case code != CodeDone && code < FirstCode:
		return codeReserved.NotAt()
	case len(text) > MaxText:
		return textTooLong.NotAt()
	case !utf8.ValidString(text):
		return textNotUTF8.NotAt()
	}
	return nil
}

// relinked notes that the handshake was made again: the other end is there. It is no event
// (CXL-11).
func (c *Conn) relinked(now core.Micros) {
	c.advance(now)
	c.heardAt, c.unackedAt, c.moving = c.now, never, false
}

// move says that this end has another address. The other end refuses datagrams from there until
// the handshake was made again, so nothing is sent before (CXL-16).
func (c *Conn) move(now core.Micros) {
	c.forgetPath(now)
	c.moving = true
}

// end ends the connection without a word: the session says that there is none any more.
func (c *Conn) end(now core.Micros, err error) {
	c.advance(now)
	c.step(anyEnd, input{err: err})
}

// hear notes a sign of life.
func (c *Conn) hear(input) { c.heardAt, c.confirmed = c.now, true }

// begin begins to close.
func (c *Conn) begin(in input) {
	c.code, c.text, c.err = in.code, in.text, in.err
	c.closedAt, c.sayAt = c.now, c.now
	c.bodies = bodies{}
}

// answer makes one CLOSE due, so that the other end need not repeat its own.
func (c *Conn) answer(input) {
	c.code, c.text, c.owed = CodeDone, "", true
	c.bodies = bodies{}
}

// again makes a CLOSE due for a datagram that shows that the other end has heard none.
func (c *Conn) again(input) { c.sayAt = min(c.sayAt, max(c.now, c.saidAt+CloseFirst)) }

// say sends a CLOSE. The next one is due at the first of the times for it that is to come.
func (c *Conn) say(in input) {
	c.out.begin(c.memory.payload)
	c.append(&Record{Type: TypeClose, Code: c.code, Text: []byte(c.text)})
	c.send(in)
	c.saidAt, c.sayAt, c.owed = c.now, core.Never, false
	for k := range Closes {
		if at := c.closedAt + CloseFirst*(1<<k-1); at > c.now {
			c.sayAt = at
			return
		}
	}
}

// State returns the state.
func (c *Conn) State() State { return c.state }

// Row returns the row that was taken last; it is empty before the first event.
func (c *Conn) Row() core.Row { return c.row }

// Err returns why the connection closes or has closed, or nil: a *ClosedError, an error that
// wraps ErrFailed or session.ErrTimeout, or what the session ended it with.
func (c *Conn) Err() error { return c.err }

// Link returns the envelope.
func (c *Conn) Link() *session.Link { return c.link }

// Mode returns how much can be sent.
func (c *Conn) Mode() packet.Mode { return c.packets.Mode() }

// Estimates returns the estimates of the path.
func (c *Conn) Estimates(now core.Micros) packet.Estimates { return c.packets.Estimates(now) }

// path returns what the channels need to know of the path (CHP-3).
func (c *Conn) path() (p channel.Path) {
	p.Measured, p.SRTT, p.Patience = c.packets.RoundTrip(c.now)
	return p
}

// learn ends an event: it gives the channels the packet layer's estimates of the path (CXM-6), and
// the lanes the marks that are new. It reports whether a packet was acked.
func (c *Conn) learn() (acked bool) {
	for _, e := range c.packets.Events() {
		acked = acked || e.Kind == packet.EventAcked
		c.logFate(e)
		c.marks.settle(e)
		if e.Kind == packet.EventAcked {
			c.witnesses.acked(e.Number)
		}
	}
	if acked {
		c.unackedAt = never
	}
	if c.lanes != nil {
		if !c.witnesses.held() {
			c.lanes.Hold(0)
		}
		if !c.lanes.Sending() {
			c.witnesses.rest()
		}
	}
	if marked := c.marks.judge(c.now); marked > 0 {
		c.counts.CEReported += int64(marked)
		c.lanes.Marked(c.now, marked)
	}
	c.mux.SetPath(c.path())
	c.logChannels()
	return acked
}

// forgetPath makes all estimates begin anew: the other end is at another address, or this one
// (CXL-10).
func (c *Conn) forgetPath(now core.Micros) {
	c.advance(now)
	c.packets.ForgetPath(c.now)
	c.unackedAt = never
	if c.lanes != nil {
		c.lanes.ForgetPath(c.now)
	}
	c.marks.forgetPath(c.packets.Next())
	c.witnesses.forgetPath(c.packets.Next())
	c.learn()
}
