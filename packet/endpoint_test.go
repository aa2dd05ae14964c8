package packet

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// Two ends greet each other: each packet acks what has arrived (PKS-1, PKA-1, PKA-2).
func TestAConversation(t *testing.T) {
	a, b := couple(t, Config{})
	hello := a.sendsOne("hello")
	check.Equal(t, "first packet", hello, unhex("3e 0000 01 00000000 68656c6c6f"))
	later(50*ms, a, b)
	check.Equal(t, "row", b.gets(hello), "P6")
	check.Equal(t, "payload", b.got(), []string{"hello"})
	later(10*ms, a, b)
	answer := b.sendsOne("hi")
	check.Equal(t, "answer", answer, unhex("3e 0000 00 01000000 6869"))
	later(50*ms, a, b)
	check.Equal(t, "row", a.gets(answer), "P6")
	check.Equal(t, "acked", a.said(), []string{"acked 0"})
	check.Equal(t, "number", a.numbers, []core.Number{0})
	check.Equal(t, "its ack", a.acks, []core.Number{0})
	check.Equal(t, "ack of the first packet", b.acks, []core.Number{core.NoNumber})
	est := a.Estimates(a.now)
	check.Equal(t, "round trip", []core.Micros{est.SRTT, est.Latest, est.MinRTT, est.Jitter}, []core.Micros{110 * ms, 110 * ms, 110 * ms, 0})
}

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

// What is lost, doubled and out of order: acks say what came (PKA-2, P3).
func TestLossReorderingAndDuplicates(t *testing.T) {
	a, b := couple(t, Config{})
	var d [][]byte
	for _, payload := range []string{"0", "1", "2", "3", "4"} {
		d = append(d, a.sendsOne(payload))
	}
	check.Equal(t, "rows", b.gets(d[0], d[3], d[3], d[1], d[0], d[4], d[1]), "P6 P6 P3 P6 P3 P6 P3")
	check.Equal(t, "payloads", b.got(), []string{"0", "3", "1", "4"})
	answer := b.sendsOne("x")
	check.Equal(t, "acks", check.Must(Format{}.Decode(answer)).Header, header(0, 4, 0b11011))
	check.Equal(t, "rows", a.gets(answer, answer), "P6 P3")
	check.Equal(t, "acked, the newest first, once", a.said(), []string{"acked 4", "acked 3", "acked 1", "acked 0"})
	check.Equal(t, "row", b.gets(d[2]), "P6")
	check.Equal(t, "row", a.gets(b.sendsOne("y")), "P6")
	check.Equal(t, "acked late", a.said(), []string{"acked 2"})
}

// Every row of the table, and what it leaves behind.
func TestRowsOfTheEndpoint(t *testing.T) {
	for _, c := range []struct {
		row, name string
		run       func(e *end) string // the rows before it and itself
		want      string
		code      string
	}{
		{"P1", "not decodable", func(e *end) string { return e.gets(nil) }, "P1", "truncated"},
		{"P2", "behind the window", func(e *end) string { return e.gets(regular(t, 300, "a"), regular(t, 44, "b")) }, "P6 P2", "stale"},
		{"P2", "before the first", func(e *end) string { return e.gets(regular(t, 65535, "a")) }, "P2", "stale"},
		{"P2", "half the space ahead", func(e *end) string { return e.gets(regular(t, 32768-256, "a")) }, "P2", "stale"},
		{"P3", "taken before", func(e *end) string { return e.gets(regular(t, 1, "a"), regular(t, 1, "b")) }, "P6 P3", "duplicate"},
		{"P3", "a fragment of what was taken", func(e *end) string { return e.gets(regular(t, 1, "a"), part(t, 1, 1, 2)) }, "P6 P3", "duplicate"},
		{"P4", "given up", func(e *end) string {
			first := e.gets(part(t, 1, 0, 2))
			later(ReassemblyTime, e)
			return first + " " + e.gets(part(t, 1, 1, 2))
		}, "P11 P4", "dead"},
		{"P4", "a whole packet of what was given up", func(e *end) string {
			first := e.gets(part(t, 1, 0, 2))
			later(ReassemblyTime, e)
			return first + " " + e.gets(regular(t, 1, "a"))
		}, "P11 P4", "dead"},
		{"P5", "refused above", func(e *end) string {
			e.verdict = Refuse
			return e.gets(regular(t, 0, "a"))
		}, "P5", "refused"},
		{"P6", "the last of the window", func(e *end) string { return e.gets(regular(t, 300, "a"), regular(t, 45, "b")) }, "P6 P6", ""},
		{"P6", "as far ahead as can be", func(e *end) string { return e.gets(regular(t, 32767-256, "a")) }, "P6", ""},
		{"P7", "too old for fragments", func(e *end) string { return e.gets(regular(t, 100, "a"), part(t, 36, 0, 2)) }, "P6 P7", "stale"},
		{"P8", "another count", func(e *end) string { return e.gets(part(t, 1, 0, 3), part(t, 1, 1, 2)) }, "P11 P8", "fragment_count"},
		{"P9", "the same fragment", func(e *end) string { return e.gets(part(t, 1, 0, 2), part(t, 1, 0, 2)) }, "P11 P9", "fragment_duplicate"},
		{"P10", "older than all that are begun", func(e *end) string {
			rows := ""
			for n := range core.Number(8) {
				rows += e.gets(part(t, 10+n, 0, 2))[:1]
			}
			return rows + " " + e.gets(part(t, 9, 0, 2))
		}, "PPPPPPPP P10", "reassembly_full"},
		{"P11", "the oldest that is not too old", func(e *end) string { return e.gets(regular(t, 100, "a"), part(t, 37, 0, 2)) }, "P6 P11", ""},
		{"P12", "refused above", func(e *end) string {
			e.verdict = Refuse
			return e.gets(part(t, 1, 0, 2), part(t, 1, 1, 2))
		}, "P11 P12", "refused"},
		{"P13", "the last comes last", func(e *end) string { return e.gets(part(t, 1, 0, 2), part(t, 1, 1, 2)) }, "P11 P13", ""},
		{"P13", "the first comes last", func(e *end) string { return e.gets(part(t, 1, 1, 2), part(t, 1, 0, 2)) }, "P11 P13", ""},
	} {
		t.Run(c.row+" "+c.name, func(t *testing.T) {
			e := newEnd(t, fragmenting)
			e.t = t
			check.Equal(t, "rows", c.run(e), c.want)
			check.That(t, strings.HasSuffix(c.want, c.row), "the case is of its row")
			stats := e.Stats()
			for _, code := range codes {
				want := int64(0)
				if string(code) == c.code {
					want = 1
				}
				check.Equal(t, "count of "+string(code), stats.Refused(code), want)
			}
			check.Equal(t, "count of no code", stats.Refused("none"), 0)
		})
	}
}

// A refusal has the code of its row, and lies in no byte.
func TestRefusalsOfTheEndpoint(t *testing.T) {
	e := newEnd(t, fragmenting)
	e.gets(regular(t, 0, "a"))
	err := e.Receive(0, regular(t, 0, "a"), nil)
	var refusal *Error
	check.That(t, errors.As(err, &refusal) && errors.Is(err, ErrDuplicate) && refusal.Place() == -1, "duplicate, in no byte")
	check.Equal(t, "text", err.Error(), "packet: duplicate: the packet was received before (P3)")
}

// A packet that is refused above is not acked, moves nothing, and may come again (P5, P12).
func TestWhatIsRefusedMayComeAgain(t *testing.T) {
	e := newEnd(t, fragmenting)
	e.verdict = Refuse
	check.Equal(t, "rows", e.gets(regular(t, 5, "a"), part(t, 3, 0, 2), part(t, 3, 1, 2)), "P5 P11 P12")
	check.Equal(t, "in reassembly", e.partials(), nil)
	h := check.Must(Format{}.Decode(e.sendsOne("x"))).Header
	check.Equal(t, "only the fragment moved the window", h, header(0, 3, 0))
	e.verdict = Take
	check.Equal(t, "rows", e.gets(regular(t, 5, "a"), part(t, 3, 1, 2), part(t, 3, 0, 2)), "P6 P11 P13")
	check.Equal(t, "payloads", e.got(), []string{"a", "aaaabbbb"})
}

// Acks in a datagram that is refused do not count (PKR-4), nor do those of a fragment
// before its packet is whole.
func TestAcksCountWhenAPacketIsTaken(t *testing.T) {
	a, b := couple(t, fragmenting)
	d := a.sendsOne("one")
	b.gets(d)
	answer := b.sends("a long answer")
	check.Equal(t, "fragments", len(answer), 4)
	a.verdict = Refuse
	check.Equal(t, "rows", a.gets(answer[0], answer[3], answer[2]), "P11 P11 P11")
	check.Equal(t, "rows", a.gets(answer[1]), "P12")
	check.Equal(t, "acked", a.said(), nil)
	a.verdict = Take
	check.Equal(t, "rows", a.gets(answer...), "P11 P11 P11 P13")
	check.Equal(t, "acked", a.said(), []string{"acked 0"})
	check.Equal(t, "rows", a.gets(answer[0]), "P3")
	check.Equal(t, "payload", a.got(), []string{"a long answer"})
}

// The acks are those of fragment 0, whichever comes last.
func TestAcksOfAFragmentedPacket(t *testing.T) {
	for last := range 3 {
		a, b := couple(t, fragmenting)
		b.gets(a.sendsOne("one"))
		d := b.sends("aaaabbbbc")
		a.gets(d[(last+1)%3], d[(last+2)%3])
		check.Equal(t, "events", a.said(), nil)
		check.Equal(t, "row", a.gets(d[last]), "P13")
		check.Equal(t, "events", a.said(), []string{"acked 0"})
		check.Equal(t, "its ack", a.acks, []core.Number{0})
	}
}

// The ack that the layer above is given is a number of ours, or none.
func TestAcksOfDeliveries(t *testing.T) {
	e := newEnd(t, Config{NextToSend: 65534})
	sendMany(e, 4) // 65534 to 65537
	e.gets(acking(t, 0, 65537, 0), acking(t, 1, 65535, 0), acking(t, 2, 65533, 0), acking(t, 3, 65538, 0), acking(t, 4, 0, 1))
	check.Equal(t, "acks", e.acks, []core.Number{65537, 65535, 65533, 2, 65536})
	e = newEnd(t, Config{})
	e.gets(acking(t, 0, 65535, 0), acking(t, 1, 0, 0), acking(t, 2, 7, 0))
	check.Equal(t, "none of ours", e.acks, []core.Number{-1, -1, -1})
}

// A payload is cut above FragmentAbove, at the sizes around every multiple (PKF-1, PKF-2).
func TestPayloadsOfEverySize(t *testing.T) {
	for size := 1; size <= 64; size++ {
		a, b := couple(t, Config{Format: small, FragmentAbove: 9})
		payload := strings.Repeat("abcdefg", 10)[:size]
		d := a.sends(payload)
		want := (size + 3) / 4
		if size <= 9 {
			want = 1
		}
		check.Equal(t, "datagrams", len(d), want)
		rows := b.gets(d...)
		check.Equal(t, "rows", rows, strings.TrimSpace(strings.Repeat("P11 ", want-1)+map[bool]string{true: "P6", false: "P13"}[want == 1]))
		check.Equal(t, "payload", b.got(), []string{payload})
		check.Equal(t, "in reassembly", b.partials(), nil)
	}
}

// A payload of no size or too large uses up no number (PKF-3).
func TestPayloadsThatAreNone(t *testing.T) {
	e := newEnd(t, fragmenting)
	for _, size := range []int{0, 65, 1000} {
		for _, send := range []func(core.Micros, []byte) ([][]byte, core.Number, error){e.Send, e.SendQuiet} {
			d, n, err := send(0, make([]byte, size))
			check.That(t, errors.Is(err, ErrPayloadSize) && d == nil && n == core.NoNumber, "refused")
		}
	}
	check.Equal(t, "row", newEnd(t, fragmenting).gets(e.sends(strings.Repeat("x", 64))...), strings.Repeat("P11 ", 15)+"P13")
	check.Equal(t, "packets", e.Stats().Sent, 1)
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

func TestAnAckWaits20ms(t *testing.T) {
	e := newEnd(t, Config{})
	e.gets(regular(t, 0, "x"))
	later(10*ms, e)
	e.gets(regular(t, 1, "x"))
	check.Equal(t, "deadline", e.Deadline(), 20*ms)
	later(10*ms-1, e)
	check.Equal(t, "too early", e.polls(), nil)
	later(1, e)
	check.Equal(t, "in time", e.polls(), unhex("1e 0000 0100 03000000 00"))
}

// What goes out in time makes an ack-only packet needless; what is quiet asks for none.
func TestWhatAsksForNoAck(t *testing.T) {
	e := newEnd(t, Config{})
	e.gets(regular(t, 0, "x"))
	e.sends("y")
	check.That(t, e.ackAt == core.Never && e.unreported == 0, "the packet carries the ack")
	e.gets(regular(t, 1, "\x00"))
	e.verdict = TakeQuietly
	e.gets(regular(t, 2, "x"))
	check.That(t, e.ackAt == core.Never, "quiet")
	e.verdict = Take
	e.gets(regular(t, 3, "\x00\x00"), regular(t, 4, "\x01"))
	check.Equal(t, "unreported", e.unreported, 2)
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
}

// A time that goes back counts as the latest (PKN-3, F-11).
func TestATimeThatGoesBack(t *testing.T) {
	e := newEnd(t, Config{})
	e.now = 100 * ms
	e.gets(regular(t, 0, "x"))
	e.now = 0
	check.Equal(t, "no ack yet", e.ackAt, 120*ms)
	e.gets(regular(t, 1, "y"))
	_, ok := e.Poll(119 * ms)
	check.That(t, !ok, "too early")
	_, ok = e.Poll(120 * ms)
	check.That(t, ok, "in time")
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
