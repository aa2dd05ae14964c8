package packet

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// The faults of section 13, each excluded by a test of its number.

// Sizes of forged fragments led a copy out of its block: a fragment has exactly the size
// that its place has.
func TestF01(t *testing.T) {
	f := Format{}
	for _, size := range []int{0, 1, 1023, 1025, 1160, 65000} {
		for id, want := range map[int]error{0: ErrFragmentSize, 1: ErrFragmentSize, 2: nil} {
			if id == 2 && (size == 0 || size > 1024) {
				want = ErrFragmentSize
			}
			d := []byte{1, 0, 0, byte(id), 2}
			if id == 0 {
				d = header(0, 65535, 0).Append(d)
			}
			e := newEnd(t, Config{})
			err := e.Receive(0, append(d, make([]byte, size)...), nil)
			check.That(t, want == nil && err == nil || want != nil && errors.Is(err, want), fmt.Sprint("fragment ", id, " of ", size, " bytes: ", err))
			check.Equal(t, "bytes held", e.parts.bytes, map[bool]int{true: size, false: 0}[want == nil])
			_, err = f.Decode(d)
			check.That(t, err != nil, "cut before its data")
		}
	}
}

// The embedded header was read with the length of the whole datagram: here the datagram's
// capacity goes on, and what lies there does not count.
func TestF02(t *testing.T) {
	whole := unhex("016400 00 01 1e6400 0180 00010203 61616161")
	for n := range len(whole) {
		_, err := small.Decode(whole[:n:len(whole)])
		want := ErrTruncated
		if n >= len(whole)-4 {
			want = ErrFragmentSize
		}
		check.That(t, errors.Is(err, want), fmt.Sprint(n, " bytes: ", err))
	}
}

// An embedded header that is not minimal shifted the data of fragment 0.
func TestF03(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "rows", e.gets(unhex("016400 00 01 22640001 ff 61616161"), unhex("016400 00 01 006400 6300 61616161")), "P1 P1")
	check.Equal(t, "rows", e.gets(unhex("016400 00 01 20640001 61616161"), unhex("016400 01 01 62")), "P11 P13")
	check.Equal(t, "payload", e.got(), []string{"aaaab"})
}

// Duplicates were delivered twice: here never, as long as the number is understood.
func TestF04(t *testing.T) {
	e := newEnd(t, Config{})
	var all [][]byte
	for n := range core.Number(400) {
		d := regular(t, n, "x")
		all = append(all, d)
		e.gets(d)
	}
	for _, d := range all {
		check.That(t, e.gets(d) != "P6", "not again")
	}
	check.Equal(t, "payloads", len(e.got()), 400)
}

// A copy of the last fragment began a reassembly that could never end.
func TestF05(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "rows", e.gets(part(t, 1, 0, 2), part(t, 1, 1, 2), part(t, 1, 1, 2)), "P11 P13 P3")
	e.gets(part(t, 2, 0, 2))
	later(ReassemblyTime, e)
	check.Equal(t, "rows", e.gets(part(t, 2, 1, 2), part(t, 2, 0, 2)), "P4 P4")
	check.Equal(t, "in reassembly", e.partials(), nil)
}

// After 32,767 regular packets every fragment was stale.
func TestF06(t *testing.T) {
	a, b := couple(t, fragmenting)
	for i := range 70_000 {
		out, _, _ := a.Send(0, []byte("x"))
		check.Same(t, "error", b.Receive(0, out[0], func(Delivery) Verdict { return Take }), nil)
		if i == 32766 || i == 32767 || i == 65535 || i == 69_999 {
			check.Equal(t, "rows", b.gets(a.sends("aaaab")...), "P11 P13")
		}
	}
}

// A reassembly leaked when a regular packet moved the window.
func TestF07(t *testing.T) {
	e := newEnd(t, fragmenting)
	for n := core.Number(0); n < 20_000; n += 1000 {
		e.gets(part(t, n, 0, 2), part(t, n+1, 0, 2), regular(t, n+500, "x"))
		check.Equal(t, "in reassembly", e.partials(), nil)
	}
	check.Equal(t, "abandoned", e.Stats().Abandoned, 40)
}

// Packets of almost the largest size were refused: each limit at its size and one above.
func TestF08(t *testing.T) {
	for _, size := range []int{1, 1159, 1160, 1161, 16383, 16384} {
		a, b := couple(t, Config{})
		payload := strings.Repeat("p", size)
		b.gets(a.sends(payload)...)
		check.Equal(t, "payload", b.got(), []string{payload})
	}
	_, _, err := newEnd(t, Config{}).Send(0, make([]byte, 16385))
	check.That(t, errors.Is(err, ErrPayloadSize), "one above")
	e := newEnd(t, Config{})
	check.Equal(t, "a whole packet that large", e.gets(regular(t, 0, strings.Repeat("p", 16384))), "P6")
	check.That(t, errors.Is(e.Receive(0, append(header(1, 0, allSet).Append(nil), make([]byte, 16385)...), nil), ErrTooLarge), "one above")
}

// 64 datagrams of 6 bytes held 16.8 MB until newer packets came: here 8 bytes of data, and
// for a second.
func TestF09(t *testing.T) {
	cfg := Config{Format: Format{MaxFragments: 256}}
	e := newEnd(t, cfg)
	attack := func() {
		for n := range core.Number(64) {
			check.Equal(t, "row", e.gets([]byte{1, byte(n), 0, 255, 255, 7}), "P11")
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	attack()
	runtime.ReadMemStats(&after)
	check.Equal(t, "packets and bytes", [2]int{len(e.partials()), e.parts.bytes}, [2]int{8, 8})
	check.That(t, after.TotalAlloc-before.TotalAlloc < 64*(256*24+2000), "no more than the pointers is allocated")
	later(ReassemblyTime, e)
	e.polls()
	check.Equal(t, "packets and bytes", [2]int{len(e.partials()), e.parts.bytes}, [2]int{0, 0})
}

// A full buffer of acks lost events: here all come, whatever the caller does.
func TestF10(t *testing.T) {
	e := newEnd(t, Config{})
	for n := range core.Number(5000) {
		_, _, err := e.Send(0, []byte("x"))
		check.Same(t, "error", err, nil)
		check.Same(t, "error", e.Receive(0, acking(t, n, n, 1), func(Delivery) Verdict { return Take }), nil)
	}
	check.Equal(t, "events that nobody asked for", len(e.Events()), 5000)
	check.Equal(t, "acked", e.Stats().Acked, 5000)
}

// Asserts on what comes from the network or the clock.
func TestF11(t *testing.T) {
	e := newEnd(t, Config{})
	e.now = second
	check.Equal(t, "rows", e.gets(nil, []byte{}, []byte{0}, []byte{1}), "P1 P1 P1 P1")
	e.sends("x")
	e.now = 0
	e.gets(acking(t, 0, 0, 1))
	e.polls()
	check.Equal(t, "sample", e.Estimates(0), Estimates{Measured: true})
	check.Equal(t, "events", e.said(), []string{"acked 0"})
}

// Windows whose size does not divide 65,536 forget at the wrap.
func TestF12(t *testing.T) {
	for _, n := range []int{63, 65, 100, 300, 48, 32768} {
		_, err := NewEndpoint(Config{Received: n})
		check.That(t, errors.Is(err, core.ErrConfig), "Received")
		_, err = NewEndpoint(Config{SentMax: n})
		check.That(t, errors.Is(err, core.ErrConfig), "SentMax")
	}
	a, b := couple(t, Config{NextToSend: 65536 - 100, NextToReceive: 65536 - 100})
	var d [][]byte
	for range 200 {
		d = append(d, a.sendsOne("x"))
	}
	for i, x := range d {
		b.gets(x)
		if i%20 == 19 {
			a.gets(b.sendsOne("y"))
		}
	}
	check.Equal(t, "acked over the wrap", len(a.said()), 200)
}

// A forged first fragment with another count locks the genuine ones out: for a second, and
// 64 numbers.
func TestF13(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "rows", e.gets(part(t, 1, 0, 3), part(t, 1, 0, 2), part(t, 1, 1, 2)), "P11 P8 P8")
	later(ReassemblyTime, e)
	check.Equal(t, "the number is lost", e.gets(part(t, 1, 0, 2)), "P4")
	check.Equal(t, "the next is not", e.gets(part(t, 2, 0, 2), part(t, 2, 1, 2)), "P11 P13")
	check.Equal(t, "a later packet goes on", e.gets(part(t, 3, 0, 3), regular(t, 67, "x"), regular(t, 3, "y")), "P11 P6 P6")
}

// One forged number ahead makes genuine packets stale: known, bounded by half the space,
// and not solvable without a MAC.
func TestF14(t *testing.T) {
	e := newEnd(t, Config{})
	check.Equal(t, "forged", e.gets(regular(t, 28_800, "x")), "P6")
	stale := 0
	for n := range core.Number(28_800) {
		if err := e.Receive(0, regular(t, n, "x"), func(Delivery) Verdict { return Take }); errors.Is(err, ErrStale) {
			stale++
		}
	}
	check.Equal(t, "genuine packets that are stale", stale, 28_800-255)
	check.Equal(t, "then it goes on", e.gets(regular(t, 28_801, "x")), "P6")
}

// A window that moves now and then sees a jump of 32,768 and refuses: here every packet
// moves all windows.
func TestF15(t *testing.T) {
	e := newEnd(t, fragmenting)
	for n := core.Number(0); n < 200_000; n += 32_000 {
		check.Equal(t, "rows", e.gets(part(t, n, 0, 2), part(t, n, 1, 2)), "P11 P13")
		for i := core.Number(1); i < 32_000; i += 200 {
			check.Equal(t, "row", e.gets(regular(t, n+i, "x")), "P6")
		}
	}
}

// An assert on a peer's budget: any header of a peer is answered.
func TestF16(t *testing.T) {
	e := newEnd(t, Config{})
	sendMany(e, 40)
	for n := range core.Number(200) {
		e.gets(acking(t, n, n*337, allSet))
	}
	check.Equal(t, "taken", e.Stats().Received, 200)
}

// The number of fragments was rounded down.
func TestF17(t *testing.T) {
	for k := 2; k <= 16; k++ {
		for size, want := range map[int]int{1024*k - 1: k, 1024 * k: k, 1024*k + 1: k + 1} {
			if size > 16384 {
				continue
			}
			check.Equal(t, "fragments", Format{}.numFragments(size), want)
			a, b := couple(t, Config{})
			d := a.sends(strings.Repeat("p", size))
			check.Equal(t, "datagrams", len(d), want)
			check.Equal(t, "its rows", b.gets(d...), strings.Repeat("P11 ", want-1)+"P13")
			check.Equal(t, "size", len(b.got()[0]), size)
		}
	}
}

// Acks were handled after the timers of the same time (PKI-6).
func TestF18(t *testing.T) {
	a, b := couple(t, Config{})
	b.gets(a.sendsOne("x"))
	later(LostAfter, a, b)
	a.gets(b.sendsOne("y"))
	a.polls()
	check.Equal(t, "events", a.said(), []string{"acked 0"})
}

// Packet 0 was acked before anything arrived; the first sample counted a tenth; a packet
// out of order was left out of one ack.
func TestF19(t *testing.T) {
	a, b := couple(t, Config{})
	d := [][]byte{a.sendsOne("0"), a.sendsOne("1"), a.sendsOne("2")}
	a.gets(b.sendsOne("I know nothing"))
	check.Equal(t, "events", a.said(), nil)
	later(100*ms, a, b)
	b.gets(d[2])
	a.gets(b.sendsOne("2"))
	check.Equal(t, "first sample", a.Estimates(a.now).SRTT, 100*ms)
	b.gets(d[0])
	a.gets(b.sendsOne("0"))
	b.gets(d[1])
	a.gets(b.sendsOne("1"))
	check.Equal(t, "events", a.said(), []string{"acked 2", "acked 0", "acked 1"})
}

// Every reassembled packet had its data shifted: what comes out is compared.
func TestF20(t *testing.T) {
	for _, size := range []int{1161, 2048, 2049, 5000, 16384} {
		a, b := couple(t, Config{})
		payload := make([]byte, size)
		for i := range payload {
			payload[i] = byte(i * 7)
		}
		d := a.sends(string(payload))
		for i := range d {
			b.gets(d[len(d)-1-i])
		}
		check.That(t, bytes.Equal([]byte(b.got()[0]), payload), "byte for byte")
	}
}

// Nothing was found from number 256 on.
func TestF21(t *testing.T) {
	a, b := couple(t, fragmenting)
	for range 1000 {
		b.gets(a.sends("aaaab")...)
		for range 69 {
			out, _, _ := a.Send(0, []byte("x"))
			check.Same(t, "error", b.Receive(0, out[0], func(Delivery) Verdict { return TakeQuietly }), nil)
		}
		check.Equal(t, "payload", b.got(), []string{"aaaab"})
	}
}

// 256 fragments in 8 bits were 0.
func TestF22(t *testing.T) {
	cfg := Config{Format: Format{FragmentSize: 1, MaxFragments: 256}, FragmentAbove: 1}
	a, b := couple(t, cfg)
	payload := strings.Repeat("abcd", 64)
	d := a.sends(payload)
	check.Equal(t, "datagrams", len(d), 256)
	check.Equal(t, "the number on the wire", d[255][:5], []byte{1, 0, 0, 255, 255})
	b.gets(d...)
	check.Equal(t, "payload", b.got(), []string{payload})
}

// Any newer packet wiped all reassemblies.
func TestF23(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "rows", e.gets(part(t, 1, 0, 2), part(t, 2, 0, 2), regular(t, 3, "x"), part(t, 1, 1, 2), part(t, 2, 1, 2)), "P11 P11 P6 P13 P13")
	check.Equal(t, "payloads", e.got(), []string{"x", "aaaabbbb", "aaaabbbb"})
}

// 32,786 was written for 32,768: every distance, at an endpoint. Package seq has the rest.
func TestF24(t *testing.T) {
	for d := range 65536 {
		if d%97 != 0 && (d < 32_700 || d > 32_800) {
			continue
		}
		e := newEnd(t, Config{NextToReceive: 65536 + 256, Received: 256})
		err := e.Receive(0, regular(t, core.Number(65536+d), "x"), func(Delivery) Verdict { return Take })
		check.Equal(t, fmt.Sprint("stale at ", d), errors.Is(err, ErrStale), d >= 32768)
	}
}

// The id of a fragment was not checked against their number.
func TestF25(t *testing.T) {
	e := newEnd(t, fragmenting)
	for id := 2; id < 256; id++ {
		check.That(t, errors.Is(e.Receive(0, []byte{1, 0, 0, byte(id), 1, 'a'}, nil), ErrFragmentIDOutOfRange), "out of range")
	}
}

// Overhead that was not counted made packets larger than the buffer: no datagram is above
// what section 2 says, with the largest header.
func TestF26(t *testing.T) {
	for fragmentSize, want := range map[int]int{1024: 1169, 1155: 1169, 1156: 1170, 1160: MaxDatagram} {
		e := newEnd(t, Config{Format: Format{FragmentSize: fragmentSize}, NextToReceive: 1000})
		for n := core.Number(1001); n < 1033; n += 5 {
			e.gets(regular(t, n, "x"))
		}
		largest := 0
		for _, size := range []int{1, 1160, 1161, 2048, 16384} {
			for _, d := range e.sends(strings.Repeat("p", size)) {
				largest = max(largest, len(d))
			}
		}
		check.Equal(t, fmt.Sprint("largest datagram with fragments of ", fragmentSize), largest, want)
	}
	check.Equal(t, "as the document says", MaxDatagram, 1174)
}
