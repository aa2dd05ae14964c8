package connectionsim

import (
	"slices"

	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// Figures of section 8.2 of the specification (CXP-5).
const (
	ecnProbes  = 32
	ecnTime    = core.Second
	ecnNumbers = 1024
	ecnSize    = 5
)

// marksModel is section 8.2. It keeps everything that ever happened, and counts it anew.
type marksModel struct {
	is bool // the ends agreed on marks

	came   []protocol.ECN // of each datagram that was opened
	sent   []core.Number  // the packets of datagrams that went with ECT(0)
	acked  map[core.Number]bool
	failed bool
	counts []countedMarks // that were judged, and were right
	before protocol.Marks
	since  int // sent, when what was counted grew
	grewAt core.Micros
	grew   bool

	newest core.Number
	said   protocol.Marks
	heard  bool
	ect    bool
}

// countedMarks is what an ECN added.
type countedMarks struct{ arrived, congested int }

func (m *marksModel) counted() (arrived, congested int) {
	for _, c := range m.counts {
		arrived, congested = arrived+c.arrived, congested+c.congested
	}
	return arrived, congested
}

// here is CXM-13.
func (m *marksModel) here() (marks protocol.Marks, some bool) {
	for _, ecn := range m.came {
		switch ecn {
		case protocol.CE:
			marks.Congested++
			fallthrough
		case protocol.ECT0:
			marks.Arrived++
			some = true
		}
	}
	return marks, some
}

// slice is CXM-15.
func (m *marksModel) slice(now core.Micros, number core.Number) {
	few, believed := len(m.sent)-m.since < ecnProbes, m.grew && now-m.grewAt < ecnTime
	if m.ect = m.is && !m.failed && (few || believed); m.ect {
		m.sent = append(m.sent, number)
	}
}

// hear notes a record for CXM-16.
func (m *marksModel) hear(number core.Number, r *protocol.Record) {
	if !m.is || number < m.newest {
		return
	}
	m.newest, m.heard = number, true
	if r.Type == protocol.TypeECN {
		m.said = r.Marks
	}
}

// event is step 1 of CXM-16.
func (m *marksModel) event(e packet.Event) {
	if e.Kind != packet.EventAcked || len(m.sent) == 0 || m.sent[len(m.sent)-1]-e.Number >= ecnNumbers {
		return
	}
	if slices.Contains(m.sent, e.Number) {
		m.acked[e.Number] = true
	}
}

// judge is CXM-16 from step 2 on: it returns how many marks the schedulers are told of.
func (m *marksModel) judge(now core.Micros) (marked int) {
	if !m.heard {
		return 0
	}
	m.heard = false
	a, c := int(m.said.Arrived-m.before.Arrived), int(m.said.Congested-m.before.Congested)
	a, c, m.before = a&0xffff, c&0xffff, m.said
	counted, _ := m.counted()
	if m.failed = m.failed || c > a || a > len(m.sent)-counted; m.failed {
		return 0
	}
	m.counts = append(m.counts, countedMarks{a, c})
	if a > 0 {
		m.since, m.grew, m.grewAt = len(m.sent), true, now
	}
	m.failed = len(m.acked) > counted+a
	return c
}
