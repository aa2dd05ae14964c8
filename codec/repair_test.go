package codec_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
)

func repairSlice(chunkID uint16, id, n, last int, data []byte) codec.Packet {
	return codec.Packet{Slice: codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: n, LastBytes: last, Data: data}}
}

func repairAck(chunkID uint16, n, have, top int) codec.Packet {
	return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: chunkID, NumSlices: n, Have: have, Top: top}}
}

// The bytes of a packing of single bits, made by another program (RPS-1, RPA-1).
func TestRepairGolden(t *testing.T) {
	checkGolden(t, codec.Repair, repairFramer, []goldenCase{
		{"smallest slice", "00000000000041", "7be156dd00000000000041e2ac0899", repairSlice(0, 0, 1, 1, []byte("A"))},
		{"last of three", "0100024080000102030405", "a0ca68a40200048000010102030405e2ac0899", repairSlice(1, 2, 3, 5, []byte{1, 2, 3, 4, 5})},
		{"last repair slice of one slice", "3412ff1f6000deadbeef", "fc6d057d6824fe3fc000deadbeefe2ac0899", repairSlice(0x1234, 8191, 1, 4, []byte{0xde, 0xad, 0xbe, 0xef})},
		{"last of 256", "ffffffe05f00616263", "c415c5f6feffffc1bf00616263e2ac0899", repairSlice(0xffff, 255, 256, 3, []byte("abc"))},
		{"hold", "341200000000", "dbf2a1ce692400000000e2ac0899", repairAck(0x1234, 1, 0, 0)},
		{"ack of two of three", "070002020800", "317d96be0f0004041000e2ac0899", repairAck(7, 3, 2, 4)},
		{"ack of 255 of 256", "3412ffff5802", "83d860926924feffb104e2ac0899", repairAck(0x1234, 256, 255, 300)},
		{"ack of all", "ffffff00ff3f", "b4d76040ffffff01fe7fe2ac0899", repairAck(0xffff, 256, 256, 8191)},
	})
}

// A source slice is as long as in the chunk; a repair slice as the chunk's longest (RPS-2).
// An ack has always the same size (RPA-3).
func TestRepairSizes(t *testing.T) {
	checkSizes(t, codec.Repair, repairFramer, []sizeCase{
		{"not last", repairSlice(0, 0, 2, 5, make([]byte, 1024)), 1030, 1038},
		{"last, 1 byte", repairSlice(0, 255, 256, 1, make([]byte, 1)), 7, 15},
		{"last, full", repairSlice(0, 255, 256, 1024, make([]byte, 1024)), 1030, codec.MaxDatagramSize},
		{"repair", repairSlice(0, 256, 256, 1, make([]byte, 1024)), 1030, 1038},
		{"repair of one slice", repairSlice(0, 1, 1, 20, make([]byte, 20)), 26, 34},
		{"ack of 1", repairAck(0, 1, 1, 1), 6, codec.Repair.AckSize(1)},
		{"ack of 256", repairAck(0, 256, 256, 8191), 6, codec.Repair.AckSize(1)},
	})
}

func TestWhatIsASourceSlice(t *testing.T) {
	for id, want := range map[int]bool{0: true, 2: true, 3: false, 8191: false} {
		s := codec.Slice{SliceID: id, NumSlices: 3}
		check.Same(t, "source", s.Source(), want)
	}
}

// Each case starts from a good datagram and breaks one thing; the first of each kind of
// packet walk the truncations field by field (RPD-1 to RPD-6).
func TestRepairDatagramRefusals(t *testing.T) {
	last := repairSlice(7, 2, 3, 3, []byte("abc"))
	repaired := repairSlice(7, 3, 3, 3, bytes.Repeat([]byte{0xff}, 1024))
	acks := repairAck(7, 3, 2, 4)
	cut := func(n int) func([]byte) []byte { return func(d []byte) []byte { return reseal(d[:n]) } }
	flip := func(bits ...int) func([]byte) []byte {
		return func(d []byte) []byte {
			for _, bit := range bits {
				d[bit/8] ^= 1 << (bit % 8)
			}
			return reseal(d)
		}
	}
	more := func(d []byte) []byte { return reseal(append(d, 0)) }
	checkFaults(t, repairFramer, []faultCase{
		{"empty", last, func([]byte) []byte { return nil }, refusal{codec.ErrTruncated, "DEC-1", 0}},
		{"three bytes", last, cut(3), refusal{codec.ErrTruncated, "DEC-1", 0}},
		{"crc alone", last, cut(4), refusal{codec.ErrTruncated, "DEC-3", 32}},
		{"crc wrong", last, func(d []byte) []byte { d[0] ^= 1; return d }, refusal{codec.ErrCRCMismatch, "DEC-2", 0}},
		{"crc is checked before the rest", last, func(d []byte) []byte { return d[:5] }, refusal{codec.ErrCRCMismatch, "DEC-2", 0}},

		{"slice: in chunk_id", last, cut(6), refusal{codec.ErrTruncated, "DEC-4", 33}},
		{"slice: in id", last, cut(7), refusal{codec.ErrTruncated, "RPD-1", 49}},
		{"slice: in num_slices", last, cut(8), refusal{codec.ErrTruncated, "DEC-6", 62}},
		{"slice: in last_bytes", last, cut(9), refusal{codec.ErrTruncated, "RPD-2", 70}},
		{"slice: before the data", last, cut(10), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"slice: in the data", last, cut(12), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"slice: before the end check", last, cut(13), refusal{codec.ErrTruncated, "DEC-12", 104}},
		{"slice: in the end check", last, cut(16), refusal{codec.ErrTruncated, "DEC-12", 104}},
		{"slice: end check", last, flip(104), refusal{codec.ErrBadEndCheck, "DEC-13", 104}},
		{"slice: a byte too many", last, more, refusal{codec.ErrTrailingData, "DEC-14", 136}},
		{"slice: says a byte less", last, flip(70, 71), refusal{codec.ErrBadEndCheck, "DEC-13", 96}},
		{"slice: says four bytes more", last, flip(72), refusal{codec.ErrTruncated, "DEC-12", 136}},
		{"slice: says sixteen bytes more", last, flip(74), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"slice: says that it is not the last", last, flip(49), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"slice: says that it is a repair slice", last, flip(61), refusal{codec.ErrTruncated, "DEC-11", 80}},

		{"repair: data one short", repaired, cut(1033), refusal{codec.ErrTruncated, "DEC-11", 80}},
		{"repair: in the end check", repaired, cut(1037), refusal{codec.ErrTruncated, "DEC-12", 8272}},
		{"repair: a byte too many", repaired, more, refusal{codec.ErrTrailingData, "DEC-14", 8304}},

		{"ack: in chunk_id", acks, cut(5), refusal{codec.ErrTruncated, "DEC-4", 33}},
		{"ack: in num_slices", acks, cut(7), refusal{codec.ErrTruncated, "DEC-6", 49}},
		{"ack: in have", acks, cut(8), refusal{codec.ErrTruncated, "RPD-3", 57}},
		{"ack: in top", acks, cut(9), refusal{codec.ErrTruncated, "RPD-5", 66}},
		{"ack: have is above num_slices", acks, flip(59), refusal{codec.ErrHaveOutOfRange, "RPD-4", 57}},
		{"ack: have is one above num_slices", repairAck(7, 3, 3, 4), flip(57, 58, 59), refusal{codec.ErrHaveOutOfRange, "RPD-4", 57}},
		{"ack: have is checked before top is read", acks, func(d []byte) []byte { d[8] |= 2; return reseal(d[:9]) }, refusal{codec.ErrHaveOutOfRange, "RPD-4", 57}},
		{"ack: padding", acks, flip(79), refusal{codec.ErrNonzeroPadding, "DEC-10", 79}},
		{"ack: padding comes before the end check", acks, flip(79, 80), refusal{codec.ErrNonzeroPadding, "DEC-10", 79}},
		{"ack: in the end check", acks, cut(13), refusal{codec.ErrTruncated, "DEC-12", 80}},
		{"ack: end check", acks, flip(80), refusal{codec.ErrBadEndCheck, "DEC-13", 80}},
		{"ack: a byte too many", acks, more, refusal{codec.ErrTrailingData, "DEC-14", 112}},
	})
}

// Bodies are refused by the same checks, with places from their first bit (RPD-1 to RPD-6).
func TestRepairBodyRefusals(t *testing.T) {
	const aSlice, anAck = codec.TypeSlice, codec.TypeAck
	checkBodies(t, codec.Repair, []bodyCase{
		{"slice: empty", aSlice, "", refusal{codec.ErrTruncated, "DEC-4", 0}},
		{"slice: in id", aSlice, "010002", refusal{codec.ErrTruncated, "RPD-1", 16}},
		{"slice: in num_slices", aSlice, "01000240", refusal{codec.ErrTruncated, "DEC-6", 29}},
		{"slice: in last_bytes", aSlice, "0100024080", refusal{codec.ErrTruncated, "RPD-2", 37}},
		{"slice: padding", aSlice, "0100024080800102030405", refusal{codec.ErrNonzeroPadding, "DEC-10", 47}},
		{"slice: padding comes before missing data", aSlice, "010002408080", refusal{codec.ErrNonzeroPadding, "DEC-10", 47}},
		{"slice: in the data", aSlice, "01000240800001020304", refusal{codec.ErrTruncated, "DEC-11", 48}},
		{"slice: a byte too many", aSlice, "010002408000010203040506", refusal{codec.ErrTrailingData, "DEC-14", 88}},
		{"ack: empty", anAck, "", refusal{codec.ErrTruncated, "DEC-4", 0}},
		{"ack: in num_slices", anAck, "0700", refusal{codec.ErrTruncated, "DEC-6", 16}},
		{"ack: in have", anAck, "07000202", refusal{codec.ErrTruncated, "RPD-3", 24}},
		{"ack: have is above num_slices", anAck, "070002040800", refusal{codec.ErrHaveOutOfRange, "RPD-4", 24}},
		{"ack: in top", anAck, "0700020208", refusal{codec.ErrTruncated, "RPD-5", 33}},
		{"ack: padding", anAck, "070002020840", refusal{codec.ErrNonzeroPadding, "DEC-10", 46}},
		{"ack: a byte too many", anAck, "07000202080000", refusal{codec.ErrTrailingData, "DEC-14", 48}},
	})
}

// What does not fit its field is refused, the first field at fault counts, and nothing is
// written (RPE-1 to RPE-6).
func TestRepairEncoderRefusals(t *testing.T) {
	checkEncoder(t, codec.Repair, repairFramer, []encoderCase{
		{"no slices", repairSlice(0, -1, 0, 0, nil), refusal{codec.ErrInvalidField, "ENC-2", 29}},
		{"257 slices", repairSlice(0, 0, 257, 1, make([]byte, 1024)), refusal{codec.ErrInvalidField, "ENC-2", 29}},
		{"id below 0", repairSlice(0, -1, 1, 0, nil), refusal{codec.ErrInvalidField, "RPE-1", 16}},
		{"id 8192", repairSlice(0, 8192, 1, 1, []byte{1}), refusal{codec.ErrInvalidField, "RPE-1", 16}},
		{"last_bytes 0", repairSlice(0, 0, 1, 0, nil), refusal{codec.ErrInvalidField, "RPE-2", 37}},
		{"last_bytes 1025", repairSlice(0, 0, 1, 1025, make([]byte, 1025)), refusal{codec.ErrInvalidField, "RPE-2", 37}},
		{"last slice too short", repairSlice(0, 1, 2, 5, make([]byte, 4)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"last slice too long", repairSlice(0, 1, 2, 5, make([]byte, 6)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"full slice too short", repairSlice(0, 0, 2, 5, make([]byte, 1023)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"repair slice as short as the last", repairSlice(0, 2, 2, 5, make([]byte, 5)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"repair slice too long", repairSlice(0, 2, 2, 5, make([]byte, 1025)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"only slice too long", repairSlice(0, 0, 1, 5, make([]byte, 1024)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"repair slice of one slice too long", repairSlice(0, 1, 1, 5, make([]byte, 1024)), refusal{codec.ErrInvalidField, "RPE-3", 48}},
		{"ack of no slices", repairAck(0, 0, 1, -1), refusal{codec.ErrInvalidField, "ENC-2", 16}},
		{"ack of 257 slices", repairAck(0, 257, 0, 0), refusal{codec.ErrInvalidField, "ENC-2", 16}},
		{"have below 0", repairAck(0, 3, -1, -1), refusal{codec.ErrInvalidField, "RPE-4", 24}},
		{"have above num_slices", repairAck(0, 3, 4, 5), refusal{codec.ErrInvalidField, "RPE-4", 24}},
		{"top below 0", repairAck(0, 3, 0, -1), refusal{codec.ErrInvalidField, "RPE-5", 33}},
		{"top 8192", repairAck(0, 3, 3, 8192), refusal{codec.ErrInvalidField, "RPE-5", 33}},
		{"neither slice nor ack", codec.Packet{Type: 2}, refusal{codec.ErrInvalidField, "ENC-6", 0}},
	})
}

// An ack of one protocol is never one of the other, whatever its bytes: the protocol ids
// differ. The smallest slice is the same bytes in both.
func TestTheChunkProtocolHasOtherBytes(t *testing.T) {
	d := check.Must(repairFramer.Append(nil, repairAck(1, 8, 3, 4)))
	_, err := codec.NewFramer(protocolID).Decode(d)
	check.That(t, err != nil, "the other codec refuses it")
}

func repairDrawPacket(t *rapid.T) codec.Packet {
	n := rapid.OneOf(rapid.IntRange(1, 256), rapid.SampledFrom([]int{1, 2, 255, 256})).Draw(t, "num_slices")
	chunkID := rapid.Uint16().Draw(t, "chunk_id")
	if rapid.Bool().Draw(t, "is ack") {
		return repairAck(chunkID, n, rapid.IntRange(0, n).Draw(t, "have"), rapid.IntRange(0, 8191).Draw(t, "top"))
	}
	id := rapid.OneOf(rapid.IntRange(0, 8191), rapid.SampledFrom([]int{n - 1, n, 8191})).Draw(t, "id")
	last := rapid.IntRange(1, 1024).Draw(t, "last_bytes")
	size := codec.SliceSize
	if n == 1 || id == n-1 {
		size = last
	}
	data := bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, size)
	data[0] = rapid.Byte().Draw(t, "first")
	return repairSlice(chunkID, id, n, last, data)
}

// Every prefix of a datagram is refused, and the reader stays inside it: the
// slices given have no capacity behind their end (LAW-3).
func TestRepairEveryPrefixIsRefused(t *testing.T) {
	for _, p := range []codec.Packet{repairSlice(3, 0, 2, 3, make([]byte, 1024)), repairSlice(3, 1, 2, 3, []byte("xyz")), repairSlice(3, 7, 1, 3, []byte("xyz")), repairAck(3, 200, 100, 150)} {
		whole := check.Must(repairFramer.Append(nil, p))
		for n := range whole {
			d := reseal(bytes.Clone(whole[:n]))
			_, err := repairFramer.Decode(d[:n:n])
			check.That(t, errors.Is(err, codec.ErrTruncated), "it is truncated")
		}
	}
}

func TestRepairDecodeDoesNotCopy(t *testing.T) {
	d := check.Must(repairFramer.Append(nil, repairSlice(1, 1, 1, 4, []byte("data"))))
	p, err := repairFramer.Decode(d)
	check.Same(t, "error", err, nil)
	check.That(t, &p.Slice.Data[0] == &d[10] && cap(p.Slice.Data) == 4, "the data are those of the datagram")
}

// Whatever a datagram says (LAW-4).
func TestRepairNothingIsAllocated(t *testing.T) {
	dst := make([]byte, 0, codec.MaxDatagramSize)
	full, acks := repairSlice(1, 2, 2, 7, make([]byte, 1024)), repairAck(1, 256, 200, 300)
	good, goodAck := check.Must(repairFramer.Append(nil, full)), check.Must(repairFramer.Append(nil, acks))
	broken := func(d []byte, at int) []byte { d = bytes.Clone(d); d[at] ^= 0x80; return reseal(d) }
	badEnd, badPadding, badHave := broken(good, 1037), broken(goodAck, 9), broken(check.Must(repairFramer.Append(nil, repairAck(1, 1, 0, 0))), 7)
	for name, run := range map[string]func() error{
		"encode slice":      func() error { _, err := repairFramer.AppendSlice(dst, full.Slice); return err },
		"encode ack":        func() error { _, err := repairFramer.AppendAck(dst, acks.Ack); return err },
		"encode slice body": func() error { _, err := codec.Repair.AppendSliceBody(dst, full.Slice); return err },
		"encode ack body":   func() error { _, err := codec.Repair.AppendAckBody(dst, acks.Ack); return err },
		"decode slice":      func() error { _, err := repairFramer.Decode(good); return err },
		"decode ack":        func() error { _, err := repairFramer.Decode(goodAck); return err },
		"refuse encode":     func() error { _, err := repairFramer.AppendSlice(dst, codec.Slice{}); return err },
		"refuse ack":        func() error { _, err := repairFramer.AppendAck(dst, codec.Ack{NumSlices: 1, Have: 2}); return err },
		"refuse crc":        func() error { _, err := repairFramer.Decode(good[:100]); return err },
		"refuse end check":  func() error { _, err := repairFramer.Decode(badEnd); return err },
		"refuse empty":      func() error { _, err := repairFramer.Decode(nil); return err },
		"refuse padding":    func() error { _, err := repairFramer.Decode(badPadding); return err },
		"refuse have":       func() error { _, err := repairFramer.Decode(badHave); return err },
	} {
		t.Run(name, func(t *testing.T) {
			check.Equal(t, "refused", run() != nil, strings.HasPrefix(name, "refuse"))
			check.Equal(t, "allocations", testing.AllocsPerRun(100, func() { _ = run() }), 0)
		})
	}
}
