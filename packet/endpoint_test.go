package packet

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// A layer above can ask for the number before it sends; what is refused uses up none (PKS-1,
// PKF-3).
func TestTheNextNumberIsKnownBefore(t *testing.T) {
	e := newEnd(t, Config{NextToSend: 7})
	for _, payload := range []string{"a", "", "b"} {
		next := e.Next()
		_, number, err := e.Send(0, []byte(payload))
		check.That(t, err != nil || number == next, "it is the one that was said")
	}
	check.Equal(t, "next", e.Next(), 9)
}

// The number of a payload is the next, whatever was sent before (PKS-1).
func TestNumbersAreCounted(t *testing.T) {
	e := newEnd(t, Config{NextToSend: 65534, NextToReceive: 65534})
	for want := core.Number(65534); want < 65540; want++ {
		d, n, err := e.Send(0, []byte("x"))
		check.Same(t, "error", err, nil)
		check.Equal(t, "number", n, want)
		p := check.Must(Format{}.Decode(d[0]))
		check.Equal(t, "sequence", p.Sequence, uint16(want))
		check.Equal(t, "ack", p.Header, header(uint16(want), 65533, 0))
	}
}

// One way only: every 16th packet, or 20 ms, is answered by a packet that only acks; two
// ends without news fall silent (PKA-3, PKT-LIVE-3, PKT-LIVE-5, PKT-BND-1).
func TestOneWayTrafficIsAckedInFull(t *testing.T) {
	a, b := couple(t, Config{})
	answers := 0
	for range 160 {
		b.gets(a.sendsOne("x"))
		if d := b.polls(); d != nil {
			answers++
			check.Equal(t, "its size", len(d) <= 10, true)
			check.Equal(t, "row", a.gets(d), "P6")
			check.Equal(t, "no answer to that", a.polls(), nil)
		}
		later(ms, a, b)
	}
	check.Equal(t, "answers", answers, 10)
	check.Equal(t, "acked", len(a.said()), 160)
	for _, x := range []*end{a, b} {
		x.polls()
		check.That(t, x.ackAt == core.Never, "no ack is due")
	}
	later(Kept, a, b)
	a.polls()
	check.Equal(t, "quiet ones are never lost", b.polls(), nil)
	check.Equal(t, "events: what came with later packets", strings.Join(b.said(), " "),
		"acked 0 acked 1 acked 2 acked 3 acked 4 acked 5 acked 6 acked 7 acked 8")
	check.Equal(t, "sent by b", b.Stats().AcksSent, 10)
}

func TestStatsCount(t *testing.T) {
	a, b := couple(t, fragmenting)
	b.gets(a.sends("0123456789")...)
	b.gets(a.sends("01")...)
	later(20*ms, a, b)
	a.gets(b.polls())
	b.gets(part(t, 5, 0, 2))
	check.Equal(t, "in reassembly", [2]int{b.Stats().Incomplete, b.Stats().IncompleteBytes}, [2]int{1, 4})
	later(ReassemblyTime, a, b)
	b.polls()
	s := a.Stats()
	check.Equal(t, "sent", [4]int64{s.Sent, s.DatagramsSent, s.BytesSent, s.Acked}, [4]int64{2, 4, 3*5 + 8 + 10 + 8 + 2, 2})
	a.sends("lost")
	a.sends("lost for good")
	later(LostAfter, a, b)
	a.polls()
	a.gets(acking(t, 1, 2, 1))
	s = a.Stats()
	check.Equal(t, "lost, one of them acked late", [3]int64{s.Lost, s.Late, s.Acked}, [3]int64{2, 1, 3})
	s = b.Stats()
	check.Equal(t, "received", [6]int64{s.Received, s.DatagramsReceived, s.Fragments, s.Abandoned, s.AcksSent, s.Sent}, [6]int64{2, 5, 3, 1, 1, 1})
	check.Equal(t, "rows", b.gets(part(t, 6, 0, 2), regular(t, 1000, "x"), regular(t, 1000, "x")), "P11 P6 P3")
	s = b.Stats()
	check.Equal(t, "abandoned, refused", [3]int64{s.Abandoned, s.Refused("duplicate"), s.Refused("none")}, [3]int64{2, 1, 0})
}

// The fragments of a large payload are not kept in memory once the next packet is sent.
func TestFragmentsAreGivenBack(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "fragments", len(e.sends("abcdefghijkl")), 3)
	e.sendsOne("ab")
	for _, d := range e.Endpoint.datagrams[1:cap(e.Endpoint.datagrams)] {
		check.Bytes(t, "a datagram of before", d, nil)
	}
}

// A fragment has memory of its own: the datagram may be overwritten (PKX-1).
func TestFragmentsAreCopied(t *testing.T) {
	a, b := couple(t, fragmenting)
	buffer := make([]byte, 0, 100)
	for _, d := range a.sends("aaaabbbbcccc") {
		buffer = append(buffer[:0], d...)
		b.gets(buffer)
		for i := range buffer {
			buffer[i] = 0xee
		}
	}
	check.Equal(t, "payload", b.got(), []string{"aaaabbbbcccc"})
	check.That(t, b.arrival.Data == nil && b.arrival.partial == nil, "the datagram is not kept")
}

// A payload that stands where it belongs is not copied, and one that does not is: the bytes are
// the bytes of Send.
func TestSendIn(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		twin, e := newEnd(t, Config{}), newEnd(t, Config{})
		want, _, _ := twin.Send(0, []byte("payload"))
		dst := append(make([]byte, 0, 100), "before"...)
		payload := []byte("payload")
		if inPlace {
			at := len(dst) + e.HeaderSize()
			payload = append(dst[at:at], payload...)
		}
		got, _, err := e.SendIn(0, dst, payload, false)
		check.Same(t, "error", err, nil)
		check.Equal(t, "datagrams", got, want)
		check.Same(t, "what stands before", string(dst), "before")
		last := len(got[0]) - 1
		check.Equal(t, "the payload is not copied", &got[0][last] == &payload[len(payload)-1], inPlace)
		check.That(t, &got[0][0] == &dst[:cap(dst)][len(dst)], "the memory is the caller's")
	}
}
