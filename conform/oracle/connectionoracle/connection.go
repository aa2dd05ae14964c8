package connectionoracle

import (
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform/layout"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// The constants, in microseconds and bytes.
const (
	CloseFirst   = 20_000
	CloseTime    = 1_000_000
	BadTick      = 100_000
	KeyTime      = 24 * 3600 * 1_000_000
	Burst        = 16_384
	LinkInterval = 250_000
	YieldTime    = 1_000_000

	largestAck   = 38
	largestSlice = 1032
	headers      = 28
	aByte        = 8_000_000 // what a byte takes of the budget
	tenth        = 100_000   // the unit of a timeout
)

// never is later than every time.
const never = 1<<63 - 1

// The states.
const (
	StateOpen    = "OPEN"
	StateClosing = "CLOSING"
	StateClosed  = "CLOSED"
)

// Config sets up one end of a connection.
type Config struct {
	Client      bool
	Send, Open  sessionoracle.Direction
	Lanes       int64
	Repair      bool  // the variant of the lanes
	ECN         bool  // there are marks of congestion
	Clock       bool  // there are clocks
	Timeout     int64 // in units of 100 ms
	Tick        int64
	MessageRate int64
	Channels    []ChannelConfig
	Seed        []byte                                           // of the numbers that are left out; empty: none is
	Sender      func() (*chunkoracle.Sender, *repairoracle.Rule) // which has no rule if it is of named slices
	Receiver    func() *chunkoracle.Receiver
}

// GiveUp is when channels and chunk machines give up that say nothing else.
func GiveUp(timeout int64) int64 { return min(2*tenth*timeout, 3_600_000_000) }

// Ended is why a connection is CLOSED, or will be.
type Ended struct {
	Why    string // closed, timeout or failed
	Code   int64
	Text   string
	Remote bool
}

// Connection is one end: table K.
type Connection struct {
	cfg    Config
	state  string
	now    int64
	ended  *Ended
	opener *sessionoracle.Receiver
	c      int64 // of the next datagram

	packets  *packetoracle.Endpoint
	channels *channels
	lanes    *lanes
	format   Format
	marks    *marks // nil: there are none
	clocks   *clocks
	witness  *witness

	wornAt    int64 // when its keys have had their time (CXE-12)
	heardAt   int64
	unackedAt int64 // -1: none
	sentAt    int64 // -1: nothing was
	confirmed bool
	tickAt    int64
	ticking   bool
	messageAt int64 // the latest message, or before all time
	budget    int64
	reports   int64 // the budget of reports
	refillAt  int64
	closeAt   int64
	code      int64
	text      string
	said      int
	saidAt    int64
	again     bool
	owed      bool
	moving    bool
	news      bool // of the latest datagram

	bodies   [][]byte // that wait to be sealed
	polledAt int64    // a poll gave nothing, and no event came since; -1: not so

	slice   Record // that was sent last
	refusal error  // of the records of the datagram that is received
	closes  *Record
	lied    bool
}

// New returns one end that begins now.
func New(cfg Config, now int64) *Connection {
	k := &Connection{
		cfg: cfg, state: StateOpen, now: now, opener: sessionoracle.NewReceiver(cfg.Open),
		packets:  packetoracle.New(packetoracle.Config{Limits: packetoracle.Limits{FragmentSize: 1024, MaxFragments: 16}, FragmentAbove: Payload, Profile: "default", Rings: packetoracle.Rings{Received: 2048}}),
		channels: newChannels(cfg.Channels), lanes: newLanes(&cfg), witness: newWitness(&cfg),
		heardAt: now, unackedAt: -1, sentAt: -1, messageAt: -YieldTime, confirmed: !cfg.Client, tickAt: now, budget: Burst * aByte, reports: Burst * aByte, refillAt: now, polledAt: -1,
	}
	k.format = Format{Lanes: cfg.Lanes, Repair: cfg.Repair, ECN: cfg.ECN, Clock: cfg.Clock, Find: k.find}
	if k.wornAt = never; cfg.Send.Mode != sessionoracle.CRC {
		k.wornAt = now + KeyTime
	}
	if cfg.ECN {
		k.marks = newMarks()
	}
	if cfg.Clock {
		k.clocks = &clocks{saidAt: -1, number: -1}
	}
	k.packets.Above = k.above
	return k
}

// find is what a decoder must know of a channel.
func (k *Connection) find(id int64) (channeloracle.Format, bool, bool) {
	c := k.channels.find(id)
	if c == nil {
		return channeloracle.Format{}, false, false
	}
	return c.Sender.Format, c.Unreliable, true
}

// State and Ended are what the application learns.
func (k *Connection) State() string { return k.state }
func (k *Connection) Ended() *Ended { return k.ended }

// begin begins an event, and refills the budget (CXM-4).
func (k *Connection) begin(now int64) {
	k.now = max(k.now, now)
	elapsed := min(k.now-k.refillAt, never/k.rate()/2) // by then it is full
	k.budget = min(k.budget+elapsed*k.rate(), Burst*aByte)
	k.reports = min(k.reports+elapsed*(k.rate()/4), Burst*aByte)
	k.refillAt, k.polledAt = k.now, -1
}

// rate is that of the present mode.
func (k *Connection) rate() int64 {
	if k.packets.Congestion().Good() {
		return k.cfg.MessageRate
	}
	return k.cfg.MessageRate / 4
}

// learn gives the channels the figures of the path (CXM-6).
func (k *Connection) learn() {
	e := k.packets.Estimates()
	k.lanes.heldUntil = k.witness.heldUntil
	k.channels.setPath(channeloracle.Path{Measured: e.Measured, SRTT: e.SRTT, Patience: e.Patience})
}

// Good reports whether the packet layer is in GOOD.
func (k *Connection) Good() bool { return k.packets.Congestion().Good() }

// ECT reports whether the datagram that was polled last is to be sent with ECT(0), and Told how
// many marks the schedulers were told of.
func (k *Connection) ECT() bool   { return k.marks != nil && k.marks.ect }
func (k *Connection) Told() int64 { return k.marks.told }

// Receive is the event datagram, which came with a value of the field ECN. refused is why the
// datagram, its packet or its records are.
func (k *Connection) Receive(now int64, datagram []byte, ecn string) (row string, refused error) {
	k.news = false
	k.begin(now)
	if k.state == StateClosed {
		return "K16", nil
	}
	_, body, err := k.opener.Open(datagram)
	if err != nil {
		return map[string]string{StateOpen: "K1", StateClosing: "K9"}[k.state], err
	}
	k.refusal, k.closes, k.lied = nil, nil, false
	if k.marks != nil {
		k.marks.came(ecn)
	}
	step := k.packets.Receive(k.now, body)
	if k.marks != nil {
		if told := k.marks.end(k.now, step.Acked); told > 0 {
			k.lanes.marked(told)
		}
	}
	k.witness.end(step.Acked, k.lanes.resting())
	k.learn()
	if k.news = len(step.Acked) > 0; k.news {
		k.unackedAt = -1
	}
	switch {
	case k.refusal != nil:
		refused = k.refusal
	case step.Refused != nil:
		refused = step.Refused
	}
	if k.lied {
		k.close(2, "", &Ended{Why: "lied"})
		return "K23", errLie
	}
	isClosed := k.closes != nil && step.Delivered != nil
	switch {
	case k.state == StateOpen && isClosed:
		k.hear()
		k.owed, k.code, k.text = true, 0, ""
		k.end(StateClosed, &Ended{Why: "closed", Code: k.closes.Code, Text: k.closes.Text, Remote: true})
		return "K2", refused
	case k.state == StateOpen:
		k.hear()
		return "K3", refused
	case isClosed:
		k.state = StateClosed
		return "K10", refused
	}
	k.again = true
	return "K11", refused
}

func (k *Connection) hear() { k.heardAt, k.confirmed = k.now, true }

// end ends OPEN.
func (k *Connection) end(state string, why *Ended) {
	k.state, k.ended, k.bodies = state, why, nil
}

// above takes a payload (CXM-7).
func (k *Connection) above(a packetoracle.Arrived) packetoracle.Verdict {
	records, err := Decode(k.format, a.Payload)
	if err != nil {
		k.refusal = err
		return packetoracle.Refuse
	}
	if a.Number < a.Next-256 && slices.ContainsFunc(records, ofReliable) {
		return packetoracle.Refuse // CXM-26
	}
	if k.state == StateOpen && k.witness.lies(k.packets, a, records) {
		k.lied = true
		return packetoracle.Refuse
	}
	if records[0].Type == Close {
		k.closes = &records[0]
	} else if k.state == StateOpen {
		k.apply(a, records)
	}
	if k.state != StateOpen || isQuiet(records) {
		return packetoracle.Quietly
	}
	return packetoracle.Take
}

// ofReliable reports whether a record is of a reliable channel.
func ofReliable(r Record) bool {
	return r.Type == "" && r.Channel.Type != channeloracle.Pad && r.Channel.Type != channeloracle.Unreliable
}

func (k *Connection) apply(a packetoracle.Arrived, records []Record) {
	if k.marks != nil {
		k.marks.newestOfAll = max(k.marks.newestOfAll, a.Number)
	}
	for _, r := range records {
		switch r.Type {
		case "":
			k.channels.apply(k.now, a.Number, a.Ack, r.Channel)
		case Clock:
			k.clocks.take(k.now, a.Number, r)
		case Slice:
			k.lanes.slice(k.now, r)
		case ChunkAck:
			r.Packet = k.witness.believe(a, r)
			k.lanes.ack(k.now, r)
		}
		if k.marks != nil && (r.Type == ChunkAck || r.Type == ECN) {
			k.marks.take(a.Number, r)
		}
	}
}

// Send, Read, SendChunk and ReadChunk are what the application does. refused is why not.
func (k *Connection) Send(now, id int64, message []byte, lifetime int64) (refused string) {
	if k.begin(now); k.state != StateOpen {
		return "ended"
	}
	return k.channels.send(k.now, id, message, lifetime)
}

// Tick ends a tick of the application (CXM-28).
func (k *Connection) Tick(now int64) {
	if k.begin(now); k.packets.Congestion().Good() {
		k.tickAt = min(k.tickAt, k.now)
	}
}

// Read gives one message, or nil.
func (k *Connection) Read(now, id int64) *Message {
	k.begin(now)
	return k.channels.read(k.now, id)
}

// SendChunk gives a chunk.
func (k *Connection) SendChunk(now int64, chunk []byte) (refused string) {
	k.begin(now)
	switch {
	case k.state != StateOpen:
		return "ended"
	case k.cfg.Lanes == 0:
		return "no_lanes"
	}
	return k.lanes.submit(k.now, chunk)
}

// ReadChunk gives the next chunk.
func (k *Connection) ReadChunk(now int64) (chunk []byte, ok bool) {
	k.begin(now)
	return k.lanes.read(k.now)
}

// Close is the event close, which the application may not do with each code and text (CXR-4).
func (k *Connection) Close(now, code int64, text string) (row, refused string) {
	switch {
	case code >= 1 && code <= 255:
		return "", "reserved"
	case len(text) > MostText:
		return "", "length"
	}
	k.begin(now)
	if k.state != StateOpen {
		return map[string]string{StateClosing: "K15", StateClosed: "K17"}[k.state], ""
	}
	k.close(code, text, &Ended{Why: "closed", Code: code, Text: text})
	return "K4", ""
}

// close is the action CLOSE.
func (k *Connection) close(code int64, text string, why *Ended) {
	k.closeAt, k.code, k.text = k.now, code, text
	k.end(StateClosing, why)
}

// closeTimes are when CLOSE is due (CXL-5).
func (k *Connection) closeTimes() (list []int64) {
	for _, n := range []int64{0, 1, 3, 7, 15, 31} {
		list = append(list, k.closeAt+n*CloseFirst)
	}
	return list
}

// nextClose is when the next CLOSE is due in CLOSING.
func (k *Connection) nextClose() int64 {
	at := int64(never)
	if k.said < 6 {
		at = k.closeTimes()[k.said]
	}
	if k.again {
		at = min(at, max(k.now, k.saidAt+CloseFirst))
	}
	return at
}

// say is SAY.
func (k *Connection) say() []byte {
	payload, err := Encode(k.format, []Record{{Type: Close, Code: k.code, Text: k.text}})
	if err != nil {
		panic(err)
	}
	k.bodies = k.packets.SendQuiet(k.now, payload).Datagrams
	k.again, k.owed, k.saidAt = false, false, k.now
	if k.state == StateClosing {
		for k.said = 0; k.said < 6 && k.closeTimes()[k.said] <= k.now; k.said++ {
		}
	}
	return k.seal()
}

// seal seals the next body that waits.
func (k *Connection) seal() []byte {
	body := k.bodies[0]
	k.bodies = k.bodies[1:]
	k.c++
	k.sentAt = k.now
	return k.cfg.Send.Seal(k.c-1, body)
}

// Poll is the event poll: the rows, and the datagram, nil if there is none.
func (k *Connection) Poll(now int64) (rows []string, datagram []byte) {
	k.begin(now)
	if k.marks != nil {
		k.marks.ect = false
	}
	for {
		row, b := k.poll()
		rows = append(rows, row)
		if b != nil {
			k.learn()
			return rows, b
		}
		if row == "K8" || row == "K14" || row == "K19" {
			k.learn()
			k.polledAt = k.now
			return rows, nil
		}
	}
}

func (k *Connection) poll() (row string, datagram []byte) {
	switch k.state {
	case StateOpen:
		return k.pollOpen()
	case StateClosing:
		switch {
		case k.now-k.closeAt >= CloseTime:
			k.state = StateClosed
			return "K12", nil
		case !k.moving && k.now >= k.nextClose():
			return "K13", k.say()
		}
		return "K14", nil
	}
	if k.owed {
		return "K18", k.say()
	}
	return "K19", nil
}

func (k *Connection) pollOpen() (row string, datagram []byte) {
	if k.now >= k.timesOutAt() {
		k.end(StateClosed, &Ended{Why: "timeout"})
		return "K5", nil
	}
	if k.moving {
		return "K8", nil
	}
	if k.now >= k.wornAt {
		k.close(3, "", &Ended{Why: "failed"})
		return "K6", nil
	}
	if !k.lanes.failed() && k.compose() {
		return "K7", k.seal()
	}
	if k.lanes.failed() {
		k.close(1, "", &Ended{Why: "failed"})
		return "K6", nil
	}
	return "K8", nil
}

// aliveAt is the time of alive (CXM-2).
func (k *Connection) aliveAt() int64 {
	switch {
	case k.sentAt < 0:
		return 0
	case !k.confirmed:
		return k.sentAt + LinkInterval
	}
	return k.sentAt + min(tenth*k.cfg.Timeout/8, 15_000_000)
}

// compose makes a packet, if one is due (CXM-1 to CXM-3). It reports whether a body waits to
// be sealed.
func (k *Connection) compose() bool {
	if len(k.bodies) > 0 {
		return true
	}
	if !k.ticking && k.channels.waits() && k.now >= k.tickAt && k.budget >= 0 {
		interval := k.cfg.Tick
		if !k.packets.Congestion().Good() {
			interval = max(interval, BadTick)
		}
		k.ticking, k.tickAt = true, k.now+interval
	}
	k.lanes.yield(k.now < k.messageAt+YieldTime)
	chunkAck, report := k.now >= k.lanes.ackAt(), k.reports >= 0 && k.now >= k.channels.reportAt()
	messages := k.budget >= 0 && (k.ticking || k.now >= k.channels.promptAt())
	slice, owed, alive := k.now >= k.lanes.sliceAt(), k.now >= k.packets.AckAt(), k.now >= k.aliveAt()

	w := &writing{left: Payload}
	ofReports, ofMessages, hasSlice := 0, 0, false
	others := chunkAck || report || messages || owed || alive
	if messages && k.channels.large != nil {
		k.channels.putLarge(w)
		ofMessages = len(w.payload)
	} else {
		if chunkAck {
			k.putAcks(w)
		}
		if report {
			before := len(w.payload)
			k.channels.putReports(k.now, w)
			ofReports = len(w.payload) - before
		}
		if others || slice {
			k.clocks.put(k.now, w)
		}
		before := len(w.payload)
		switch {
		case k.budget < 0:
		case others:
			k.channels.putMessages(k.now, k.packets.Next(), w)
		case slice:
			small := &writing{payload: w.payload, left: w.left - largestSlice}
			k.channels.putMessages(k.now, k.packets.Next(), small)
			w.payload, w.left, w.loud = small.payload, Payload-len(small.payload), small.loud
		}
		ofMessages = len(w.payload) - before
		if slice && w.left >= largestSlice {
			hasSlice = k.putSlice(w)
		}
	}
	if !k.channels.waits() {
		k.ticking = false
	}
	if len(w.payload) == 0 && alive {
		w.payload = []byte{0}
	}
	if len(w.payload) == 0 {
		k.bodies = k.packets.Poll(k.now).Datagrams
		return len(k.bodies) > 0
	}
	give := k.packets.SendQuiet
	if w.loud {
		give = k.packets.Send
	}
	number := k.packets.Next()
	if hasSlice && k.marks != nil {
		k.marks.slice(k.now, number)
	}
	k.bodies = give(k.now, w.payload).Datagrams
	if hasSlice {
		k.witness.sent(k.now, number, k.slice)
	}
	if hasSlice || ofMessages > 0 {
		if k.unackedAt < 0 {
			k.unackedAt = k.now
		}
		if k.witness.heavy(number) {
			k.packets.LeaveOut()
		}
	}
	k.payReports(len(w.payload), ofReports, ofMessages == 0 && !hasSlice)
	k.pay(len(w.payload), ofMessages, hasSlice)
	return true
}

// payReports charges the budget of reports for a packet (CXM-25).
func (k *Connection) payReports(payload, ofReports int, alone bool) {
	if ofReports == 0 {
		return
	}
	bytes := ofReports
	if alone {
		bytes += len(k.bodies[0]) - payload + k.overhead() + headers
	}
	k.reports -= int64(bytes) * aByte
}

// pay charges the budget for a packet (CXM-4).
func (k *Connection) pay(payload, ofMessages int, hasSlice bool) {
	if ofMessages == 0 {
		return
	}
	k.messageAt = k.now
	bytes := ofMessages
	if !hasSlice {
		bytes = ofMessages - payload
		for _, body := range k.bodies {
			bytes += len(body) + k.overhead() + headers
		}
	}
	k.budget -= int64(bytes) * aByte
}

// overhead is what the envelope adds.
func (k *Connection) overhead() int {
	return map[string]int{sessionoracle.CRC: 13, sessionoracle.MAC: 17, sessionoracle.AEAD: 25}[k.cfg.Send.Mode]
}

// putAcks appends the acks of chunks that are due, and what was counted of marks.
func (k *Connection) putAcks(w *writing) {
	hasAcks, tells := false, k.marks != nil && k.marks.arrived > 0
	for w.left >= largestAck+map[bool]int{true: sizeOfECN}[tells] {
		r, ok := k.lanes.pollAck(k.now)
		if !ok {
			break
		}
		k.put(w, r)
		hasAcks = true
	}
	if hasAcks && tells {
		k.put(w, k.marks.record())
	}
}

// putSlice appends a slice, if there is one.
func (k *Connection) putSlice(w *writing) bool {
	r, ok := k.lanes.pollSlice(k.now)
	if ok {
		k.slice = r
		k.put(w, r)
		w.loud = true
	}
	return ok
}

func (k *Connection) put(w *writing, r Record) {
	b, err := Encode(k.format, []Record{r})
	if err != nil {
		panic(err) // of a machine
	}
	w.payload, w.left = append(w.payload, b...), w.left-len(b)
}

// Deadline returns when the connection must be polled, or never (CXM-9).
func (k *Connection) Deadline() (at int64, ok bool) {
	switch k.state {
	case StateOpen:
		at = k.openDeadline()
	case StateClosing:
		if at = k.closeAt + CloseTime; !k.moving {
			at = min(at, k.nextClose())
		}
	default:
		if at = never; k.owed {
			at = k.now
		}
	}
	if k.polledAt >= 0 && at != never {
		at = max(at, k.polledAt+1)
	}
	return at, at != never
}

func (k *Connection) timesOutAt() int64 {
	since := k.heardAt
	if k.unackedAt >= 0 {
		since = min(since, k.unackedAt)
	}
	return since + tenth*k.cfg.Timeout
}

func (k *Connection) openDeadline() int64 {
	if k.moving {
		return k.timesOutAt()
	}
	if len(k.bodies) > 0 || k.lanes.failed() {
		return k.now
	}
	at := min(
		k.timesOutAt(), k.wornAt, k.aliveAt(), k.packets.Deadline(), k.packets.Congestion().Deadline(),
		k.lanes.ackAt(), k.lanes.sliceAt(),
	)
	if report := k.channels.reportAt(); report != never && k.reports < 0 {
		rate := k.rate() / 4
		at = min(at, max(report, k.now+(-k.reports+rate-1)/rate))
	} else {
		at = min(at, report)
	}
	allowed := k.now
	if k.budget < 0 {
		allowed += (-k.budget + k.rate() - 1) / k.rate()
	}
	due := k.channels.promptAt()
	if k.channels.waits() {
		due = min(due, k.tickAt)
	}
	if k.ticking {
		due = 0
	}
	if due == never {
		return at
	}
	return min(at, max(due, allowed))
}

// errLie is why a packet is refused that lies.
var errLie = errors.New("lie")

// RefusalOf returns the code and the place of a refusal of any layer.
func RefusalOf(err error) (code string, at int) {
	if err == errLie {
		return "lie", -1
	}
	var fault *layout.Fault
	if errors.As(err, &fault) {
		return fault.Code, fault.At
	}
	panic(err)
}
