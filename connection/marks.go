package connection

import (
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// ECN is the field of an IP header by which the path says that a queue has become long
// (RFC 3168).
type ECN uint8

// Its values.
const (
	NotECT ECN = iota // its sender does not answer marks
	ECT1              // of L4S, not used here
	ECT0              // its sender does
	CE                // a mark: it was ECT0, and met a long queue
)

func (e ECN) String() string { return [...]string{"not-ECT", "ECT(1)", "ECT(0)", "CE"}[e&CE] }

// The constants of section 8.2 (CXP-5).
const (
	// ECNProbes is how many datagrams are sent with ECT0 before the other end says that such
	// arrive.
	ECNProbes = 10
	// ECNTime is for how long what it said is believed.
	ECNTime = core.Second
	// ECNNumbers is of how many packets it is kept whether they went with ECT0.
	ECNNumbers = 1024
)

// Marks is what an end counted of the datagrams that it opened, modulo 2^16 (CXM-13).
type Marks struct {
	Arrived   uint16 // with ECT0 or CE
	Congested uint16 // of these with CE
}

// marks is what an end knows of the marks of its path (section 8.2), if both ends agreed that
// they have them. Nil: they did not.
type marks struct {
	here Marks // of datagrams that arrived
	some bool  // something was counted

	// Of datagrams that were sent.
	failed  bool        // what the other end says cannot be: nothing is marked
	numbers core.Window // of packets that went with ECT0
	from    core.Number // the first that counts for acked
	sent    int64       // datagrams with ECT0
	counted int64       // of these, those that the other end reported as arrived with it
	acked   int64       // of these, those whose packets were acked
	probes  int         // of these, those sent since counted grew
	grewAt  core.Micros
	said    Marks       // by the other end, latest
	before  Marks       // what it had said when it was judged
	newest  core.Number // of its packets that said something, or acked chunks
	latest  core.Number // of all its packets
	heard   bool        // in this event it did
}

// newMarks returns the marks of a connection.
func newMarks(agreed session.Agreed) *marks {
	if agreed.Extensions&session.ExtensionECN == 0 {
		return nil
	}
	return &marks{numbers: core.NewWindow(ECNNumbers, 0), grewAt: never, newest: core.NoNumber, latest: core.NoNumber}
}

// opened counts a datagram that was opened (CXM-13).
func (m *marks) opened(ecn ECN) {
	if m == nil || ecn&ECT0 == 0 {
		return
	}
	m.some = true
	m.here.Arrived++
	if ecn == CE {
		m.here.Congested++
	}
}

// tells reports whether there is something to say beside an ack of a chunk (CXM-14).
func (m *marks) tells() bool { return m != nil && m.some }

// mark reports whether the datagram of a packet with a slice goes with ECT0, and notes it
// (CXM-15).
func (m *marks) mark(now core.Micros, number core.Number) bool {
	if m == nil || m.failed || m.probes >= ECNProbes && (m.grewAt == never || now >= m.grewAt+ECNTime) {
		return false
	}
	m.numbers.Add(number)
	m.sent++
	m.probes++
	return true
}

// took notes that a packet was taken, whatever is in it.
func (m *marks) took(number core.Number) {
	if m != nil {
		m.latest = max(m.latest, number)
	}
}

// hear takes a record of a packet: an ack of a chunk, or what the other end counted. That of an
// older packet says nothing new (CXM-16).
func (m *marks) hear(number core.Number, r *Record) {
	if m == nil || number < m.newest {
		return
	}
	m.newest, m.heard = number, true
	if r.Type == TypeECN {
		m.said = r.Marks
	}
}

// settle counts a packet that was acked.
func (m *marks) settle(e packet.Event) {
	if m != nil && e.Kind == packet.EventAcked && e.Number >= m.from && m.numbers.Has(e.Number) {
		m.acked++
	}
}

// judge ends an event: it compares the report of the other end with the datagrams sent, and returns how
// many marks are new (CXM-16).
func (m *marks) judge(now core.Micros) (marked int) {
	if m == nil || !m.heard {
		return 0
	}
	arrived, congested := int64(m.said.Arrived-m.before.Arrived), int64(m.said.Congested-m.before.Congested)
	m.heard, m.before = false, m.said
	if m.failed || congested > arrived || arrived > m.sent-m.counted {
		m.failed = true
		return 0
	}
	if m.counted += arrived; arrived > 0 {
		m.probes, m.grewAt = 0, now
	}
	m.failed = m.acked > m.counted && m.newest == m.latest // else a packet that overtook this one has acked more
	return int(congested)
}

// forgetPath makes the path one of which nothing is known (CXM-17).
func (m *marks) forgetPath(next core.Number) {
	if m != nil {
		m.failed, m.acked, m.from, m.probes, m.grewAt = false, m.counted, next, 0, never
	}
}
