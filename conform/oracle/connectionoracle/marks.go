package connectionoracle

// The values of the field ECN, by the contract's names. Not-ECT is empty.
const (
	ECT1 = "ect1"
	ECT0 = "ect0"
	CE   = "ce"
)

// The constants of section 8.2.
const (
	ecnProbes  = 10
	ecnTime    = 1_000_000
	ecnNumbers = 1024
	sizeOfECN  = 5
)

// marks are the variables of section 8.2, and what became of the event.
type marks struct {
	arrived, congested    int64 // not modulo anything
	sent, acked, counted  int64
	probes, grewAt        int64 // -1: never
	failed                bool
	numbers               map[int64]bool // that are marked
	newest                int64          // the largest number of a packet of the peer with an ack of a chunk or an ECN
	newestOfAll           int64          // the largest of all
	said                  Record         // the latest ECN
	saidArrived, saidMark int64          // those that were judged last

	judged bool // in this event
	ect    bool // of the latest datagram
	told   int64
}

func newMarks() *marks {
	return &marks{grewAt: -1, newest: -1, newestOfAll: -1, numbers: map[int64]bool{}}
}

// came counts a datagram that was opened (CXM-13).
func (m *marks) came(ecn string) {
	if ecn == ECT0 || ecn == CE {
		m.arrived++
	}
	if ecn == CE {
		m.congested++
	}
}

// record is the ECN that goes beside acks of chunks (CXM-14).
func (m *marks) record() Record {
	return Record{Type: ECN, Arrived: m.arrived % 65536, Congested: m.congested % 65536}
}

// slice is a datagram with a slice that is sent (CXM-15).
func (m *marks) slice(now, number int64) {
	believed := m.grewAt >= 0 && now-m.grewAt < ecnTime
	if m.failed || m.probes >= ecnProbes && !believed {
		return
	}
	m.ect = true
	m.sent++
	m.probes++
	m.numbers[number] = true
	for n := range m.numbers {
		if n <= number-ecnNumbers {
			delete(m.numbers, n)
		}
	}
}

// take is a record of a packet of the peer that is for marks (CXM-16).
func (m *marks) take(number int64, r Record) {
	if number < m.newest {
		return
	}
	m.newest, m.judged = number, true
	if r.Type == ECN {
		m.said = r
	}
}

// end ends an event, in which these numbers were acked. It returns how many marks the schedulers
// are told of.
func (m *marks) end(now int64, acked []int64) (told int64) {
	for _, number := range acked {
		if m.numbers[number] {
			m.acked++
		}
	}
	if !m.judged {
		return 0
	}
	m.judged = false
	a, c := (m.said.Arrived-m.saidArrived+65536)%65536, (m.said.Congested-m.saidMark+65536)%65536
	m.saidArrived, m.saidMark = m.said.Arrived, m.said.Congested
	switch {
	case m.failed:
		return 0
	case c > a || a > m.sent-m.counted:
		m.failed = true
		return 0
	}
	m.counted += a
	if a > 0 {
		m.probes, m.grewAt = 0, now
	}
	m.failed = m.acked > m.counted && m.newest == m.newestOfAll
	m.told += c
	return c
}
