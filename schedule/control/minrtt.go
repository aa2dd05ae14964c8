package control

import "github.com/chunkwire/chunkwire/machine"

const (
	rttLife    = 10 * machine.Second // how long a smallest round trip is trusted
	drainEvery = 10 * machine.Second
	drainSlots = 4 // slices in flight while the queue drains
)

// baseRTT is the round trip of the path without its queue.
type baseRTT struct {
	value        machine.Micros // 0: none
	at           machine.Micros // the latest sample
	drainAt      machine.Micros // when the next drain begins
	until        machine.Micros // when the drain ends; 0: there is none
	found        machine.Micros // the smallest sample of the drain
	fullAt       machine.Micros // samples are of the drain
	endedAt, gap machine.Micros
	fell         bool // the value fell in this drain
	busySince    machine.Micros
	misses       int // drains in a row without a sample near
}

// drain begins a drain.
func (m *baseRTT) drain(now, smoothed, r machine.Micros) {
	m.until, m.found, m.fullAt = now+2*max(smoothed, r), r, now+r
}

// add takes a sample, and reports whether a drain has ended without a sample near.
func (m *baseRTT) add(now, r, smoothed machine.Micros, contested bool) (missed bool) {
	silent := m.value == 0 || now-m.at >= rttLife
	m.at = now
	if silent {
		m.value, m.until, m.drainAt, m.misses = r, 0, now+FirstDrain, 0
		return false
	}
	if r < m.value {
		if m.value-r >= ms {
			m.fell = true
			if m.until == 0 && Join && !contested {
				m.drain(now, smoothed, r) // others drain: join them
			}
		}
		m.value = r
	}
	if m.until != 0 {
		m.found = min(m.found, r)
		near := m.found <= m.value+max(m.value/8, ackDelay)
		if now >= m.until || Early && near && !m.fell && now >= m.fullAt {
			missed = m.endDrain(now, near, contested)
		}
	}
	if m.until == 0 && now >= m.drainAt && (contested || now-m.busySince >= FirstDrain || now >= m.drainAt+7*machine.Second) {
		m.drain(now, smoothed, r)
	}
	return missed
}

var Early = true

func (m *baseRTT) endDrain(now machine.Micros, near, contested bool) (missed bool) {
	fell := m.fell
	m.until, m.fell = 0, false
	m.drainAt = now + drainEvery
	m.endedAt = now
	if m.gap == 0 {
		m.gap = machine.Second
	}
	m.gap = min(2*m.gap, drainEvery)
	if fell {
		m.drainAt = now + SoonDrain
		m.gap = SoonDrain
	}
	if near {
		m.misses = 0
		return false
	}
	if contested {
		return true
	}
	if m.misses++; m.misses == 3 {
		m.value, m.misses = m.found, 0
		return false
	}
	return true
}

// drains reports whether few slices may be in flight, so that the queue empties.
func (m *baseRTT) drains() bool { return m.until != 0 }

var Join = true
var SoonDrain = machine.Second / 2
var FirstDrain = 5 * machine.Second / 2

// mayDrainEarly reports whether much loss may begin a drain.
func (m *baseRTT) mayDrainEarly(now machine.Micros) bool {
	return m.until == 0 && now-m.busySince >= machine.Second && now >= m.endedAt+m.gap
}
