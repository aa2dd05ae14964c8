package control

import "github.com/chunkwire/chunkwire/machine"

const (
	rttLife    = 10 * machine.Second // EST-6: how long a smallest round trip is trusted
	drainSlots = 4                   // WIN-4: slices in flight while the queue drains
)

// minRTT is the smallest round trip of late. One flow of chunks pauses between
// them and sees the path without its queue. Several lanes or flows keep a queue
// standing: the smallest of late would hold it, the window would grow by it, and
// so would the queue. So a value is forgotten only after a look at the path with
// an empty queue (EST-7).
type minRTT struct {
	value  machine.Micros // 0: none
	at     machine.Micros // the latest sample
	nearAt machine.Micros // the latest sample near the value
	until  machine.Micros // when the drain ends; 0: there is none
	found  machine.Micros // the smallest sample of the drain
}

// add takes a sample, at least 1.
func (m *minRTT) add(now, r, smoothed machine.Micros) {
	silent := m.value == 0 || now-m.at >= rttLife
	m.at = now
	switch {
	case silent:
		m.learn(now, r)
	case r <= m.value+max(m.value/8, ackDelay):
		m.learn(now, min(r, m.value))
	case m.drains():
		m.found = min(m.found, r)
		if now >= m.until {
			m.learn(now, m.found)
		}
	case now-m.nearAt >= rttLife:
		m.until, m.found = now+2*smoothed, r
	}
}

func (m *minRTT) learn(now, value machine.Micros) { m.value, m.nearAt, m.until = value, now, 0 }

// drains reports whether few slices may be in flight, so that the queue empties.
func (m *minRTT) drains() bool { return m.until != 0 }
