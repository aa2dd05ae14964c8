package channel

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/seq"
)

// compose is the payload that is being composed.
type compose struct {
	payload []byte
	number  seq.Number
	left    int // bytes that it has room for
	quiet   bool
}

// Compose appends to dst the records of one payload that has room for space bytes of them, for
// the packet with this number. The order is that of CHC-1. If it appends nothing there is
// nothing to send; call it again for each next packet until then. Quiet says that nothing in
// the records asks for an ack (CHR-4).
//
// An unreliable message that is too large for other records beside it goes alone, if dst is
// empty and space is LargestPayload: the payload is then longer than that (CHC-4).
func (m *Mux) Compose(dst []byte, now machine.Micros, number seq.Number, space int) (payload []byte, quiet bool) {
	m.now = max(m.now, now)
	m.compose = compose{payload: dst, number: number, left: space, quiet: true}
	m.composeReports()
	if len(dst) > 0 || space < LargestPayload || !m.composeLarge() {
		m.composeUnreliable()
		m.composeData()
		m.composeProbes()
	}
	if len(m.payload) > len(dst) {
		m.stats.Composed++
	}
	payload, quiet = m.payload, m.quiet
	m.payload = nil
	return payload, quiet
}

// put appends a record.
func (m *Mux) put(r *Record) {
	before := len(m.payload)
	m.payload = appendRecord(m.payload, r)
	m.left -= len(m.payload) - before
	m.quiet = m.quiet && r.quiet()
}

// composeReports appends the reports that are due.
func (m *Mux) composeReports() {
	if m.reporting == 0 {
		return
	}
	for _, c := range m.order {
		if m.reporting&c.bit() == 0 || c.receiver.Deadline() > m.now {
			continue
		}
		if r, ok := c.receiver.Poll(m.now, m.left); ok {
			m.put(&r)
		}
		m.note(c)
	}
}

// composeLarge appends the first unreliable message if it is one that goes alone.
func (m *Mux) composeLarge() bool {
	if m.waiting == 0 || len(m.payload) > 0 {
		return false
	}
	for _, c := range m.order {
		if m.waiting&c.bit() == 0 {
			continue
		}
		_, size := c.toSend.first()
		if unreliableTop+size <= LargestPayload {
			return false
		}
		m.putUnreliable(c)
		return true
	}
	return false
}

// composeUnreliable appends the unreliable messages that wait, as many as fit.
func (m *Mux) composeUnreliable() {
	if m.waiting == 0 {
		return
	}
	for _, c := range m.order {
		for m.waiting&c.bit() != 0 {
			if _, size := c.toSend.first(); unreliableTop+size > m.left {
				break
			}
			m.putUnreliable(c)
		}
	}
}

// putUnreliable appends the first message of an unreliable channel.
func (m *Mux) putUnreliable(c *end) {
	_, size := c.toSend.first()
	m.payload = append16(append(m.payload, byte(TypeUnreliable), c.id), size)
	m.payload = c.toSend.pop(m.payload)
	m.left -= unreliableTop + size
	m.quiet = false
	set(&m.waiting, c.bit(), !c.toSend.empty())
}

// composeData appends what is due of the reliable channels. Of those of one priority the first
// that had something comes last in the next packet (CHC-3).
func (m *Mux) composeData() {
	if m.sending == 0 {
		return
	}
	for from := 0; from < len(m.order); {
		to, served := from, -1
		for ; to < len(m.order) && m.order[to].priority == m.order[from].priority; to++ {
			c := m.order[to]
			if m.sending&c.bit() == 0 {
				continue
			}
			if _, due := c.sender.lowestDue(); due && m.drain(c) && served < 0 {
				served = to
			}
		}
		if served >= 0 {
			c := m.order[served]
			copy(m.order[served:to-1], m.order[served+1:to])
			m.order[to-1] = c
		}
		from = to
	}
}

// drain appends what a sender has for this packet; any is false if that is nothing.
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

// composeProbes appends the probes that are due, with what they send again. It also gives up
// what is due to be given up.
func (m *Mux) composeProbes() {
	if m.sending == 0 {
		return
	}
	for _, c := range m.order {
		if m.sending&c.bit() != 0 && c.sender.Prompt() <= m.now {
			m.drain(c)
		}
	}
}
