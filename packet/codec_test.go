package packet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
)

const allSet = 0xffffffff

func unhex(s string) []byte { return check.Must(hex.DecodeString(strings.ReplaceAll(s, " ", ""))) }

// Headers at the corners of distance, wrap and elision (PKT-1, PKT-2). The bytes are those
// of reliable 1.4.0.
var headers = []struct {
	Header
	hex string
}{
	{Header{100, 99, allSet}, "20 6400 01"},
	{Header{0, 99, allSet}, "00 0000 6300"},
	{Header{0, 0, allSet}, "20 0000 00"},
	{Header{0, 65535, 0}, "3e 0000 01 00000000"},
	{Header{5, 5, 0xfffffffe}, "22 0500 00 fe"},
	{Header{255, 0, allSet}, "20 ff00 ff"},
	{Header{256, 0, allSet}, "00 0001 0000"},
	{Header{2, 65283, allSet}, "20 0200 ff"},
	{Header{1, 65280, allSet}, "00 0100 00ff"},
	{Header{32768, 0, allSet}, "00 0080 0000"},
	{Header{65535, 65280, allSet}, "20 ffff ff"},
	{Header{1000, 999, 0x80000000}, "3e e803 01 00000080"},
	{Header{1000, 999, 0x00ffffff}, "30 e803 01 00"},
	{Header{5, 65000, 0}, "1e 0500 e8fd 00000000"},
	{Header{5, 65000, 0xff00ff7f}, "0a 0500 e8fd 7f00"},
	{Header{65535, 0, 0x01020304}, "1e ffff 0000 04030201"},
}

func TestHeadersHaveTheBytesOfReliable(t *testing.T) {
	for _, c := range headers {
		want := unhex(c.hex)
		check.Equal(t, c.hex, c.Header.Append([]byte("kept")), append([]byte("kept"), want...))
		check.Equal(t, "size of "+c.hex, c.Header.Size(), len(want))
		h, size, err := DecodeHeader(append(want, 7))
		check.Same(t, "error", err, nil)
		check.Equal(t, c.hex, h, c.Header)
		check.Equal(t, "size", size, len(want))
	}
}

// refused are datagrams that a decoder of small refuses, each by another rule (PKD-1 to PKD-11).
var refused = []string{
	"", "60", "20", "006400 0100 61", "26640001ff", "20640001", "20640001" + strings.Repeat("61", 65), "016400",
	"016400 01 10 61", "016400 00 00 61", "016400 02 01 61", "016400 00 01 60640001", "016400 00 01 20650001 61616161",
	"016400 01 02 616161",
}

var small = Format{FragmentSize: 4, MaxFragments: 16}

// Every rule of the decoder has its cases, and every code its sentinel.
func TestSentinels(t *testing.T) {
	sentinels := []*Error{
		ErrTruncated, ErrReservedBits, ErrNotMinimal, ErrEmptyPayload, ErrTooLarge, ErrTooManyFragments, ErrSingleFragment,
		ErrFragmentIDOutOfRange, ErrSequenceMismatch, ErrFragmentSize, ErrStale, ErrDuplicate, ErrDead, ErrRefused,
		ErrFragmentCount, ErrFragmentDuplicate, ErrReassemblyFull,
	}
	for i, s := range sentinels {
		check.Equal(t, "code", s.Code(), codes[i])
	}
	check.Equal(t, "number of codes", len(sentinels), len(codes))
	check.Equal(t, "code", ErrPayloadSize.Code(), CodePayloadSize)
}

func drawData(t *rapid.T, size int) []byte {
	data := bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, size)
	data[0] = rapid.Byte().Draw(t, "first")
	return data
}

func drawHeader(t *rapid.T) Header {
	h := Header{Sequence: rapid.Uint16().Draw(t, "sequence"), AckBits: rapid.Uint32().Draw(t, "bits")}
	h.Ack = h.Sequence - uint16(rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 65535)).Draw(t, "distance"))
	for i := range 4 {
		if rapid.Bool().Draw(t, "all") {
			h.AckBits |= 0xff << (8 * i)
		}
	}
	return h
}

// A packet that can be encoded decodes to the same, behind whatever the buffer holds.
func TestPacketsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Format{rapid.IntRange(1, 1160).Draw(t, "fragment size"), rapid.IntRange(2, 256).Draw(t, "max fragments")}
		p := Packet{Header: drawHeader(t)}
		if rapid.Bool().Draw(t, "whole") {
			p.Data = drawData(t, rapid.IntRange(1, min(f.MaxPacket(), 3000)).Draw(t, "size"))
		} else {
			p.NumFragments = rapid.IntRange(2, f.MaxFragments).Draw(t, "fragments")
			p.FragmentID = rapid.IntRange(0, p.NumFragments-1).Draw(t, "id")
			size := f.FragmentSize
			if p.FragmentID == p.NumFragments-1 {
				size = rapid.IntRange(1, size).Draw(t, "size")
			}
			p.Data = drawData(t, size)
			if p.FragmentID > 0 {
				p.Header = Header{Sequence: p.Sequence}
			}
		}
		out, err := f.Append([]byte("kept"), &p)
		check.Same(t, "error", err, nil)
		check.Equal(t, "what was there", string(out[:4]), "kept")
		back, err := f.Decode(out[4:])
		check.Same(t, "error", err, nil)
		check.Equal(t, "packet", back, p)
	})
}

// Whatever is taken has no other encoding, and nothing panics (PKT-4, PKD-13, PKT-SAFE-4).
func TestWhatIsTakenIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Format{rapid.IntRange(1, 4).Draw(t, "fragment size"), rapid.IntRange(2, 4).Draw(t, "max fragments")}
		b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 3, 4, 0x20, 0x22, 0x30, 0x3e, 0x7f, 0xfe, 0xff}), 0, 20).Draw(t, "bytes")
		p, err := f.Decode(b)
		if err != nil {
			return
		}
		again, err := f.Append(nil, &p)
		check.Same(t, "error", err, nil)
		check.Equal(t, "bytes", again, b)
	})
}

// Bits that are flipped and bytes that are cut off a good datagram: it is refused, or is
// another good one.
func TestDamagedDatagrams(t *testing.T) {
	for _, whole := range [][]byte{
		unhex("1e6400 0180 00010203 61"), unhex("20640001 61"),
		unhex("016400 00 01 3e64000100010203 61616161"), unhex("016400 01 01 6161"),
	} {
		for i := range 8 * len(whole) {
			d := bytes.Clone(whole)
			d[i/8] ^= 1 << (i % 8)
			for n := range len(d) + 1 {
				if p, err := small.Decode(d[:n]); err == nil {
					check.Equal(t, "bytes", check.Must(small.Append(nil, &p)), d[:n])
				}
			}
		}
	}
}

func TestWhatAnEncoderRefuses(t *testing.T) {
	data := func(n int) []byte { return make([]byte, n) }
	for _, c := range []struct {
		name string
		Packet
		want  *Error
		place int
	}{
		{"no payload", Packet{}, ErrPayloadSize, -1},
		{"a payload too large", Packet{Data: data(65)}, ErrPayloadSize, -1},
		{"a whole packet with an id", Packet{FragmentID: 1, Data: data(4)}, ErrFragmentIDOutOfRange, 3},
		{"an id below 0", Packet{FragmentID: -1, NumFragments: 2, Data: data(4)}, ErrFragmentIDOutOfRange, 3},
		{"an id that is the number", Packet{FragmentID: 2, NumFragments: 2, Data: data(4)}, ErrFragmentIDOutOfRange, 3},
		{"one fragment", Packet{NumFragments: 1, Data: data(4)}, ErrSingleFragment, 4},
		{"fewer than none", Packet{NumFragments: -1, Data: data(4)}, ErrSingleFragment, 4},
		{"too many", Packet{NumFragments: 17, Data: data(4)}, ErrTooManyFragments, 4},
		{"the first too short", Packet{NumFragments: 2, Data: data(3)}, ErrFragmentSize, 13},
		{"the first too long", Packet{Header: Header{AckBits: allSet}, NumFragments: 2, Data: data(5)}, ErrFragmentSize, 9},
		{"the second too long", Packet{NumFragments: 3, FragmentID: 1, Data: data(5)}, ErrFragmentSize, 5},
		{"the last empty", Packet{NumFragments: 2, FragmentID: 1}, ErrFragmentSize, 5},
		{"the last too long", Packet{NumFragments: 2, FragmentID: 1, Data: data(5)}, ErrFragmentSize, 5},
	} {
		out, err := small.Append([]byte("kept"), &c.Packet)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.want) || e.Place() != c.place || string(out) != "kept" {
			t.Errorf("%s: %v, %q", c.name, err, out)
		}
	}
}

// A format that says nothing has the defaults.
func TestTheDefaultFormat(t *testing.T) {
	var f Format
	check.Equal(t, "largest packet", f.MaxPacket(), 16384)
	p := Packet{Header: Header{1, 0, allSet}, NumFragments: 16, FragmentID: 15, Data: []byte{1}}
	back, err := f.Decode(check.Must(f.Append(nil, &p)))
	check.Same(t, "error", err, nil)
	check.Equal(t, "fragment", back, Packet{Header: Header{Sequence: 1}, NumFragments: 16, FragmentID: 15, Data: []byte{1}})
}

// Neither what is taken nor what is refused allocates (PKD-13).
func TestTheCodecAllocatesNothing(t *testing.T) {
	var f Format
	p := Packet{Header: Header{100, 60000, 0x12345678}, Data: make([]byte, 200)}
	buffer := make([]byte, 0, MaxDatagram)
	var good []byte
	var bad [][]byte
	for _, text := range refused {
		bad = append(bad, unhex(text))
	}
	n := testing.AllocsPerRun(100, func() {
		good, _ = f.Append(buffer, &p)
		if _, err := f.Decode(good); err != nil {
			t.Fatal(err)
		}
		for _, b := range bad {
			if _, err := small.Decode(b); err == nil {
				t.Fatal("taken")
			}
		}
	})
	check.Equal(t, "allocations", n, 0)
}
