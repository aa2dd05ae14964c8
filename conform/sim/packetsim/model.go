package packetsim

import (
	"maps"
	"slices"

	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// Model is an endpoint: it does what sections 3 to 10 say, and remembers everything.
type Model struct {
	cfg protocol.Config
	now core.Micros

	// PKR-6
	next           core.Number
	received, dead map[core.Number]bool
	parts          map[core.Number]*modelPart
	unreported     int
	ackAt          core.Micros

	// Section 7
	nextToSend  core.Number
	sent        map[core.Number]*modelSent // in every state, FORGOTTEN among them
	newestAcked core.Number
	newestLost  core.Number
	events      []protocol.Event

	path       modelPath
	congestion *CongestionModel
	refused    map[core.Code]int64
}

// modelPart is a packet in reassembly.
type modelPart struct {
	count  int
	begun  core.Micros
	header protocol.Header
	data   map[int][]byte // by fragment id
}

func (p *modelPart) bytes() (n int) {
	for _, d := range p.data {
		n += len(d)
	}
	return n
}

// modelSent is a sent number.
type modelSent struct {
	state string
	at    core.Micros
	bytes int
}

// NewModel returns the model of a new endpoint. Of the configuration no field may be 0 but
// the numbers and the profile.
func NewModel(cfg protocol.Config) *Model {
	return &Model{
		cfg: cfg, next: cfg.NextToReceive, nextToSend: cfg.NextToSend,
		received: map[core.Number]bool{}, dead: map[core.Number]bool{}, parts: map[core.Number]*modelPart{},
		ackAt: core.Never, sent: map[core.Number]*modelSent{}, newestAcked: -1, newestLost: -1,
		congestion: NewCongestionModel(cfg.Profile), refused: map[core.Code]int64{},
	}
}

// space is how many numbers the wire distinguishes.
func (m *Model) space() core.Number { return 1 << m.cfg.SequenceBits }

// modulo is never negative.
func modulo(a, n core.Number) core.Number { return (a%n + n) % n }

// event begins an event (PKN-3, PKX-2 step 5).
func (m *Model) event(now core.Micros) {
	m.now = max(m.now, now)
	for n, p := range m.parts {
		if m.now-p.begun >= protocol.ReassemblyTime {
			delete(m.parts, n)
			m.dead[n] = true
		}
	}
}

// grow lets next grow (PKR-3).
func (m *Model) grow(next core.Number) {
	m.next = max(m.next, next)
	outside := func(n core.Number, _ bool) bool { return n < m.next-core.Number(m.cfg.Received) }
	maps.DeleteFunc(m.received, outside)
	maps.DeleteFunc(m.dead, outside)
	maps.DeleteFunc(m.parts, func(n core.Number, _ *modelPart) bool { return n < m.next-core.Number(m.cfg.Reassembly) })
}

// Refusal is why a datagram is refused: the row or the sentence, the code and the place.
type Refusal struct {
	Rule  string
	Code  core.Code
	Place int
}

// Receive is the event of section 5.2. It returns the payload that was offered to the layer
// above, if any, and why the datagram is refused.
func (m *Model) Receive(now core.Micros, datagram []byte, verdict func(protocol.Delivery) protocol.Verdict) Refusal {
	m.event(now)
	refusal := m.receive(datagram, verdict)
	if refusal.Code != "" {
		m.refused[refusal.Code]++
	}
	return refusal
}

func (m *Model) receive(datagram []byte, verdict func(protocol.Delivery) protocol.Verdict) Refusal {
	nowhere := func(row string, code core.Code) Refusal { return Refusal{row, code, core.NoPlace} }
	p, err := m.cfg.Format.Decode(datagram)
	if err != nil {
		e := err.(*protocol.Error)
		return Refusal{e.Rule(), e.Code(), e.Place()}
	}
	low := m.next - core.Number(m.cfg.Received)
	d := modulo(core.Number(p.Sequence)-low, m.space()) // PKS-2
	n := low + d
	switch {
	case d >= m.space()/2 || n < 0:
		return nowhere("P2", protocol.CodeStale)
	case m.received[n]:
		return nowhere("P3", protocol.CodeDuplicate)
	case m.dead[n]:
		return nowhere("P4", protocol.CodeDead)
	}
	if p.NumFragments > 0 {
		return m.fragment(n, &p, len(datagram), verdict)
	}
	says := m.offer(n, p.Header, p.Data, verdict)
	if says == protocol.Refuse {
		return nowhere("P5", protocol.CodeRefused)
	}
	delete(m.parts, n)
	m.take(n, p.Header, says == protocol.TakeQuietly || isPad(p.Data), len(datagram))
	return Refusal{}
}

func isPad(payload []byte) bool { return string(payload) == "\x00" }

func (m *Model) fragment(n core.Number, p *protocol.Packet, size int, verdict func(protocol.Delivery) protocol.Verdict) Refusal {
	nowhere := func(row string, code core.Code) Refusal { return Refusal{row, code, core.NoPlace} }
	if n < m.next-core.Number(m.cfg.Reassembly) {
		return nowhere("P7", protocol.CodeStale)
	}
	begun := m.parts[n]
	if begun != nil && begun.count != p.NumFragments {
		return nowhere("P8", protocol.CodeFragmentCount)
	}
	if begun != nil && begun.data[p.FragmentID] != nil {
		return nowhere("P9", protocol.CodeFragmentDuplicate)
	}
	if begun == nil || len(begun.data) < p.NumFragments-1 {
		// PKX-3: would it fit without all that are older?
		if !m.fits(n, len(p.Data), func(other core.Number) bool { return other >= n }) {
			return nowhere("P10", protocol.CodeReassemblyFull)
		}
		m.store(n, p)
		m.path.received = append(m.path.received, counted{m.now, size})
		return Refusal{}
	}
	whole := &modelPart{count: begun.count, header: begun.header, data: maps.Clone(begun.data)}
	whole.add(p)
	var payload []byte
	for id := range whole.count {
		payload = append(payload, whole.data[id]...)
	}
	says := m.offer(n, whole.header, payload, verdict)
	delete(m.parts, n)
	if says == protocol.Refuse {
		return nowhere("P12", protocol.CodeRefused)
	}
	m.take(n, whole.header, says == protocol.TakeQuietly || isPad(payload), size)
	return Refusal{}
}

func (p *modelPart) add(f *protocol.Packet) {
	p.data[f.FragmentID] = slices.Clone(f.Data)
	if f.FragmentID == 0 {
		p.header = f.Header
	}
}

// fits reports whether a fragment of packet n fits beside those packets that remain.
func (m *Model) fits(n core.Number, size int, remains func(core.Number) bool) bool {
	packets, bytes := map[core.Number]bool{n: true}, size
	for other, p := range m.parts {
		if remains(other) {
			packets[other] = true
			bytes += p.bytes()
		}
	}
	return len(packets) <= m.cfg.ReassemblyPackets && bytes <= m.cfg.ReassemblyBytes
}

// store is STORE (PKR-2).
func (m *Model) store(n core.Number, p *protocol.Packet) {
	for !m.fits(n, len(p.Data), func(core.Number) bool { return true }) {
		oldest := slices.Min(slices.Collect(maps.Keys(m.parts)))
		delete(m.parts, oldest)
		m.dead[oldest] = true
	}
	if m.parts[n] == nil {
		m.parts[n] = &modelPart{count: p.NumFragments, begun: m.now, data: map[int][]byte{}}
	}
	m.grow(n + 1)
	m.parts[n].add(p)
}

func (m *Model) offer(n core.Number, h protocol.Header, payload []byte, verdict func(protocol.Delivery) protocol.Verdict) protocol.Verdict {
	return verdict(protocol.Delivery{Number: n, Ack: max(m.means(core.Number(h.Ack)), -1), Payload: payload})
}

// means returns the sent number that a wire number means, which may be negative (PKS-3).
func (m *Model) means(a core.Number) core.Number {
	return m.nextToSend - 1 - modulo(m.nextToSend-1-a, m.space())
}

// take is TAKE (PKR-1).
func (m *Model) take(n core.Number, h protocol.Header, quiet bool, size int) {
	m.grow(n + 1)
	m.received[n] = true
	m.path.received = append(m.path.received, counted{m.now, size})
	m.acks(h)
	if quiet {
		return
	}
	if m.unreported++; m.unreported >= protocol.AckEvery {
		m.ackAt = m.now
	} else {
		m.ackAt = min(m.ackAt, m.now+protocol.AckDelay)
	}
}

// acks is PKA-2.
func (m *Model) acks(h protocol.Header) {
	before, samples := m.newestAcked, len(m.path.samples)
	for i := range core.Number(32) {
		n := m.means(core.Number(h.Ack) - i)
		s := m.sent[n]
		if h.AckBits>>i&1 == 0 || s == nil || s.state == "ACKED" || s.state == "FORGOTTEN" {
			continue
		}
		latency := min(m.now-s.at, 1<<40)
		if s.state != "QUIET" { // L1, L3
			m.path.latencies = append(m.path.latencies, latency)
			if i == 0 {
				m.path.samples = append(m.path.samples, sampled{m.now, latency})
			}
			if before >= n+2 {
				m.path.overtook(m.now, latency)
			}
		}
		if s.state == "SENT" {
			m.path.settled = append(m.path.settled, settled{m.now, false})
		}
		s.state = "ACKED"
		m.newestAcked = max(m.newestAcked, n)
		m.path.acked = append(m.path.acked, counted{m.now, s.bytes})
		m.events = append(m.events, protocol.Event{Number: n, Kind: protocol.EventAcked})
	}
	if len(m.path.samples) > samples {
		m.evaluate()
	}
}

// lose is what L2 and L4 do but the state.
func (m *Model) lose(n core.Number) {
	m.path.settled = append(m.path.settled, settled{m.now, true})
	m.newestLost = max(m.newestLost, n)
	m.events = append(m.events, protocol.Event{Number: n, Kind: protocol.EventLost})
}

// Send is PKA-4. It returns no datagrams for a payload that is refused.
func (m *Model) Send(now core.Micros, payload []byte, quiet bool) (datagrams [][]byte) {
	m.event(now)
	if len(payload) < 1 || len(payload) > m.cfg.MaxPacket() {
		return nil
	}
	h := protocol.Header{
		Sequence: uint16(modulo(m.nextToSend, m.space())),
		Ack:      uint16(modulo(m.next-1, m.space())),
	}
	for i := range core.Number(32) {
		if m.received[m.next-1-i] {
			h.AckBits |= 1 << i
		}
	}
	datagrams = m.cut(h, payload)
	size := 0
	for _, d := range datagrams {
		size += len(d)
	}
	m.path.sent = append(m.path.sent, counted{m.now, size})
	if out := m.sent[m.nextToSend-core.Number(m.cfg.SentMax)]; out != nil {
		if out.state == "SENT" {
			m.lose(m.nextToSend - core.Number(m.cfg.SentMax))
		}
		out.state = "FORGOTTEN"
	}
	state := "SENT"
	if quiet || isPad(payload) {
		state = "QUIET"
	} else {
		m.congestion.Sent(m.now)
	}
	m.sent[m.nextToSend] = &modelSent{state, m.now, size}
	m.nextToSend++
	m.unreported, m.ackAt = 0, core.Never
	return datagrams
}

// cut is PKF-1 and PKF-2.
func (m *Model) cut(h protocol.Header, payload []byte) (datagrams [][]byte) {
	if len(payload) <= m.cfg.FragmentAbove {
		return [][]byte{mustAppend(m.cfg.Format, protocol.Packet{Header: h, Data: payload})}
	}
	n := (len(payload) + m.cfg.FragmentSize - 1) / m.cfg.FragmentSize
	for i := range n {
		data := payload[m.cfg.FragmentSize*i:]
		p := protocol.Packet{Header: h, FragmentID: i, NumFragments: n, Data: data[:min(len(data), m.cfg.FragmentSize)]}
		datagrams = append(datagrams, mustAppend(m.cfg.Format, p))
	}
	return datagrams
}

func mustAppend(f protocol.Format, p protocol.Packet) []byte {
	b, err := f.Append(nil, &p)
	if err != nil {
		panic(err)
	}
	return b
}

// Poll is PKI-2. It returns the ack-only packet that is due, or nil.
func (m *Model) Poll(now core.Micros) []byte {
	m.event(now)
	for n := m.cfg.NextToSend; n < m.nextToSend; n++ {
		s := m.sent[n]
		if s.state == "SENT" && m.now-s.at >= protocol.LostAfter {
			s.state = "LOST"
			m.lose(n)
		}
	}
	for _, s := range m.sent {
		if m.now-s.at >= protocol.Kept {
			s.state = "FORGOTTEN"
		}
	}
	m.evaluate()
	if m.now < m.ackAt {
		return nil
	}
	return m.Send(now, []byte{0}, true)[0]
}

// Deadline is PKI-4, and that of the congestion machine (PKC-8).
func (m *Model) Deadline() core.Micros {
	at := min(m.ackAt, m.congestion.Deadline())
	for _, s := range m.sent {
		if s.state == "SENT" {
			at = min(at, s.at+protocol.LostAfter)
		}
		if s.state != "FORGOTTEN" {
			at = min(at, s.at+protocol.Kept)
		}
	}
	for _, p := range m.parts {
		at = min(at, p.begun+protocol.ReassemblyTime)
	}
	return at
}

func (m *Model) evaluate() {
	m.congestion.Evaluate(m.now, protocol.Conditions{
		Measured: len(m.path.samples) > 0, SRTT: m.path.srtt(), MinRTT: m.path.minRTT(), Silent: m.newestLost > m.newestAcked,
	})
}

// Events returns the events since the last call.
func (m *Model) Events() []protocol.Event {
	events := m.events
	m.events = nil
	return events
}
