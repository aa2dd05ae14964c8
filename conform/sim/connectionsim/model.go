package connectionsim

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// Figures of the specification (CXP-5).
const (
	payloadSize  = 1160
	besideSlice  = 128
	sliceSize    = 1032
	ackSize      = 38
	headers      = 28
	burst        = 16384
	badTick      = 100 * core.Millisecond
	linkInterval = 250 * core.Millisecond
	closeFirst   = 20 * core.Millisecond
	closeTime    = core.Second
	yieldTime    = core.Second
	aByte        = 8_000_000 // of the budget
)

// ConnModel is a connection: it does what sections 8 and 9 say. The layers below, which have
// models of their own, are machines of its own.
type ConnModel struct {
	cfg    protocol.Config
	link   *session.Link
	agreed session.Agreed

	packets *packet.Endpoint
	mux     *channel.Mux
	lanes   *lanes.Lanes // nil without lanes
	records protocol.Format
	marks   marksModel

	now        core.Micros
	state      string
	heardAt    core.Micros
	sentAt     core.Micros
	sent       bool
	confirmed  bool
	messagesAt core.Micros
	messaged   bool
	tickAt     core.Micros
	ticking    bool
	budget     int64
	bodies     [][]byte // fragments that wait to be sealed
	pollAt     core.Micros
	polled     bool // the latest event was a poll that gave nothing, at pollAt

	closeAt, saidAt core.Micros
	code            uint16
	text            string
	said            int
	again, owed     bool
	why             string
}

// modelPayload is a payload that is composed, and what in it counts.
type modelPayload struct {
	bytes    []byte
	messages int
	quiet    bool
	slice    bool
}

// NewConnModel returns the model of a new connection. The configuration must be complete.
func NewConnModel(cfg protocol.Config, link *session.Link, side Side, now core.Micros) (*ConnModel, error) {
	m := &ConnModel{
		cfg: cfg, link: link, agreed: link.Agreed(), now: now, state: "OPEN", heardAt: now, tickAt: now,
		confirmed: side == ServerSide, budget: burst * aByte, records: protocol.Format{Lanes: link.Agreed().Lanes, Repair: link.Agreed().Variant == session.VariantRepair},
	}
	m.marks = marksModel{is: m.agreed.Extensions&session.ExtensionECN != 0, acked: map[core.Number]bool{}}
	m.records.ECN = m.marks.is
	giveUp := min(2*m.agreed.Timeout, 3600*core.Second)
	var channels []channel.Config
	for _, c := range cfg.Channels {
		if c.GiveUp == 0 {
			c.GiveUp = giveUp
		}
		channels = append(channels, c)
	}
	var err1, err2, err3 error
	m.packets, err1 = packet.NewEndpoint(packet.Config{Format: cfg.Packets})
	m.mux, err2 = channel.NewMux(channel.MuxConfig{Channels: channels, MaxPacket: cfg.Packets.MaxPacket()})
	if m.agreed.Lanes > 0 {
		chunks := cfg.Chunks
		chunks.Lanes, chunks.Memory, chunks.Repair = m.agreed.Lanes, nil, m.records.Repair
		if chunks.GiveUp == 0 {
			chunks.GiveUp = giveUp
		}
		m.lanes, err3 = lanes.New(chunks)
	}
	return m, errors.Join(err1, err2, err3)
}

// rate is that of the budget (CXM-4).
func (m *ConnModel) rate() int64 {
	if m.packets.Mode() == packet.Bad {
		return m.cfg.MessageRate / 4
	}
	return m.cfg.MessageRate
}

// event begins an event.
func (m *ConnModel) event(now core.Micros) {
	elapsed := max(0, now-m.now)
	m.now += elapsed
	m.polled = false
	const full = burst * aByte
	if int64(elapsed) > (full-m.budget)/m.rate() {
		m.budget = full
	} else {
		m.budget += int64(elapsed) * m.rate()
	}
}

// learn ends an event (CXM-6).
func (m *ConnModel) learn() {
	for _, e := range m.packets.Events() {
		m.marks.event(e)
	}
	if marked := m.marks.judge(m.now); marked > 0 {
		m.lanes.Marked(m.now, marked)
	}
	var p channel.Path
	p.Measured, p.SRTT, p.Patience = m.packets.RoundTrip(m.now)
	m.mux.SetPath(p)
}

// Receive is the event of rows K1 to K3, K9 to K11 and K16.
func (m *ConnModel) Receive(now core.Micros, datagram []byte, ecn protocol.ECN) (row core.Row) {
	m.event(now)
	if m.state == "CLOSED" {
		return "K16"
	}
	body, err := m.link.Open(nil, datagram)
	if err != nil {
		return m.pick("K1", "K9", "")
	}
	m.marks.came = append(m.marks.came, ecn)
	var peer *protocol.Record // the CLOSE of a packet that is taken
	_ = m.packets.Receive(m.now, body, func(d packet.Delivery) packet.Verdict { return m.verdict(&d, &peer) })
	switch {
	case m.state == "CLOSING" && peer != nil:
		row, m.state = "K10", "CLOSED"
	case m.state == "CLOSING":
		row, m.again = "K11", true
	default:
		row, m.heardAt, m.confirmed = "K3", m.now, true
		if peer != nil {
			row, m.state, m.owed, m.bodies = "K2", "CLOSED", true, nil
			m.code, m.text, m.why = 0, "", fmt.Sprintf("closed by the peer: %d %q", peer.Code, peer.Text)
		}
	}
	m.learn()
	return row
}

// pick returns the row of OPEN, CLOSING or CLOSED.
func (m *ConnModel) pick(open, closing, closed core.Row) core.Row {
	return map[string]core.Row{"OPEN": open, "CLOSING": closing, "CLOSED": closed}[m.state]
}

// part is a record in a payload: one of a connection, or another.
type part struct {
	at     int
	own    bool
	record protocol.Record
}

// take takes a payload apart (CXR-5), and says whether all of it is quiet (CXR-6).
func (m *ConnModel) take(payload []byte) (parts []part, quiet bool, err error) {
	quiet = true
	for at := 0; at == 0 || at < len(payload); {
		p := part{at: at, own: m.records.IsRecord(payload, at)}
		isQuiet := true
		if p.own {
			at, err = m.records.Decode(payload, at, &p.record)
			isQuiet = p.record.Type != protocol.TypeSlice
		} else {
			at, isQuiet, err = m.mux.Check(payload, at)
		}
		if err != nil {
			return nil, false, err
		}
		quiet = quiet && isQuiet
		parts = append(parts, p)
	}
	return parts, quiet, nil
}

// verdict is CXM-7.
func (m *ConnModel) verdict(d *packet.Delivery, peer **protocol.Record) packet.Verdict {
	parts, quiet, err := m.take(d.Payload)
	switch {
	case err != nil:
		return packet.Refuse
	case parts[0].own && parts[0].record.Type == protocol.TypeClose:
		*peer = &parts[0].record
	case m.state == "OPEN":
		for i := range parts {
			m.give(&parts[i], d)
		}
	}
	if quiet || m.state == "CLOSING" {
		return packet.TakeQuietly
	}
	return packet.Take
}

func (m *ConnModel) give(p *part, d *packet.Delivery) {
	switch r := &p.record; {
	case !p.own:
		m.mux.Apply(m.now, d.Number, d.Ack, d.Payload, p.at)
	case r.Type == protocol.TypeSlice:
		m.lanes.HandleSlice(m.now, r.Lane, r.Slice)
	case r.Type == protocol.TypeChunkAck:
		m.lanes.HandleAck(m.now, r.Lane, r.Ack)
		m.marks.hear(d.Number, r)
	default:
		m.marks.hear(d.Number, r)
	}
}

// closes is how many of the times of CXL-5 have come.
func (m *ConnModel) closes() (n int) {
	for _, k := range []core.Micros{0, 1, 3, 7, 15, 31} {
		if m.now >= m.closeAt+k*closeFirst {
			n++
		}
	}
	return n
}

func (m *ConnModel) failed() bool {
	return m.mux.Err() != nil || m.lanes != nil && m.lanes.Err() != nil
}

// Poll is the event of rows K5 to K8, K12 to K14, K18 and K19: until a datagram comes, or there
// is nothing left to do.
func (m *ConnModel) Poll(now core.Micros) (row core.Row, datagram []byte) {
	m.event(now)
	m.marks.ect = false
	for again := true; again; {
		row, datagram, again = m.pollOnce()
	}
	m.learn()
	m.polled, m.pollAt = datagram == nil, m.now
	return row, datagram
}

func (m *ConnModel) pollOnce() (row core.Row, datagram []byte, again bool) {
	switch {
	case m.state == "OPEN" && m.now-m.heardAt >= m.agreed.Timeout:
		m.state, m.why = "CLOSED", "timed out"
		return "K5", nil, true
	case m.state == "OPEN":
		return m.pollOpen()
	case m.state == "CLOSING" && m.now-m.closeAt >= closeTime:
		m.state = "CLOSED"
		return "K12", nil, true
	case m.state == "CLOSING" && (m.closes() > m.said || m.again && m.now-m.saidAt >= closeFirst):
		return "K13", m.say(), false
	case m.state == "CLOSED" && m.owed:
		return "K18", m.say(), false
	}
	return m.pick("", "K14", "K19"), nil, false
}

func (m *ConnModel) pollOpen() (row core.Row, datagram []byte, again bool) {
	if !m.failed() {
		if datagram = m.packet(); datagram != nil {
			return "K7", datagram, false
		}
	}
	if m.failed() {
		m.close(1, "", "failed")
		return "K6", nil, true
	}
	return "K8", nil, false
}

// say is SAY.
func (m *ConnModel) say() []byte {
	payload, err := m.records.Append(nil, &protocol.Record{Type: protocol.TypeClose, Code: m.code, Text: []byte(m.text)})
	if err != nil {
		panic(err)
	}
	m.said, m.saidAt, m.again, m.owed = m.closes(), m.now, false, false
	bodies, _, err := m.packets.SendQuiet(m.now, payload)
	if err != nil {
		panic(err)
	}
	m.bodies = bodies
	return m.seal()
}

// seal seals the next body that waits (CXL-8).
func (m *ConnModel) seal() []byte {
	body := m.bodies[0]
	m.bodies = m.bodies[1:]
	m.sent, m.sentAt = true, m.now
	return m.link.Seal(nil, body)
}

// aliveAt is the time of alive (CXM-9).
func (m *ConnModel) aliveAt() core.Micros {
	switch {
	case !m.sent:
		return 0
	case !m.confirmed:
		return m.sentAt + linkInterval
	}
	return m.sentAt + m.agreed.Timeout/8
}

// packet is a datagram of a packet that is due (CXM-1, CXM-2); nil: none is.
func (m *ConnModel) packet() []byte {
	if len(m.bodies) > 0 {
		return m.seal()
	}
	p := m.compose()
	if len(p.bytes) == 0 {
		body, ok := m.packets.Poll(m.now)
		if !ok {
			return nil
		}
		m.bodies = [][]byte{append([]byte(nil), body...)}
		return m.seal()
	}
	send := m.packets.Send
	if p.quiet {
		send = m.packets.SendQuiet
	}
	bodies, number, err := send(m.now, p.bytes)
	if err != nil {
		panic(err)
	}
	if p.slice {
		m.marks.slice(m.now, number)
	}
	m.bodies = nil
	for _, b := range bodies {
		m.bodies = append(m.bodies, append([]byte(nil), b...))
	}
	m.charge(p)
	return m.seal()
}

// charge is CXM-4 and CXM-5.
func (m *ConnModel) charge(p *modelPayload) {
	size := 0
	for _, b := range m.bodies {
		size += len(b) + m.link.Overhead() + headers
	}
	switch {
	case p.slice:
		m.lanes.Spend(m.now, size-p.messages)
		m.budget -= int64(p.messages) * aByte
	case p.messages > 0:
		m.budget -= int64(size-(len(p.bytes)-p.messages)) * aByte
	}
}

// compose composes a payload (CXM-1, CXM-2, CXM-3).
func (m *ConnModel) compose() *modelPayload {
	p := &modelPayload{quiet: true}
	if m.lanes != nil {
		m.lanes.Yield(m.messaged && m.now-m.messagesAt < yieldTime)
	}
	chunkAck := m.lanes != nil && m.lanes.AckDeadline() <= m.now
	slice := m.lanes != nil && m.lanes.SliceDeadline() <= m.now
	report, owed, alive := m.mux.ReportPrompt() <= m.now, m.packets.AckDeadline() <= m.now, m.aliveAt() <= m.now
	messages := false
	if m.budget >= 0 {
		m.tick()
		messages = m.ticking || m.mux.DataPrompt() <= m.now
	}
	if messages && m.mux.Alone() {
		m.messages(p, payloadSize)
	} else {
		m.fill(p, chunkAck, report, slice, chunkAck || report || owed || alive || messages)
	}
	if !m.mux.Pending() || messages && len(p.bytes) == 0 {
		m.ticking = false
	}
	if len(p.bytes) == 0 && alive {
		p.bytes = []byte{0}
	}
	return p
}

// tick is CXM-3.
func (m *ConnModel) tick() {
	if m.ticking || !m.mux.Pending() || m.now < m.tickAt {
		return
	}
	m.ticking, m.tickAt = true, m.now+m.cfg.Tick
	if m.packets.Mode() == packet.Bad {
		m.tickAt = m.now + max(m.cfg.Tick, badTick)
	}
}

// fill is steps 3 to 6 of CXM-1.
func (m *ConnModel) fill(p *modelPayload, chunkAck, report, slice, others bool) {
	put := func(r *protocol.Record) {
		var err error
		if p.bytes, err = m.records.Append(p.bytes, r); err != nil {
			panic(err)
		}
	}
	here, some := m.marks.here()
	some = some && m.marks.is
	left := payloadSize
	if some {
		left -= ecnSize
	}
	for chunkAck && left-len(p.bytes) >= ackSize {
		k, a, ok := m.lanes.PollAck(m.now)
		if !ok {
			break
		}
		put(&protocol.Record{Type: protocol.TypeChunkAck, Lane: k, Ack: a})
	}
	if some && len(p.bytes) > 0 {
		put(&protocol.Record{Type: protocol.TypeECN, Marks: here})
	}
	if report {
		p.bytes = m.mux.ComposeReports(p.bytes, m.now, payloadSize-len(p.bytes))
	}
	if m.budget >= 0 && others {
		m.messages(p, payloadSize-len(p.bytes))
	} else if m.budget >= 0 && slice {
		m.messages(p, besideSlice)
	}
	if slice && payloadSize-len(p.bytes) >= sliceSize {
		if k, s, ok := m.lanes.PollSlice(m.now); ok {
			put(&protocol.Record{Type: protocol.TypeSlice, Lane: k, Slice: s})
			p.slice, p.quiet = true, false
		}
	}
}

// messages is what the channels have.
func (m *ConnModel) messages(p *modelPayload, space int) {
	before := len(p.bytes)
	out, quiet := m.mux.Compose(p.bytes, m.now, m.packets.Next(), space)
	p.bytes, p.quiet, p.messages = out, p.quiet && quiet, len(out)-before
	if p.messages > 0 {
		m.messaged, m.messagesAt = true, m.now
	}
}

// Close is the event of rows K4, K15 and K17.
func (m *ConnModel) Close(now core.Micros, code uint16, text string) core.Row {
	m.event(now)
	row := m.pick("K4", "K15", "K17")
	if m.state == "OPEN" {
		m.close(code, text, fmt.Sprintf("closed here: %d %q", code, text))
	}
	return row
}

// close is CLOSE.
func (m *ConnModel) close(code uint16, text, why string) {
	m.state, m.why, m.closeAt, m.code, m.text = "CLOSING", why, m.now, code, text
	m.bodies = nil
}

// Deadline is CXM-9.
func (m *ConnModel) Deadline() core.Micros {
	at := core.Never
	switch m.state {
	case "OPEN":
		at = m.deadlineOpen()
	case "CLOSING":
		at = m.closeAt + closeTime
		if m.again {
			at = min(at, m.saidAt+closeFirst)
		}
		if times := []core.Micros{0, 1, 3, 7, 15, 31}; m.said < len(times) {
			at = min(at, m.closeAt+times[m.said]*closeFirst)
		}
	case "CLOSED":
		if m.owed {
			at = m.now
		}
	}
	if m.polled {
		at = max(at, m.pollAt+1)
	}
	return at
}

func (m *ConnModel) deadlineOpen() core.Micros {
	if len(m.bodies) > 0 || m.failed() {
		return m.now
	}
	at := min(m.heardAt+m.agreed.Timeout, m.aliveAt(), m.packets.Deadline(), m.mux.ReportPrompt())
	if m.lanes != nil {
		at = min(at, m.lanes.Deadline())
	}
	messages := m.mux.DataPrompt()
	if m.mux.Pending() {
		messages = min(messages, m.tickAt)
	}
	if m.ticking {
		messages = 0
	}
	if m.budget < 0 && messages != core.Never {
		messages = max(messages, m.now+core.Micros((-m.budget+m.rate()-1)/m.rate()))
	}
	return min(at, messages)
}
