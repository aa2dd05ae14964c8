package packet

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// A header alone is refused as in a packet, and so is what begins as no header (PKD-1 to
// PKD-5).
func TestHeadersThatAreNone(t *testing.T) {
	for text, want := range map[string]*Error{
		"": prefixMissing.At(0), "01 6400 00": prefixReserved.At(0), "60 6400 01": prefixReserved.At(0), "a0 6400 01": prefixReserved.At(0),
		"20": sequenceMissing.At(1), "20 6400": ackMissing.At(3), "22 6400 01": bitsMissing.At(4),
	} {
		h, size, err := DecodeHeader(unhex(text))
		check.That(t, h == Header{} && size == 0, "nothing is returned")
		check.Same(t, text, err, error(want))
	}
}

// A reassembly that has ended is not kept by the list that it was in (PKX-2).
func TestNothingIsKeptOfAReassembly(t *testing.T) {
	e := newEnd(t, fragmenting)
	e.gets(part(t, 1, 0, 2), part(t, 2, 0, 2), part(t, 1, 1, 2), part(t, 2, 1, 2))
	list := e.parts.list
	for _, p := range list[:cap(list)] {
		check.That(t, p == nil, "the list is empty")
	}
}

// Every refusal of a datagram is an error that was made in advance: it costs no memory
// (PKD-13).
func TestRefusalsAreMadeInAdvance(t *testing.T) {
	for _, text := range refused {
		_, first := small.Decode(unhex(text))
		_, second := small.Decode(unhex(text))
		check.Same(t, text, first, second)
	}
	e := newEnd(t, fragmenting)
	d := regular(t, 0, strings.Repeat("x", 4))
	e.gets(d)
	check.Same(t, "duplicate", e.Receive(0, d, nil), e.Receive(0, d, nil))
}

// The layer above is told the number that a packet acks: the latest that was sent, at the most.
func TestTheAckOfADelivery(t *testing.T) {
	a, b := couple(t, Config{})
	for range 2 {
		b.gets(a.sendsOne("x"))
		a.gets(b.sendsOne("y"))
	}
	check.Equal(t, "acks", a.acks, []core.Number{0, 1})
	other := newEnd(t, Config{}) // which has sent nothing
	other.gets(b.sendsOne("z"))
	check.Equal(t, "acks", other.acks, []core.Number{core.NoNumber})
}
