package packet

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// pad is the payload of a packet that only acks (PKA-3).
var pad = []byte{0}

// Send makes the datagrams of a payload of 1 to Config.MaxPacket bytes, and gives it the
// next number (PKS-1). They are lent until the next call. Send fails with ErrPayloadSize,
// and then uses up no number (PKF-3). A payload that only pads asks for no ack (PKL-4).
func (e *Endpoint) Send(now core.Micros, payload []byte) (datagrams [][]byte, number core.Number, err error) {
	state := waits
	if isPad(payload) {
		state = quiet
	}
	return e.lend(now, payload, state)
}

// SendQuiet does what Send does with a payload of which the peer's layer above will say
// that it asks for no ack. The packet is never lost.
func (e *Endpoint) SendQuiet(now core.Micros, payload []byte) (datagrams [][]byte, number core.Number, err error) {
	return e.lend(now, payload, quiet)
}

// SendIn does what Send does, or SendQuiet if asksNoAck, and gives the datagram dst's memory behind
// its end, if there is one datagram and that is enough. A payload that stands there already,
// HeaderSize bytes behind the end, is not copied.
func (e *Endpoint) SendIn(now core.Micros, dst, payload []byte, asksNoAck bool) (datagrams [][]byte, number core.Number, err error) {
	state := waits
	if asksNoAck {
		state = quiet
	}
	return e.send(now, dst, payload, state)
}

// HeaderSize returns how many bytes the header of the next packet has.
func (e *Endpoint) HeaderSize() int { return e.header().Size() }

// lend is send into memory of the endpoint.
func (e *Endpoint) lend(now core.Micros, payload []byte, state sentState) ([][]byte, core.Number, error) {
	e.out = slices.Grow(e.out, MaxHeader+min(len(payload), e.fragmentAbove))
	return e.send(now, e.out, payload, state)
}

// send takes the steps of PKA-4.
func (e *Endpoint) send(now core.Micros, dst, payload []byte, state sentState) ([][]byte, core.Number, error) {
	e.advance(now)
	if len(payload) < 1 || len(payload) > e.format.MaxPacket() {
		return nil, core.NoNumber, payloadSize.NotAt()
	}
	p := Packet{Header: e.header(), Data: payload}
	clear(e.datagrams) // or fragments would be kept in memory behind the end
	e.datagrams = e.datagrams[:0]
	bytes := 0
	if len(payload) <= e.fragmentAbove {
		out := appendPacket(dst, &p)
		e.datagrams = append(e.datagrams, out[len(dst):])
		bytes = len(out) - len(dst)
	} else {
		bytes = e.cut(&p)
	}
	number := e.sent.next
	e.keep(state, bytes)
	e.unreported, e.ackAt = 0, core.Never
	e.seconds.add(e.now, sentBytes, uint32(bytes))
	e.stats.Sent++
	e.stats.DatagramsSent += int64(len(e.datagrams))
	e.stats.BytesSent += int64(bytes)
	if state == waits {
		e.congestion.Sent(e.now)
	}
	return e.datagrams, number, nil
}

// Next returns the number of the next packet that is sent (PKS-1). A layer above that must
// know it composes the payload with it and then calls Send.
func (e *Endpoint) Next() core.Number { return e.sent.next }

// header returns what the next packet says (PKA-1).
func (e *Endpoint) header() Header {
	return Header{
		Sequence: e.space.Wire(e.sent.next),
		Ack:      e.space.Wire(e.received.Next() - 1),
		AckBits:  e.received.Newest(),
	}
}

// cut makes the datagrams of a packet that does not fit one (PKF-1, PKF-2). It returns
// how many bytes they have. Their memory is new: the memory of a large packet is not kept.
func (e *Endpoint) cut(p *Packet) (bytes int) {
	payload, size := p.Data, e.format.FragmentSize
	p.NumFragments = e.format.numFragments(len(payload))
	out := make([]byte, 0, len(payload)+p.NumFragments*fragmentHeader+MaxHeader)
	for p.FragmentID = range p.NumFragments {
		from := p.FragmentID * size
		p.Data = payload[from:min(from+size, len(payload))]
		start := len(out)
		out = appendPacket(out, p)
		e.datagrams = append(e.datagrams, out[start:len(out):len(out)])
	}
	return len(out)
}

// Poll does what is due at now, in the order of PKI-2, and returns an ack-only packet if one
// is due (PKA-3). No other call does what time makes due, except for reassemblies (PKI-3).
// Call it until it returns false. The datagram is lent until the next call.
func (e *Endpoint) Poll(now core.Micros) (datagram []byte, ok bool) {
	e.advance(now)
	e.checkLost()
	e.evaluate()
	if e.now < e.ackAt {
		return nil, false
	}
	datagrams, _, _ := e.lend(e.now, pad, quiet)
	e.stats.AcksSent++
	return datagrams[0], true
}

// AckDeadline returns when an ack is due that goes alone if no packet goes before, or
// core.Never (PKA-3). A layer above that has something to send lets it go with that.
func (e *Endpoint) AckDeadline() core.Micros { return e.ackAt }

// Deadline returns when Poll has something to do next if no event comes before, or
// core.Never (PKI-4).
func (e *Endpoint) Deadline() core.Micros {
	at := min(e.ackAt, e.lostDeadline(), e.congestion.Deadline())
	for _, p := range e.parts.list {
		at = min(at, p.since+ReassemblyTime)
	}
	return at
}

// keptEvents is for how many events memory is kept, and restSent how many packets an endpoint keeps that rests and
// needs none.
const (
	keptEvents = 64
	restSent   = 4
)

// Events returns what became of sent numbers since the last call, in order (PKA-2, PKL-6).
// They are lent until the next call of any method. Ask after each Receive, Send and Poll:
// events wait, however many they are.
func (e *Endpoint) Events() []Event {
	events := e.events
	if e.events = e.events[:0]; cap(e.events) > keptEvents || e.sent.len() <= restSent {
		e.events = nil
	}
	return events
}

// Mode returns how much can be sent (section 9).
func (e *Endpoint) Mode() Mode { return e.congestion.Mode() }

// Recovery returns how long conditions must be good before the mode is Good again.
func (e *Endpoint) Recovery() core.Micros { return e.congestion.Recovery() }

// NextAt returns when the next packet of the regular cadence can go (PKC-3). It is the
// caller's to keep to it.
func (e *Endpoint) NextAt() core.Micros { return e.congestion.NextAt() }
