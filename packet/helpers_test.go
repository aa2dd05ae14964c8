package packet

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

// end is an endpoint with a layer above that notes everything.
type end struct {
	t testing.TB
	*Endpoint
	now      core.Micros
	verdict  Verdict // what the layer above says
	payloads []string
	acks     []core.Number // of the deliveries
	numbers  []core.Number
	events   []string
}

func newEnd(t testing.TB, cfg Config) *end {
	e, err := NewEndpoint(cfg)
	check.Same(t, "error", err, nil)
	return &end{t: t, Endpoint: e}
}

// couple returns two ends with the same configuration (PKI-7).
func couple(t testing.TB, cfg Config) (a, b *end) { return newEnd(t, cfg), newEnd(t, cfg) }

// fragmenting cuts at 4 bytes.
var fragmenting = Config{Format: small, FragmentAbove: 4}

// later lets time pass for ends.
func later(d core.Micros, ends ...*end) {
	for _, e := range ends {
		e.now += d
	}
}

// sends returns the datagrams of a payload, as copies.
func (e *end) sends(payload string) (datagrams [][]byte) {
	e.t.Helper()
	out, _, err := e.Send(e.now, []byte(payload))
	check.Same(e.t, "error", err, nil)
	for _, d := range out {
		datagrams = append(datagrams, bytes.Clone(d))
	}
	e.note()
	return datagrams
}

// sendsOne returns the only datagram of a payload.
func (e *end) sendsOne(payload string) []byte {
	e.t.Helper()
	datagrams := e.sends(payload)
	check.Equal(e.t, "datagrams", len(datagrams), 1)
	return datagrams[0]
}

// gets takes datagrams and returns the row of each.
func (e *end) gets(datagrams ...[]byte) (rows string) {
	e.t.Helper()
	for _, d := range datagrams {
		before, counted := bytes.Clone(d), e.refusals()
		err := e.Receive(e.now, d, func(d Delivery) Verdict {
			if e.verdict != Refuse {
				e.payloads = append(e.payloads, string(d.Payload))
				e.numbers = append(e.numbers, d.Number)
				e.acks = append(e.acks, d.Ack)
			}
			return e.verdict
		})
		var refusal *Error
		if errors.As(err, &refusal) {
			if rule := refusal.Rule(); rule != string(e.row) && e.row != "P1" {
				e.t.Fatalf("row %s, but the refusal is by %s", e.row, rule)
			}
			counted++
		}
		check.Equal(e.t, "refusals counted", e.refusals(), counted)
		check.Bytes(e.t, "the caller's datagram", d, before)
		if rows != "" {
			rows += " "
		}
		rows += string(e.row)
		e.note()
	}
	return rows
}

func (e *end) refusals() (n int64) {
	stats := e.Stats()
	for _, code := range codes {
		n += stats.Refused(code)
	}
	return n
}

// polls returns the ack-only packet that is due, or nil.
func (e *end) polls() []byte {
	e.t.Helper()
	datagram, ok := e.Poll(e.now)
	datagram = bytes.Clone(datagram)
	if ok {
		_, again := e.Poll(e.now)
		check.That(e.t, !again, "one ack-only packet is enough")
	}
	e.note()
	check.That(e.t, e.Deadline() > e.now, "nothing is due behind a poll")
	return datagram
}

func (e *end) note() {
	for _, event := range e.Events() {
		e.events = append(e.events, fmt.Sprint(event.Kind, " ", event.Number))
	}
}

// said returns the events since the last call.
func (e *end) said() []string {
	events := e.events
	e.events = nil
	return events
}

// got returns the payloads since the last call.
func (e *end) got() []string {
	payloads := e.payloads
	e.payloads = nil
	return payloads
}

// sum makes sure that the reassembly's count of bytes is right, and that its list is in
// order, and returns the numbers in it.
func (e *end) partials() (numbers []core.Number) {
	e.t.Helper()
	bytes := 0
	for _, p := range e.parts.list {
		numbers = append(numbers, p.number)
		for _, part := range p.parts {
			bytes += len(part)
		}
	}
	check.Equal(e.t, "bytes in reassembly", e.parts.bytes, bytes)
	check.That(e.t, slices.IsSorted(numbers), "the reassembly is in order")
	return numbers
}

// header is what the next packet says, for the peer.
func header(sequence, ack uint16, bits uint32) Header { return Header{sequence, ack, bits} }

// encoded returns the datagram of a packet.
func encoded(t testing.TB, f Format, p Packet) []byte {
	t.Helper()
	b, err := f.Append(nil, &p)
	check.Same(t, "error", err, nil)
	return b
}

// regular returns a whole packet that acks nothing.
func regular(t testing.TB, sequence core.Number, payload string) []byte {
	t.Helper()
	return encoded(t, Format{}, Packet{Header: header(uint16(sequence), 65535, 0), Data: []byte(payload)})
}

// part returns a fragment of 4 bytes of a packet that acks nothing.
func part(t testing.TB, sequence core.Number, id, count int) []byte {
	t.Helper()
	h := Header{Sequence: uint16(sequence)}
	if id == 0 {
		h = header(h.Sequence, 65535, 0)
	}
	data := bytes.Repeat([]byte{byte('a' + id)}, 4)
	return encoded(t, small, Packet{Header: h, FragmentID: id, NumFragments: count, Data: data})
}
