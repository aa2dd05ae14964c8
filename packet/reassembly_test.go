package packet

import (
	"bytes"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// Fragments come in every order, with a duplicate between (P9, P11, P13).
func TestFragmentsInEveryOrder(t *testing.T) {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for _, order := range orders {
		a, b := couple(t, fragmenting)
		d := a.sends("aaaabbbbc")
		rows := b.gets(d[order[0]], d[order[0]], d[order[1]], d[order[1]], d[order[2]], d[order[2]], d[order[0]])
		check.Equal(t, "rows", rows, "P11 P9 P11 P9 P13 P3 P3")
		check.Equal(t, "payload", b.got(), []string{"aaaabbbbc"})
	}
}

// Fragments of several packets come mixed; the window moves only as far as it must (F-23).
func TestPacketsComeMixed(t *testing.T) {
	a, b := couple(t, fragmenting)
	var all [][][]byte
	for range 8 {
		all = append(all, a.sends("aaaabbbbcccc"))
	}
	for id := range 3 {
		for _, d := range all {
			b.gets(d[id])
		}
	}
	check.Equal(t, "payloads", len(b.got()), 8)
	check.Equal(t, "in reassembly", b.partials(), nil)
}

// A packet that was only begun moves the window without being received (PKR-2).
func TestAFragmentMovesTheWindow(t *testing.T) {
	e := newEnd(t, fragmenting)
	e.gets(regular(t, 0, "a"), part(t, 3, 1, 2), regular(t, 1, "b"))
	check.Equal(t, "header", check.Must(Format{}.Decode(e.sendsOne("x"))).Header, header(0, 3, 0b1100))
	e.gets(part(t, 3, 0, 2))
	check.Equal(t, "header", check.Must(Format{}.Decode(e.sendsOne("x"))).Header, header(1, 3, 0b1101))
}

// A regular packet with the number of a reassembly ends it (P6, PKX-2).
func TestARegularPacketEndsAReassembly(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "rows", e.gets(part(t, 3, 1, 2), regular(t, 3, "a"), part(t, 3, 0, 2)), "P11 P6 P3")
	check.Equal(t, "in reassembly", e.partials(), nil)
}

// What leaves the window of fragments is gone, but not dead: a whole packet may still come
// (PKX-2, PKR-3).
func TestAReassemblyLeavesItsWindow(t *testing.T) {
	for _, jump := range []core.Number{63, 64, 300, 30000} {
		e := newEnd(t, fragmenting)
		e.gets(part(t, 3, 1, 2), part(t, 4, 1, 2))
		e.gets(regular(t, 3+jump, "a"))
		want := []core.Number{3, 4}
		if jump == 64 {
			want = []core.Number{4}
		} else if jump > 64 {
			want = nil
		}
		check.Equal(t, "in reassembly", e.partials(), want)
		if jump == 64 {
			check.Equal(t, "rows", e.gets(part(t, 3, 0, 2), regular(t, 3, "b")), "P7 P6")
		}
	}
}

// The time runs from the first fragment, and others do not prolong it (PKX-2).
func TestAReassemblyTakesASecond(t *testing.T) {
	e := newEnd(t, fragmenting)
	e.gets(part(t, 3, 0, 3))
	later(ReassemblyTime/2, e)
	e.gets(part(t, 3, 1, 3), part(t, 5, 1, 3))
	e.sends("the ack goes with it"[:4])
	e.gets(acking(t, 6, 0, 1))
	check.Equal(t, "deadline", e.Deadline() <= ReassemblyTime, true)
	later(ReassemblyTime/2-1, e)
	e.polls()
	check.Equal(t, "in reassembly", e.partials(), []core.Number{3, 5})
	later(1, e)
	e.polls()
	check.Equal(t, "in reassembly", e.partials(), []core.Number{5})
	check.Equal(t, "row", e.gets(part(t, 3, 2, 3)), "P4")
}

// The newest first: the oldest makes room, and what is older than all is refused (PKX-3).
func TestTheOldestMakesRoom(t *testing.T) {
	e := newEnd(t, fragmenting)
	for n := range core.Number(8) {
		e.gets(part(t, 10+2*n, 0, 2))
	}
	check.Equal(t, "rows", e.gets(part(t, 9, 0, 2), part(t, 13, 0, 2), part(t, 10, 1, 2), part(t, 11, 0, 2)), "P10 P11 P4 P10")
	check.Equal(t, "in reassembly", e.partials(), []core.Number{12, 13, 14, 16, 18, 20, 22, 24})
	check.Equal(t, "rows", e.gets(part(t, 30, 0, 2), part(t, 12, 1, 2)), "P11 P4")
	check.Equal(t, "the last fragment needs no room", e.gets(part(t, 13, 1, 2)), "P13")
}

// Bytes are bounded as well, those of a packet that has begun among them: a fragment that
// cannot have room drops nothing (P10, PKR-4).
func TestBytesAreBounded(t *testing.T) {
	cfg := fragmenting
	cfg.ReassemblyBytes = 64
	e := newEnd(t, cfg)
	fill := func(n core.Number, fragments int) {
		for id := range fragments {
			check.Equal(t, "row", e.gets(part(t, n, id, 16)), "P11")
		}
	}
	fill(10, 2)
	fill(20, 4)
	fill(30, 10)
	check.Equal(t, "bytes", e.parts.bytes, 64)
	check.Equal(t, "an older one", e.gets(part(t, 5, 0, 16)), "P10")
	check.Equal(t, "one that has begun, the oldest", e.gets(part(t, 10, 2, 16)), "P10")
	check.Equal(t, "in reassembly", e.partials(), []core.Number{10, 20, 30})
	check.Equal(t, "one that has begun", e.gets(part(t, 20, 4, 16)), "P11")
	check.Equal(t, "in reassembly", e.partials(), []core.Number{20, 30})
	fill(30, 0)
	for id := 10; id < 15; id++ {
		check.Equal(t, "row", e.gets(part(t, 30, id, 16)), "P11")
	}
	check.Equal(t, "in reassembly", e.partials(), []core.Number{30})
	check.Equal(t, "older than what is left", e.gets(part(t, 25, 0, 16)), "P11")
	check.Equal(t, "its last one", e.gets(part(t, 30, 15, 16)), "P13")
	check.Equal(t, "in reassembly", e.partials(), []core.Number{25})
}

// A fragment that would not fit even alone with what is newer drops nothing.
func TestWhatFindsNoRoomDropsNothing(t *testing.T) {
	cfg := fragmenting
	cfg.ReassemblyBytes = 64
	e := newEnd(t, cfg)
	e.gets(part(t, 10, 0, 16))
	for id := range 15 {
		e.gets(part(t, 30, id, 16))
	}
	check.Equal(t, "row", e.gets(part(t, 20, 0, 16)), "P11")
	check.Equal(t, "in reassembly", e.partials(), []core.Number{20, 30})
	check.Equal(t, "row", e.gets(part(t, 20, 1, 16)), "P10")
	check.Equal(t, "in reassembly", e.partials(), []core.Number{20, 30})
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

// Datagrams that are lent do not share what append would overwrite.
func TestDatagramsAreApart(t *testing.T) {
	e := newEnd(t, fragmenting)
	out, _, err := e.Send(0, []byte("aaaabbbbcccc"))
	check.Same(t, "error", err, nil)
	before := slices.Clone(out[1])
	_ = append(out[0], 1, 2, 3, 4, 5, 6)
	check.That(t, bytes.Equal(out[1], before), "the second is as it was")
}
