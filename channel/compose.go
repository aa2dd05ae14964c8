package channel

import (
	"math/bits"

	"github.com/chunkwire/chunkwire/core"
)

// compose is the payload that is being composed.
type compose struct {
	payload []byte
	number  core.Number
	left    int // bytes that it has room for
	quiet   bool
}

// Compose appends to dst the records of one payload, in the order of CHC-7: as much as fits
// space bytes. The packet that will have the payload has this number, no smaller than in
// any call before (CHC-1). If nothing is appended there is nothing to send; call it again for
// each next packet until then. Quiet says that nothing in the records asks for an ack (CHR-4).
// A packet that is not sent after all is lost like others. What is due waits until space is
// enough for it: the largest record of a reliable channel has 8 + Data bytes.
//
// An unreliable message of more than 1,156 bytes goes alone, if dst is empty and space is
// LargestPayload: the payload is then longer than that (CHU-3, CHC-2).
func (m *Mux) Compose(dst []byte, now core.Micros, number core.Number, space int) (payload []byte, quiet bool) {
	m.start(dst, now, number, space)
	if !m.composeLarge() {
		m.composeReports()
		m.composeData()
	}
	return m.composed(len(dst))
}

// ComposeData is Compose without reports.
func (m *Mux) ComposeData(dst []byte, now core.Micros, number core.Number, space int) (payload []byte, quiet bool) {
	m.start(dst, now, number, space)
	if !m.composeLarge() {
		m.composeData()
	}
	return m.composed(len(dst))
}

func (m *Mux) start(dst []byte, now core.Micros, number core.Number, space int) {
	m.now = max(m.now, now)
	m.compose = compose{payload: dst, number: number, left: space, quiet: true}
}

// composed returns the payload, which had so many bytes before.
func (m *Mux) composed(before int) (payload []byte, quiet bool) {
	if len(m.payload) > before {
		m.stats.Composed++
	}
	payload, quiet = m.payload, m.quiet
	m.payload = nil
	return payload, quiet
}

// ComposeReports appends only the reports that are due, as many as fit space bytes.
func (m *Mux) ComposeReports(dst []byte, now core.Micros, space int) (payload []byte) {
	m.now = max(m.now, now)
	m.compose = compose{payload: dst, left: space}
	m.composeReports()
	payload, m.payload = m.payload, nil
	return payload
}

// put appends a record.
func (m *Mux) put(r *Record) {
	m.payload = appendRecord(m.payload, r)
	m.left -= r.Size()
	m.quiet = m.quiet && r.quiet()
}

// composeReports appends the reports that are due.
func (m *Mux) composeReports() {
	for set := m.reporting; set != 0; set &= set - 1 {
		c := m.byID[bits.TrailingZeros64(set)]
		if c.receiver.Deadline() > m.now {
			continue
		}
		if r, ok := c.receiver.Poll(m.now, m.left); ok {
			m.put(&r)
		}
		m.note(c)
	}
}

// composeLarge appends the message that the payload before passed over, so that a driver which
// sends one packet at a time sends it in the end (CHC-7).
func (m *Mux) composeLarge() bool {
	if m.large == nil || !m.alone() {
		return false
	}
	c := m.large
	m.large = nil
	return m.putUnreliable(c)
}

// alone reports whether a message that needs a payload of its own can go in this one (CHU-3).
func (m *Mux) alone() bool { return len(m.payload) == 0 && m.left >= LargestPayload }

// putUnreliable appends the first message of an unreliable channel if it fits.
func (m *Mux) putUnreliable(c *end) bool {
	_, length := c.toSend.first()
	size := unreliableTop + length
	switch {
	case size <= LargestPayload && size > m.left:
		return false
	case size > LargestPayload && !m.alone():
		if m.large == nil { // or one of higher priority
			m.large = c
		}
		return false
	}
	m.payload = append16(append(m.payload, byte(TypeUnreliable), c.id), length)
	m.payload = c.toSend.pop(m.payload)
	m.left -= size
	m.quiet = false
	set(&m.waiting, c.bit(), !c.toSend.empty())
	return true
}

// composeData appends what waits of the unreliable channels and what is due of the reliable ones,
// probes included, by priority (CHC-8).
func (m *Mux) composeData() {
	for from := 0; from < len(m.order) && m.sending|m.waiting != 0; {
		to := from + 1
		for to < len(m.order) && m.order[to].priority == m.order[from].priority {
			to++
		}
		m.composeEqual(m.order[from:to])
		from = to
	}
}

// composeEqual appends what channels of one priority have, unreliable ones first. The first
// reliable one that gives something goes behind the others for the next packet (CHC-8). A sender
// that is to be given up is polled here, too. Of unreliable messages as many go as fit; one that
// fits no payload goes alone in its own (CHU-1, CHU-3).
func (m *Mux) composeEqual(list []*end) {
	for _, c := range list {
		for m.waiting&c.bit() != 0 && m.putUnreliable(c) {
		}
	}
	first := -1
	for i, c := range list {
		if m.sending&c.bit() == 0 || c.sender.Deadline() > m.now {
			continue
		}
		if m.drain(c) && first < 0 {
			first = i
		}
	}
	if first >= 0 {
		c := list[first]
		copy(list[first:], list[first+1:])
		list[len(list)-1] = c
	}
}

// drain appends what a sender has for this packet, and reports whether that is something.
func (m *Mux) drain(c *end) (any bool) {
	for {
		r, ok := c.sender.Poll(m.now, m.number, m.left)
		if !ok {
			m.note(c)
			return any
		}
		any = true
		m.put(&r)
	}
}
