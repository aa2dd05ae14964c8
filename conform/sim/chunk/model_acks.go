package chunk

import "github.com/chunkwire/chunkwire/core"

// AckModel is section 8.5 of the specification: when the next ack goes out.
type AckModel struct {
	At         core.Micros // ack_at
	lastAckAt  core.Micros
	everAcked  bool
	unreported int
	lastNew    int
	afterGap   bool
}

// NewAckModel returns that of a new receiver.
func NewAckModel() AckModel { return AckModel{At: core.Never} }

// Start is AKT-1.
func (m *AckModel) Start() { m.unreported, m.lastNew, m.afterGap = 0, -1, false }

// New is AKT-3 and AKT-4, for a slice that is stored.
func (m *AckModel) New(now core.Micros, id int) {
	m.unreported++
	gap := id != m.lastNew+1
	if gap || m.afterGap || m.unreported >= 16 {
		m.By(now)
	} else {
		m.Soon(now)
	}
	m.lastNew, m.afterGap = id, gap
}

// By is the rule of due times: ack_at becomes the smaller of itself and a time.
func (m *AckModel) By(at core.Micros) {
	if at < m.At {
		m.At = at
	}
}

// Soon is AKT-2.
func (m *AckModel) Soon(now core.Micros) {
	if m.everAcked && m.lastAckAt+2000 > now {
		m.By(m.lastAckAt + 2000)
	} else {
		m.By(now)
	}
}

// Sent is AKT-5, when no ack is due any more.
func (m *AckModel) Sent(now core.Micros) {
	m.At, m.lastAckAt, m.everAcked, m.unreported = core.Never, now, true, 0
}
