package packet

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/seq"
)

// A configuration that says nothing has the values of the document (PKP-1, PKP-5).
func TestDefaults(t *testing.T) {
	check.Equal(t, "defaults", check.Must(Config{}.complete()), Config{
		Format: Format{1024, 16}, FragmentAbove: 1160, Received: 256, SentMax: 8192, Reassembly: 64, ReassemblyPackets: 8,
		ReassemblyBytes: 32768, SequenceBits: 16,
	})
	few := check.Must(Config{Received: 64, Reassembly: 4}.complete())
	check.Equal(t, "at most REASSEMBLY", few.ReassemblyPackets, 4)
	check.Equal(t, "at most half of RECEIVED", check.Must(Config{Received: 64}.complete()).Reassembly, 32)
}

// Whichever fragment comes last, the acks are those of fragment 0 (PKR-1).
func TestAcksCountWhicheverFragmentComesLast(t *testing.T) {
	for last := range 4 {
		a, b := couple(t, fragmenting)
		b.gets(a.sendsOne("one"))
		answer := b.sends("a long answer")
		for i, d := range answer {
			if i != last {
				check.Equal(t, "row", a.gets(d), "P11")
			}
		}
		check.Equal(t, "row", a.gets(answer[last]), "P13")
		check.Equal(t, "events", a.said(), []string{"acked 0"})
	}
}

// What the layer above learns of the newest packet that the peer knew of: the newest number
// that was sent and has these bits (PKS-3, section 5.2).
func TestTheAckOfADelivery(t *testing.T) {
	e := newEnd(t, Config{NextToSend: 70000})
	e.sends("a")
	e.gets(acking(t, 0, 70000, 1), acking(t, 1, 70001, 1), acking(t, 2, 70002, 1), acking(t, 3, 69999, 0))
	check.Equal(t, "acks", e.acks, []seq.Number{70000, 70001 - 65536, 70002 - 65536, 69999})
	first := newEnd(t, Config{})
	first.gets(acking(t, 0, 65535, 0), acking(t, 1, 0, 0))
	check.Equal(t, "nothing was sent", first.acks, []seq.Number{seq.None, seq.None})
}

// Patience has fallen before it is compared with what is new (PKE-4).
func TestPatienceFallsFirst(t *testing.T) {
	e := newEnd(t, Config{})
	roundTrips(e, 100*ms)
	overtaken := func(peer seq.Number, age machine.Micros) {
		newest := e.sent.next + 3
		sendMany(e, 4)
		later(age, e)
		e.gets(acking(t, peer, newest, 1), acking(t, peer+1, newest, 0b1001))
	}
	overtaken(1, 16*ms)
	check.Equal(t, "at first", e.Estimates(e.now).Patience, 18*ms)
	later(8*machine.Second, e)
	overtaken(3, 40*ms)
	check.Equal(t, "later", e.Estimates(e.now).Patience, 45*ms)
}

// What an encoder refuses has its place, too (PKF-4).
func TestPlacesOfAnEncoder(t *testing.T) {
	header := Header{Sequence: 1, Ack: 65000, AckBits: 0} // 9 bytes
	for _, c := range []struct {
		Packet
		place int
	}{
		{Packet{}, -1},
		{Packet{FragmentID: 1, Data: make([]byte, 4)}, 3},
		{Packet{FragmentID: -1, NumFragments: 2, Data: make([]byte, 4)}, 3},
		{Packet{FragmentID: 2, NumFragments: 2, Data: make([]byte, 4)}, 3},
		{Packet{NumFragments: 17, Data: make([]byte, 4)}, 4},
		{Packet{NumFragments: 2, Header: header}, 5 + 9},
		{Packet{NumFragments: 2, FragmentID: 1, Header: header}, 5},
	} {
		var e *Error
		check.That(t, errors.As(small.Validate(&c.Packet), &e), "refused")
		check.Equal(t, "place", e.Place(), c.place)
	}
}

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

// Lost packets are counted, and those that were acked after that (L2 to L4).
func TestStatsOfLostPackets(t *testing.T) {
	e := newEnd(t, Config{SentMax: 256})
	sendMany(e, 258)
	later(LostAfter, e)
	e.polls()
	e.gets(acking(t, 0, 257, 0b11))
	s := e.Stats()
	check.Equal(t, "lost, acked, late", [3]int64{s.Lost, s.Acked, s.Late}, [3]int64{258, 2, 2})
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
	for _, c := range refusalCases {
		d := unhex(c.hex)
		_, first := small.Decode(d)
		_, second := small.Decode(d)
		check.Same(t, c.name, first, second)
	}
	e := newEnd(t, fragmenting)
	d := regular(t, 0, strings.Repeat("x", 4))
	e.gets(d)
	check.Same(t, "duplicate", e.Receive(0, d, nil), e.Receive(0, d, nil))
}
