package frame_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/frame"
)

const protocolID = 0x11223344

var (
	framed     = frame.New(protocolID)
	wordBroken = frame.FieldRule("first", frame.CodeTruncated, "ends inside a word")
)

// seal makes a datagram of a type with two bytes in it.
func seal(packetType uint8, dst []byte) []byte {
	w := frame.Begin(dst, packetType)
	w.Bytes([]byte{0xAB, 0xCD})
	return check.Must(framed.Finish(dst, &w))
}

// reseal puts the right crc on bytes that were changed.
func reseal(datagram []byte) []byte {
	head := binary.LittleEndian.AppendUint64(nil, protocolID)
	binary.LittleEndian.PutUint32(datagram, crc32.ChecksumIEEE(append(head, datagram[4:]...)))
	return datagram
}

// The crc, a bit of type, the body from a byte on, and the end check (FRM-1 to FRM-6).
func TestBytes(t *testing.T) {
	for packetType, want := range map[uint8]string{0: "00abcde2ac0899", 1: "01abcde2ac0899"} {
		d := seal(packetType, nil)
		check.Same(t, "bytes behind the crc", hex.EncodeToString(d[4:]), want)
		check.Bytes(t, "with the crc", d, reseal(append([]byte(nil), d...)))
		check.Bytes(t, "behind other bytes", seal(packetType, []byte("kept")), append([]byte("kept"), d...))
	}
	check.Same(t, "protocol id", framed.ProtocolID(), protocolID)
}

// The body's bits begin behind that of the type, and the end check at the next byte.
func TestBitsOfABody(t *testing.T) {
	w := frame.Begin(nil, 0)
	w.Bits(0x7f, 7)
	w.Bits(1, 1)
	d := check.Must(framed.Finish(nil, &w))
	check.Same(t, "bytes behind the crc", hex.EncodeToString(d[4:]), "fe01e2ac0899")
}

// A writer that was given what cannot be has no datagram.
func TestWhatCannotBeWritten(t *testing.T) {
	w := frame.Begin([]byte("kept"), 0)
	w.Bits(2, 1)
	d, err := framed.Finish([]byte("kept"), &w)
	check.That(t, err != nil, "it fails")
	check.Same(t, "bytes", string(d), "kept")
}

func open(datagram []byte) (packetType uint8, body []byte, err *core.Error) {
	d, packetType := framed.Open(datagram)
	d.Padding()
	body = d.Data(2)
	d.Close()
	return packetType, body, d.Err
}

func TestOpen(t *testing.T) {
	for _, want := range []uint8{0, 1} {
		packetType, body, err := open(seal(want, nil))
		check.That(t, err == nil, "there is no error")
		check.Same(t, "type", packetType, want)
		check.Bytes(t, "body", body, []byte{0xAB, 0xCD})
	}
}

// The first check that fails counts, with its place (DEC-1 to DEC-3, DEC-10 to DEC-15).
func TestRefusals(t *testing.T) {
	good := func() []byte { return seal(1, nil) }
	flip := func(bit int) []byte { d := good(); d[bit/8] ^= 1 << (bit % 8); return reseal(d) }
	for _, c := range []struct {
		name     string
		datagram []byte
		rule     string
		place    int
		code     core.Code
	}{
		{"empty", nil, "DEC-1", 0, frame.CodeTruncated},
		{"three bytes", good()[:3], "DEC-1", 0, frame.CodeTruncated},
		{"crc", append([]byte{good()[0] ^ 1}, good()[1:]...), "DEC-2", 0, frame.CodeCRCMismatch},
		{"cut", good()[:6], "DEC-2", 0, frame.CodeCRCMismatch},
		{"no type", reseal(good()[:4]), "DEC-3", 32, frame.CodeTruncated},
		{"padding", flip(39), "DEC-10", 33, frame.CodeNonzeroPadding},
		{"data", reseal(good()[:6]), "DEC-11", 40, frame.CodeTruncated},
		{"end check cut", reseal(good()[:10]), "DEC-12", 56, frame.CodeTruncated},
		{"end check", flip(56), "DEC-13", 56, frame.CodeBadEndCheck},
		{"a byte too many", reseal(append(good(), 0)), "DEC-14", 88, frame.CodeTrailingData},
	} {
		_, _, err := open(c.datagram)
		check.That(t, err != nil, c.name+": it is refused")
		check.Equal(t, c.name, []any{err.Rule(), err.Place(), err.Code()}, []any{c.rule, c.place, c.code})
		check.That(t, errors.Is(err, frame.Format.Sentinel(c.code)), c.name+": it is the code's")
	}
	_, none := framed.Open(nil)
	check.Same(t, "type of nothing", none, 0)
	_, other := frame.New(protocolID + 1).Open(good())
	d, _ := frame.New(protocolID + 1).Open(good())
	check.Same(t, "type of what is refused", other, 1)
	check.Same(t, "rule of another protocol id", d.Err.Rule(), "DEC-2")
}

// A decoder of a body counts from its first bit (DEC-17).
func TestADecoderOfABody(t *testing.T) {
	d := frame.NewDecoder([]byte{0x34, 0x12, 1})
	check.Same(t, "number", d.Field(16, wordBroken), 0x1234)
	check.That(t, d.Err == nil, "there is no error")
	check.Same(t, "number that is cut", d.Field(16, wordBroken), 0)
	check.Same(t, "place", d.Err.Place(), 16)
	d.End()
	check.Same(t, "the first refusal stays", d.Err.Rule(), "first")
}

// No refusal up to the largest place allocates, and the places are exact.
func TestRefusalsAreMadeInAdvance(t *testing.T) {
	byteBroken := frame.ByteRule("second", frame.CodeTruncated, "ends inside bytes")
	for _, c := range []struct {
		rule  *core.Rule
		place int
		want  float64
	}{{wordBroken, 0, 0}, {wordBroken, 313, 0}, {wordBroken, 314, 1}, {byteBroken, 8 * 1038, 0}, {byteBroken, 8 * 1039, 1}, {byteBroken, 4, 1}} {
		check.Equal(t, "allocations", testing.AllocsPerRun(10, func() { sink = c.rule.At(c.place) }), c.want)
		check.Same(t, "place", sink.Place(), c.place)
	}
}

var sink *core.Error
