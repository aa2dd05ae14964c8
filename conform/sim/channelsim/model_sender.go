package channelsim

import (
	"slices"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
)

// Figures of the specification (CHP-1).
const (
	reportDelay = 20 * core.Millisecond
	soon        = 5 * core.Millisecond
	overtaken   = 2
	mostGroups  = 32
	mostSkipped = 256
	backoffMost = 16

	messageHead, fragmentHead, skipSize, reportHead, groupSize, statusSize = 6, 8, 5, 7, 6, 4
)

// SenderModel is the sender of a reliable channel: it does what section 4 says, and
// remembers everything.
type SenderModel struct {
	cfg     protocol.Config
	now     core.Micros
	failed  bool
	entries map[core.Number]*modelEntry // all that there ever were

	base, sent, next, limit core.Number
	heard                   core.Number // the packet of the newest report that counted
	saidAt, heardAt         core.Micros
	backoff                 int
	path                    protocol.Path
	fresh                   map[core.Number]int // by packet: how many sequences it was the first to carry
	implausible             int64
}

// modelEntry is a sequence of the sender.
type modelEntry struct {
	data         []byte
	index, count int         // of a fragment; of a message count is 1
	sent         int         // how often
	packet       core.Number // of the latest transmission
	at           core.Micros
	due, gone    bool
	diesAt       core.Micros
}

// NewSenderModel returns the model of a new sender. Of the configuration no field may be 0
// but the numbers and the kind.
func NewSenderModel(cfg protocol.Config) *SenderModel {
	return &SenderModel{
		cfg: cfg, entries: map[core.Number]*modelEntry{}, fresh: map[core.Number]int{},
		base: cfg.First, sent: cfg.First, next: cfg.First, limit: cfg.First + core.Number(cfg.Window), heard: core.NoNumber,
	}
}

// event begins an event (CHN-3, EXPIRE).
func (m *SenderModel) event(now core.Micros) {
	m.now = max(m.now, now)
	for n := m.base; n < m.next; n++ {
		if e := m.entries[n]; e.diesAt <= m.now {
			e.gone = true
		}
	}
}

// Send is the event of rows D1 to D3 and D11. It returns the code of a refusal.
func (m *SenderModel) Send(now core.Micros, message []byte, lifetime core.Micros) (row core.Row, refused core.Code) {
	m.event(now)
	count := (len(message) + m.cfg.Data - 1) / m.cfg.Data
	switch {
	case m.failed:
		return "D11", "failed"
	case count < 1 || count > min(m.cfg.Group, m.cfg.Window):
		return "D1", "message_size"
	case int(m.next-m.base)+count > m.cfg.SendQueue:
		return "D2", "queue_full"
	}
	if m.next == m.base {
		m.heardAt, m.saidAt = m.now, m.now
	}
	diesAt := core.Never
	if lifetime > 0 {
		diesAt = m.now + lifetime
	}
	for i := range count {
		data := message[i*m.cfg.Data:]
		data = slices.Clone(data[:min(len(data), m.cfg.Data)])
		m.entries[m.next] = &modelEntry{data: data, index: i, count: count, due: true, diesAt: diesAt}
		m.next++
	}
	return "D3", ""
}

// Report is the event of rows D4 to D6 and D12.
func (m *SenderModel) Report(now core.Micros, number, ack core.Number, r *protocol.Record) (row core.Row) {
	m.event(now)
	base := m.base + modulo(core.Number(r.Sequence)-m.base, m.cfg.SequenceBits) // CHN-5
	var named []core.Number
	for _, bits := range named16(r) {
		named = append(named, base+modulo(core.Number(bits)-base, m.cfg.SequenceBits))
	}
	neverSent := func(n core.Number) bool { return n >= m.sent }
	switch {
	case m.failed:
		return "D12"
	case number <= m.heard:
		return "D4"
	case base > m.sent || slices.ContainsFunc(named, neverSent):
		m.implausible++
		return "D5"
	}
	limit := max(m.limit, base+core.Number(r.Room))
	if base > m.base || limit > m.limit || len(named) > 0 {
		m.backoff = 0
	}
	m.base, m.limit, m.heard, m.heardAt = base, limit, number, m.now
	for _, n := range named {
		e := m.entries[n]
		by, age := core.Number(overtaken), m.now-e.at
		if e.sent > 1 {
			by = 1
		}
		if age >= max(m.path.Patience, m.path.SRTT/2) && (ack-e.packet >= by || age >= m.hold()) {
			e.due = true
		}
	}
	return "D6"
}

// named16 returns the sequences that a report names, as they are on the wire.
func named16(r *protocol.Record) (list []uint16) {
	for _, g := range r.Groups {
		list = append(list, g.Start)
		for i := range uint16(32) {
			if g.Bits>>i&1 == 1 {
				list = append(list, g.Start-1-i)
			}
		}
	}
	return list
}

// modulo returns what the wire has of a number.
func modulo(n core.Number, space core.Space) core.Number {
	size := core.Number(1) << space
	return (n%size + size) % size
}

// hold is HOLD.
func (m *SenderModel) hold() core.Micros {
	if !m.path.Measured {
		return 250 * core.Millisecond
	}
	return m.path.SRTT + max(m.path.SRTT/4, 10*core.Millisecond)
}

// early reports whether the next probe is early.
func (m *SenderModel) early() bool {
	again := false
	for n := m.base; n < m.sent; n++ {
		again = again || m.entries[n].sent > 1
	}
	return again && m.backoff == 0
}

// probeAt is the probe time, if no entry is due.
func (m *SenderModel) probeAt() core.Micros {
	const margin, probeSoon, least = 20 * core.Millisecond, 20 * core.Millisecond, 250 * core.Millisecond
	switch {
	case m.early():
		return m.saidAt + probeSoon
	case !m.path.Measured:
		return m.saidAt + least
	}
	return m.saidAt + min((m.hold()+margin)<<(max(m.backoff, 1)-1), max(2*m.path.SRTT, least))
}

// Poll is the event of rows D7 to D10 and D13: one record for the packet with a number, in
// which space is left.
func (m *SenderModel) Poll(now core.Micros, number core.Number, space int) (row core.Row, r protocol.Record, ok bool) {
	m.event(now)
	n, isDue := m.lowestDue()
	switch {
	case m.failed:
		return "D13", r, false
	case m.base < m.next && m.now-m.heardAt >= m.cfg.GiveUp:
		m.failed = true
		return "D7", r, false
	case isDue:
		if r, ok = m.send(n, number, space); ok {
			return "D8", r, true
		}
	case m.base < m.next && m.now >= m.probeAt() && space >= statusSize:
		m.probe(space - statusSize)
		return "D9", protocol.Record{Type: protocol.TypeStatus, Channel: m.cfg.ID, Sequence: m.wire(m.sent)}, true
	}
	return "D10", r, false
}

func (m *SenderModel) wire(n core.Number) uint16 { return uint16(modulo(n, m.cfg.SequenceBits)) }

// lowestDue returns the lowest sequence below limit that is due.
func (m *SenderModel) lowestDue() (core.Number, bool) {
	for n := m.base; n < min(m.next, m.limit); n++ {
		if m.entries[n].due {
			return n, true
		}
	}
	return 0, false
}

// send is SEND, if the record of n fits.
func (m *SenderModel) send(n, number core.Number, space int) (r protocol.Record, fits bool) {
	end := n + 1
	for m.entries[n].gone && end < min(m.next, m.limit, n+mostSkipped) && m.entries[end].gone && m.entries[end].due {
		end++
	}
	end = min(end, m.sent+core.Number(m.cfg.Fresh-m.fresh[number])) // CHN-6
	if end <= n || m.size(n) > space {
		return r, false
	}
	r = m.record(n, int(end-n))
	for ; n < end; n++ {
		e := m.entries[n]
		e.packet, e.at, e.due = number, m.now, false
		e.sent++
		if n >= m.sent {
			m.fresh[number]++
			m.sent = n + 1
		}
	}
	m.saidAt = m.now
	return r, true
}

// size is how long the record of n is.
func (m *SenderModel) size(n core.Number) int {
	switch e := m.entries[n]; {
	case e.gone:
		return skipSize
	case e.count == 1:
		return messageHead + len(e.data)
	default:
		return fragmentHead + len(e.data)
	}
}

// record returns the record of n. One that is gone is skipped with those behind it.
func (m *SenderModel) record(n core.Number, skipped int) protocol.Record {
	e := m.entries[n]
	r := protocol.Record{Type: protocol.TypeMessage, Channel: m.cfg.ID, Sequence: m.wire(n), Data: e.data}
	switch {
	case e.gone:
		r.Type, r.Count, r.Data = protocol.TypeSkip, skipped, nil
	case e.count > 1:
		r.Type, r.Index, r.Count = protocol.TypeFragment, e.index, e.count
	}
	return r
}

// probe is PROBE: what fits into the space behind the status becomes due, unless it is early.
func (m *SenderModel) probe(space int) {
	inSkip := 0 // entries in the skip that the one before is in
	for n := m.base; n < m.sent && !m.early(); n++ {
		e := m.entries[n]
		if !e.gone {
			inSkip = 0
		}
		if inSkip == 0 || inSkip == mostSkipped {
			inSkip = 0
			if space -= m.size(n); space < 0 {
				break
			}
		}
		if e.gone {
			inSkip++
		}
		e.due = true
	}
	m.saidAt, m.backoff = m.now, min(m.backoff+1, backoffMost)
}

// Deadline is the deadline.
func (m *SenderModel) Deadline() core.Micros {
	if m.failed || m.base == m.next {
		return core.Never
	}
	if _, isDue := m.lowestDue(); isDue {
		return m.now
	}
	at := min(m.probeAt(), m.heardAt+m.cfg.GiveUp)
	for n := m.base; n < m.next; n++ {
		if e := m.entries[n]; !e.gone {
			at = min(at, e.diesAt)
		}
	}
	return at
}
