package codec_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const protocolID = 0x11223344

var framer, repairFramer = codec.NewFramer(protocolID), codec.Repair.Framer(protocolID)

// kinds are both kinds of slices, with their frames and valid packets. The laws hold for each.
var kinds = []struct {
	codec.Kind
	framer codec.Framer
	draw   func(*rapid.T) codec.Packet
}{{codec.Named, framer, drawPacket}, {codec.Repair, repairFramer, repairDrawPacket}}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// acked builds an ack from a string of 0 and 1, slice 0 first.
func acked(chunkID uint16, bits string) codec.Ack {
	a := codec.Ack{ChunkID: chunkID, NumSlices: len(bits)}
	for i, c := range bits {
		if c == '1' {
			a.Acked.Add(i)
		}
	}
	return a
}

func slice(chunkID uint16, id, n int, data []byte) codec.Packet {
	return codec.Packet{Slice: codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: n, Data: data}}
}

func ack(chunkID uint16, bits string) codec.Packet {
	return codec.Packet{Type: codec.TypeAck, Ack: acked(chunkID, bits)}
}

func appendBody(kind codec.Kind, p codec.Packet) ([]byte, error) {
	if p.Type == codec.TypeAck {
		return kind.AppendAckBody(nil, p.Ack)
	}
	return kind.AppendSliceBody(nil, p.Slice)
}

func decodeBody(kind codec.Kind, is codec.Type, body []byte) (codec.Packet, error) {
	p := codec.Packet{Type: is}
	var err error
	if is == codec.TypeAck {
		p.Ack, err = kind.DecodeAckBody(body)
	} else {
		p.Slice, err = kind.DecodeSliceBody(body)
	}
	return p, err
}

type goldenCase struct {
	name, body, datagram string
	packet               codec.Packet
}

// The bytes that the original implementation makes (SLC-1, ACK-1, FRM-1
// to FRM-6).
func TestGolden(t *testing.T) {
	checkGolden(t, codec.Named, framer, []goldenCase{
		{"smallest slice", "00000000000041", "7be156dd00000000000041e2ac0899", slice(0, 0, 1, []byte("A"))},
		{"last of three", "0100020204000102030405", "4414a8920200040408000102030405e2ac0899", slice(1, 2, 3, []byte{1, 2, 3, 4, 5})},
		{"only slice", "341200000300deadbeef", "ca918a1e682400000600deadbeefe2ac0899", slice(0x1234, 0, 1, []byte{0xde, 0xad, 0xbe, 0xef})},
		{"ack of one", "34120001", "8a803ded69240002e2ac0899", ack(0x1234, "1")},
		{"ack of eight", "34120755", "5b8ed56c69240eaa00e2ac0899", ack(0x1234, "10101010")},
		{"ack of nine", "3412085501", "a83af421692410aa02e2ac0899", ack(0x1234, "101010101")},
	})
}

func checkGolden(t *testing.T, kind codec.Kind, f codec.Framer, cases []goldenCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body, err := appendBody(kind, c.packet)
			if got := hex.EncodeToString(body); err != nil || got != c.body {
				t.Errorf("body %s, %v, want %s", got, err, c.body)
			}
			datagram, err := f.Append(nil, c.packet)
			if got := hex.EncodeToString(datagram); err != nil || got != c.datagram {
				t.Errorf("datagram %s, %v, want %s", got, err, c.datagram)
			}
			back, err := decodeBody(kind, c.packet.Type, unhex(t, c.body))
			if diff := cmp.Diff(c.packet, back); err != nil || diff != "" {
				t.Errorf("body decodes to %v\n%s", err, diff)
			}
			back, err = f.Decode(unhex(t, c.datagram))
			if diff := cmp.Diff(c.packet, back); err != nil || diff != "" {
				t.Errorf("datagram decodes to %v\n%s", err, diff)
			}
		})
	}
}

type sizeCase struct {
	name           string
	packet         codec.Packet
	body, datagram int
}

// The sizes of section 5, bare and framed (FRM-7, LIM-4).
func TestSizes(t *testing.T) {
	checkSizes(t, codec.Named, framer, []sizeCase{
		{"slice, not last", slice(0, 0, 2, make([]byte, 1024)), 1028, 1037},
		{"last slice, 1 byte", slice(0, 255, 256, make([]byte, 1)), 7, 15},
		{"last slice, full", slice(0, 255, 256, make([]byte, 1024)), 1030, codec.MaxDatagramSize},
		{"ack of 1", ack(0, strings.Repeat("1", 1)), 4, 12},
		{"ack of 7", ack(0, strings.Repeat("1", 7)), 4, 12},
		{"ack of 8", ack(0, strings.Repeat("1", 8)), 4, 13},
		{"ack of 9", ack(0, strings.Repeat("1", 9)), 5, 13},
		{"ack of 255", ack(0, strings.Repeat("1", 255)), 35, 43},
		{"ack of 256", ack(0, strings.Repeat("1", 256)), 35, codec.MaxAckSize},
	})
}

func checkSizes(t *testing.T, kind codec.Kind, f codec.Framer, cases []sizeCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body, err := appendBody(kind, c.packet)
			if err != nil || len(body) != c.body {
				t.Errorf("body of %d bytes, %v, want %d", len(body), err, c.body)
			}
			datagram, err := f.Append(nil, c.packet)
			if err != nil || len(datagram) != c.datagram {
				t.Errorf("datagram of %d bytes, %v, want %d", len(datagram), err, c.datagram)
			}
			size := c.packet.Slice.DatagramSize()
			if c.packet.Type == codec.TypeAck {
				size = kind.AckSize(c.packet.Ack.NumSlices)
			}
			if size != c.datagram {
				t.Errorf("it is said to be of %d bytes, not %d", size, c.datagram)
			}
		})
	}
}

func TestNumSlices(t *testing.T) {
	for size, want := range map[int]int{1: 1, 1023: 1, 1024: 1, 1025: 2, 261120: 255, 261121: 256, 262143: 256, 262144: 256} {
		if got := codec.NumSlices(size); got != want {
			t.Errorf("NumSlices(%d) = %d, want %d", size, got, want)
		}
	}
}

// refusal is what a decoder or encoder must answer.
type refusal struct {
	sentinel error
	rule     string
	bit      int
}

func (want refusal) check(t *testing.T, err error) {
	t.Helper()
	var e *codec.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal by %s", err, want.rule)
	}
	if !errors.Is(err, want.sentinel) || e.Rule() != want.rule || e.Place() != want.bit {
		t.Errorf("got %q, want %v by %s at bit %d", err, want.sentinel, want.rule, want.bit)
	}
	for _, other := range sentinels {
		if other != want.sentinel && errors.Is(err, other) {
			t.Errorf("%q is also %v", err, other)
		}
	}
	if text := fmt.Sprintf("%+v", err); !strings.Contains(text, want.rule) || !strings.Contains(text, string(e.Code())) {
		t.Errorf("the text %q names not both code and rule", text)
	}
}

var sentinels = []error{
	codec.ErrTruncated, codec.ErrCRCMismatch, codec.ErrNonzeroPadding, codec.ErrSliceIDOutOfRange,
	codec.ErrBadEndCheck, codec.ErrTrailingData, codec.ErrInvalidField, codec.ErrHaveOutOfRange,
}

// reseal puts the right crc on bytes that were changed, so that a decoder gets
// as far as the change.
func reseal(datagram []byte) []byte {
	if len(datagram) >= 4 {
		head := binary.LittleEndian.AppendUint32(nil, protocolID)
		head = append(head, 0, 0, 0, 0)
		crc := crc32.ChecksumIEEE(append(head, datagram[4:]...))
		binary.LittleEndian.PutUint32(datagram, crc)
	}
	return datagram
}

type faultCase struct {
	name   string
	packet codec.Packet
	fault  func([]byte) []byte
	want   refusal
}

// Each case starts from a good datagram and breaks one thing; the first three
// of each kind of packet walk the truncations field by field (DEC-15).
func TestDatagramRefusals(t *testing.T) {
	last := slice(7, 2, 3, []byte("abc"))
	full := slice(7, 1, 3, bytes.Repeat([]byte{0xff}, 1024))
	acks := ack(7, "101010101")
	cut := func(n int) func([]byte) []byte { return func(d []byte) []byte { return reseal(d[:n]) } }
	flip := func(bit int) func([]byte) []byte {
		return func(d []byte) []byte { d[bit/8] ^= 1 << (bit % 8); return reseal(d) }
	}
	checkFaults(t, framer, []faultCase{
		{"empty", last, func([]byte) []byte { return nil }, refusal{codec.ErrTruncated, "DEC-1", 0}},
		{"three bytes", last, cut(3), refusal{codec.ErrTruncated, "DEC-1", 0}},
		{"crc alone", last, cut(4), refusal{codec.ErrTruncated, "DEC-3", 32}},
		{"crc wrong", last, func(d []byte) []byte { d[0] ^= 1; return d }, refusal{codec.ErrCRCMismatch, "DEC-2", 0}},
		{"payload changed", last, func(d []byte) []byte { d[11] ^= 1; return d }, refusal{codec.ErrCRCMismatch, "DEC-2", 0}},
		{"crc is checked before the rest", last, func(d []byte) []byte { return d[:5] }, refusal{codec.ErrCRCMismatch, "DEC-2", 0}},

		{"slice: in chunk_id", last, cut(6), refusal{codec.ErrTruncated, "DEC-4", 33}},
		{"slice: in slice_id", last, cut(7), refusal{codec.ErrTruncated, "DEC-5", 49}},
		{"slice: in num_slices", last, cut(8), refusal{codec.ErrTruncated, "DEC-6", 57}},
		{"slice: in slice_bytes", last, cut(9), refusal{codec.ErrTruncated, "DEC-8", 65}},
		{"slice: before the data", last, cut(10), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"slice: in the data", last, cut(12), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"slice: before the end check", last, cut(13), refusal{codec.ErrTruncated, "DEC-12", 104}},
		{"slice: in the end check", last, cut(16), refusal{codec.ErrTruncated, "DEC-12", 104}},
		{"slice: slice_id is num_slices", last, flip(49), refusal{codec.ErrSliceIDOutOfRange, "DEC-7", 49}},
		{"slice: first bit of padding", last, flip(75), refusal{codec.ErrNonzeroPadding, "DEC-10", 75}},
		{"slice: last bit of padding", last, flip(79), refusal{codec.ErrNonzeroPadding, "DEC-10", 75}},
		{"slice: end check", last, flip(104), refusal{codec.ErrBadEndCheck, "DEC-13", 104}},
		{"slice: a byte too many", last, func(d []byte) []byte { return reseal(append(d, 0)) }, refusal{codec.ErrTrailingData, "DEC-14", 136}},
		{"slice: says one byte where three are", last, flip(66), refusal{codec.ErrBadEndCheck, "DEC-13", 88}},
		{"slice: says four bytes where three are", last, flip(65), refusal{codec.ErrTruncated, "DEC-12", 112}},

		{"full: padding", full, flip(65), refusal{codec.ErrNonzeroPadding, "DEC-10", 65}},
		{"full: padding comes before missing data", full, func(d []byte) []byte { d[8] |= 0x80; return reseal(d[:9]) }, refusal{codec.ErrNonzeroPadding, "DEC-10", 65}},
		{"full: data one short", full, cut(1032), refusal{codec.ErrTruncated, "DEC-11", 72}},
		{"full: in the end check", full, cut(1036), refusal{codec.ErrTruncated, "DEC-12", 8264}},
		{"full: end check", full, flip(8295), refusal{codec.ErrBadEndCheck, "DEC-13", 8264}},
		{"full: a byte too many", full, func(d []byte) []byte { return reseal(append(d, 0)) }, refusal{codec.ErrTrailingData, "DEC-14", 8296}},

		{"ack: in chunk_id", acks, cut(5), refusal{codec.ErrTruncated, "DEC-4", 33}},
		{"ack: in num_slices", acks, cut(7), refusal{codec.ErrTruncated, "DEC-6", 49}},
		{"ack: in the bits", acks, cut(8), refusal{codec.ErrTruncated, "DEC-9", 57}},
		{"ack: in the end check", acks, cut(12), refusal{codec.ErrTruncated, "DEC-12", 72}},
		{"ack: padding", acks, flip(66), refusal{codec.ErrNonzeroPadding, "DEC-10", 66}},
		{"ack: padding comes before the end check", acks, func(d []byte) []byte { d[8] |= 0x80; d[9] ^= 1; return reseal(d) }, refusal{codec.ErrNonzeroPadding, "DEC-10", 66}},
		{"ack: end check", acks, flip(72), refusal{codec.ErrBadEndCheck, "DEC-13", 72}},
		{"ack: a byte too many", acks, func(d []byte) []byte { return reseal(append(d, 0xe2)) }, refusal{codec.ErrTrailingData, "DEC-14", 104}},
		{"ack of 256: padding", ack(7, strings.Repeat("1", 256)), flip(313), refusal{codec.ErrNonzeroPadding, "DEC-10", 313}},
		{"ack of 256: a byte too many", ack(7, strings.Repeat("1", 256)), func(d []byte) []byte { return reseal(append(d, 0)) }, refusal{codec.ErrTrailingData, "DEC-14", 352}},
	})
}

func checkFaults(t *testing.T, f codec.Framer, cases []faultCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			good, err := f.Append(nil, c.packet)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Decode(good); err != nil {
				t.Fatalf("the case does not start good: %v", err)
			}
			p, err := f.Decode(c.fault(good))
			c.want.check(t, err)
			if diff := cmp.Diff(codec.Packet{}, p); diff != "" {
				t.Errorf("a refusal returned a value:\n%s", diff)
			}
		})
	}
}

type bodyCase struct {
	name string
	kind codec.Type
	hex  string
	want refusal
}

// Bodies are refused by the same checks, with places from their first bit
// (DEC-17).
func TestBodyRefusals(t *testing.T) {
	const aSlice, anAck = codec.TypeSlice, codec.TypeAck
	checkBodies(t, codec.Named, []bodyCase{
		{"slice: empty", aSlice, "", refusal{codec.ErrTruncated, "DEC-4", 0}},
		{"slice: in slice_id", aSlice, "0100", refusal{codec.ErrTruncated, "DEC-5", 16}},
		{"slice: in num_slices", aSlice, "010002", refusal{codec.ErrTruncated, "DEC-6", 24}},
		{"slice: slice_id is num_slices", aSlice, "01000302", refusal{codec.ErrSliceIDOutOfRange, "DEC-7", 16}},
		{"slice: in slice_bytes", aSlice, "0100020204", refusal{codec.ErrTruncated, "DEC-8", 32}},
		{"slice: padding", aSlice, "0100020204040102030405", refusal{codec.ErrNonzeroPadding, "DEC-10", 42}},
		{"slice: in the data", aSlice, "01000202040001020304", refusal{codec.ErrTruncated, "DEC-11", 48}},
		{"slice: not last, no data", aSlice, "01000102", refusal{codec.ErrTruncated, "DEC-11", 32}},
		{"slice: a byte too many", aSlice, "010002020400010203040506", refusal{codec.ErrTrailingData, "DEC-14", 88}},
		{"ack: empty", anAck, "", refusal{codec.ErrTruncated, "DEC-4", 0}},
		{"ack: in num_slices", anAck, "3412", refusal{codec.ErrTruncated, "DEC-6", 16}},
		{"ack: in the bits", anAck, "341207", refusal{codec.ErrTruncated, "DEC-9", 24}},
		{"ack: in the second word", anAck, "34123f" + strings.Repeat("ff", 7), refusal{codec.ErrTruncated, "DEC-9", 24}},
		{"ack: padding", anAck, "34120003", refusal{codec.ErrNonzeroPadding, "DEC-10", 25}},
		{"ack: a byte too many", anAck, "3412000100", refusal{codec.ErrTrailingData, "DEC-14", 32}},
	})
}

func checkBodies(t *testing.T, kind codec.Kind, cases []bodyCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := decodeBody(kind, c.kind, unhex(t, c.hex))
			c.want.check(t, err)
			if diff := cmp.Diff(codec.Packet{Type: c.kind}, p); diff != "" {
				t.Errorf("a refusal returned a value:\n%s", diff)
			}
		})
	}
}

type encoderCase struct {
	name   string
	packet codec.Packet
	want   refusal
}

// What does not fit its field is refused, and nothing is written
// (ENC-2 to ENC-7).
func TestEncoderRefusals(t *testing.T) {
	checkEncoder(t, codec.Named, framer, []encoderCase{
		{"no slices", slice(0, 0, 0, []byte{1}), refusal{codec.ErrInvalidField, "ENC-2", 24}},
		{"257 slices", slice(0, 0, 257, make([]byte, 1024)), refusal{codec.ErrInvalidField, "ENC-2", 24}},
		{"slice_id below 0", slice(0, -1, 1, []byte{1}), refusal{codec.ErrInvalidField, "ENC-3", 16}},
		{"slice_id is num_slices", slice(0, 1, 1, []byte{1}), refusal{codec.ErrInvalidField, "ENC-3", 16}},
		{"last slice empty", slice(0, 0, 1, nil), refusal{codec.ErrInvalidField, "ENC-4", 32}},
		{"last slice too long", slice(0, 0, 1, make([]byte, 1025)), refusal{codec.ErrInvalidField, "ENC-4", 32}},
		{"full slice too short", slice(0, 0, 2, make([]byte, 1023)), refusal{codec.ErrInvalidField, "ENC-4", 32}},
		{"full slice too long", slice(0, 0, 2, make([]byte, 1025)), refusal{codec.ErrInvalidField, "ENC-4", 32}},
		{"ack of no slices", ack(0, ""), refusal{codec.ErrInvalidField, "ENC-2", 16}},
		{"ack of 257 slices", codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{NumSlices: 257}}, refusal{codec.ErrInvalidField, "ENC-2", 16}},
		{"ack of a slice that is not there", codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{NumSlices: 8, Acked: core.FirstN(9)}}, refusal{codec.ErrInvalidField, "ENC-5", 24}},
		{"have of an ack of repair slices", codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{NumSlices: 8, Have: 1}}, refusal{codec.ErrInvalidField, "ENC-5", 24}},
		{"top of an ack of repair slices", codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{NumSlices: 8, Top: 1}}, refusal{codec.ErrInvalidField, "ENC-5", 24}},
		{"neither slice nor ack", codec.Packet{Type: 2}, refusal{codec.ErrInvalidField, "ENC-6", 0}},
	})
}

func checkEncoder(t *testing.T, kind codec.Kind, f codec.Framer, cases []encoderCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dst := []byte("kept")
			got, err := f.Append(dst, c.packet)
			c.want.check(t, err)
			if string(got) != "kept" {
				t.Errorf("the buffer is now %q", got)
			}
			if c.packet.Type <= codec.TypeAck {
				body, err := appendBody(kind, c.packet)
				c.want.check(t, err)
				if len(body) != 0 {
					t.Errorf("a refusal appended %x", body)
				}
				c.want.check(t, validate(kind, c.packet))
			}
		})
	}
}

func validate(kind codec.Kind, p codec.Packet) error {
	if p.Type == codec.TypeAck {
		return kind.ValidateAck(&p.Ack)
	}
	return kind.ValidateSlice(&p.Slice)
}

// The id is not sent, but it counts (FRM-2, FRM-5, RPN-1).
func TestAnotherProtocolIDIsRefused(t *testing.T) {
	for _, k := range kinds {
		d, _ := k.framer.Append(nil, codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{NumSlices: 1}})
		other := k.Framer(protocolID + 256)
		_, err := other.Decode(d)
		refusal{codec.ErrCRCMismatch, "DEC-2", 0}.check(t, err)
		if other.ProtocolID() != protocolID+256 {
			t.Errorf("the framer forgot its protocol id")
		}
	}
}

func TestDatagramSizeOfAnAck(t *testing.T) {
	for n, want := range map[int]int{1: 12, 7: 12, 8: 13, 9: 13, 255: 43, 256: 44} {
		if got := codec.Named.AckSize(n); got != want {
			t.Errorf("%d slices: DatagramSize() = %d, want %d", n, got, want)
		}
		datagram, err := framer.Append(nil, ack(0, strings.Repeat("1", n)))
		if err != nil || len(datagram) != want {
			t.Errorf("an ack of %d slices makes %d bytes, %v, want %d", n, len(datagram), err, want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for kind, want := range map[codec.Type]string{codec.TypeSlice: "slice", codec.TypeAck: "ack", 2: "invalid"} {
		if kind.String() != want {
			t.Errorf("%d is %q, want %q", kind, kind, want)
		}
	}
}

func TestSentinelTexts(t *testing.T) {
	for _, s := range sentinels {
		var e *codec.Error
		if !errors.As(s, &e) || e.Rule() != "" || s.Error() != "codec: "+string(e.Code()) {
			t.Errorf("sentinel %v", s)
		}
		if errors.Is(s, errors.New("foreign")) {
			t.Errorf("%v matches a foreign error", s)
		}
	}
}

func drawPacket(t *rapid.T) codec.Packet {
	n := rapid.OneOf(rapid.IntRange(1, 256), rapid.SampledFrom([]int{1, 7, 8, 9, 63, 64, 65, 255, 256})).Draw(t, "num_slices")
	chunkID := rapid.Uint16().Draw(t, "chunk_id")
	if rapid.Bool().Draw(t, "is ack") {
		a := codec.Ack{ChunkID: chunkID, NumSlices: n}
		for i := range a.Acked {
			a.Acked[i] = rapid.Uint64().Draw(t, "acked")
		}
		a.Acked = a.Acked.Intersect(core.FirstN(n))
		return codec.Packet{Type: codec.TypeAck, Ack: a}
	}
	id, size := rapid.IntRange(0, n-1).Draw(t, "slice_id"), codec.SliceSize
	if id == n-1 {
		size = rapid.IntRange(1, codec.SliceSize).Draw(t, "size")
	}
	data := bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, size)
	data[0] = rapid.Byte().Draw(t, "first")
	return slice(chunkID, id, n, data)
}

// A valid packet survives the round trip, alone and in a frame, behind
// whatever the caller's buffer holds (LAW-2, FRM-7).
func TestRoundTrip(t *testing.T) {
	for _, k := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			p := k.draw(t)
			f := k.Framer(rapid.Uint32().Draw(t, "protocol id"))
			out, err := f.Append([]byte("prefix"), p)
			if err != nil || string(out[:6]) != "prefix" {
				t.Fatal(err)
			}
			back, err := f.Decode(out[6:])
			if diff := cmp.Diff(p, back); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
			body, err := appendBody(k.Kind, p)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(k.Kind, p); err != nil {
				t.Fatal(err)
			}
			back, err = decodeBody(k.Kind, p.Type, body)
			if diff := cmp.Diff(p, back); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
		})
	}
}

// The canonical law: whatever the bytes, they are refused with nothing but an
// error of our own, or encode again to exactly themselves (LAW-1 to LAW-3).
func TestCanonicalLaw(t *testing.T) {
	for _, k := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			d, _ := k.framer.Append(nil, k.draw(t))
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				d = drawChange(t, d)
			}
			d = reseal(d)
			p, err := k.framer.Decode(d)
			var e *codec.Error
			switch {
			case err == nil:
				again, err := k.framer.Append(nil, p)
				if err != nil || !bytes.Equal(again, d) {
					t.Fatalf("accepted %x, which encodes to %x, %v", d, again, err)
				}
			case !errors.As(err, &e):
				t.Fatalf("a foreign error: %v", err)
			case e.Place() > 8*len(d):
				t.Fatalf("%v lies behind the end of %d bytes", err, len(d))
			}
			for _, kind := range []codec.Type{codec.TypeSlice, codec.TypeAck} {
				p, err := decodeBody(k.Kind, kind, d)
				if err == nil {
					if again, err := appendBody(k.Kind, p); err != nil || !bytes.Equal(again, d) {
						t.Fatalf("accepted body %x, which encodes to %x, %v", d, again, err)
					}
				}
			}
		})
	}
}

func drawChange(t *rapid.T, d []byte) []byte {
	if len(d) == 0 {
		return d
	}
	switch rapid.SampledFrom([]string{"flip", "head", "cut", "extend"}).Draw(t, "change") {
	case "flip":
		d[rapid.IntRange(0, len(d)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	case "head": // most fields stand in the first bytes
		d[rapid.IntRange(0, min(len(d), 12)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "value")
	case "cut":
		return d[:rapid.IntRange(0, len(d)).Draw(t, "length")]
	case "extend":
		return append(d, rapid.SliceOfN(rapid.Byte(), 1, 5).Draw(t, "tail")...)
	}
	return d
}

// Every prefix of a datagram is refused, and the reader stays inside it: the
// slices given have no capacity behind their end (LAW-3).
func TestEveryPrefixIsRefused(t *testing.T) {
	for _, p := range []codec.Packet{slice(3, 0, 2, make([]byte, 1024)), slice(3, 1, 2, []byte("xyz")), ack(3, strings.Repeat("01", 100))} {
		whole, _ := framer.Append(nil, p)
		for n := range whole {
			d := reseal(bytes.Clone(whole[:n]))
			if _, err := framer.Decode(d[:n:n]); !errors.Is(err, codec.ErrTruncated) {
				t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
			}
		}
	}
}

func TestDecodeDoesNotCopy(t *testing.T) {
	d, _ := framer.Append(nil, slice(1, 0, 1, []byte("data")))
	p, err := framer.Decode(d)
	if err != nil || &p.Slice.Data[0] != &d[10] {
		t.Errorf("the data does not point into the datagram (%v)", err)
	}
}

// Whatever a datagram says (LAW-4).
func TestNothingIsAllocated(t *testing.T) {
	dst := make([]byte, 0, codec.MaxDatagramSize)
	full := slice(1, 0, 2, make([]byte, 1024))
	acks := ack(1, strings.Repeat("10", 128))
	good, _ := framer.Append(nil, full)
	goodAck, _ := framer.Append(nil, acks)
	badEnd := bytes.Clone(good)
	badEnd[1036] ^= 1
	reseal(badEnd)
	badPadding := bytes.Clone(goodAck)
	badPadding[39] |= 0x80
	reseal(badPadding)
	cases := map[string]func() error{
		"encode slice":      func() error { _, err := framer.AppendSlice(dst, full.Slice); return err },
		"encode ack":        func() error { _, err := framer.AppendAck(dst, acks.Ack); return err },
		"encode slice body": func() error { _, err := codec.Named.AppendSliceBody(dst, full.Slice); return err },
		"encode ack body":   func() error { _, err := codec.Named.AppendAckBody(dst, acks.Ack); return err },
		"decode slice":      func() error { _, err := framer.Decode(good); return err },
		"decode ack":        func() error { _, err := framer.Decode(goodAck); return err },
		"refuse encode":     func() error { _, err := framer.AppendSlice(dst, codec.Slice{}); return err },
		"refuse crc":        func() error { _, err := framer.Decode(good[:100]); return err },
		"refuse end check":  func() error { _, err := framer.Decode(badEnd); return err },
		"refuse empty":      func() error { _, err := framer.Decode(nil); return err },
		"refuse padding":    func() error { _, err := framer.Decode(badPadding); return err },
		"refuse length":     func() error { return codec.CheckSize(codec.MaxDatagramSize + 1) },
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			if refused := run() != nil; refused != strings.HasPrefix(name, "refuse") {
				t.Fatalf("refused: %v", refused)
			}
			if allocs := testing.AllocsPerRun(100, func() { _ = run() }); allocs != 0 {
				t.Errorf("%v allocations a run", allocs)
			}
		})
	}
}
