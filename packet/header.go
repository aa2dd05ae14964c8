package packet

import (
	"encoding/binary"
	"math/bits"
)

// MaxHeader is the largest header of a packet, in bytes.
const MaxHeader = 9

// The bits of a prefix (section 3.1).
const (
	fragmentBit  = 1 << 0
	ackBitsShift = 1 // bits 1 to 4: bytes of ack_bits
	distanceBit  = 1 << 5
	reserved     = 1<<6 | 1<<7
)

// Header is the header of a packet: its number, and the acks (PKT-1).
type Header struct {
	Sequence uint16 // the number of this packet, its low 16 bits
	Ack      uint16 // the newest number known of the peer; 65535 before the first
	AckBits  uint32 // bit n: Ack - n was received
}

// Size returns how many bytes the header has: 4 to MaxHeader (PKT-3).
func (h Header) Size() int {
	n := 5
	if h.Sequence-h.Ack <= 255 {
		n = 4
	}
	present, _ := h.elided()
	return n + bits.OnesCount8(present)
}

// elided returns which bytes of ack_bits are on the wire, because they are not 0xFF, as
// the low 4 bits, and these bytes, lowest first (PKT-2).
func (h Header) elided() (present uint8, packed uint32) {
	var n uint
	for i := range uint(4) {
		if b := h.AckBits >> (8 * i) & 0xff; b != 0xff {
			present |= 1 << i
			packed |= b << (8 * n)
			n++
		}
	}
	return present, packed
}

// Append appends the one encoding of the header to dst. There is one for every value.
func (h Header) Append(dst []byte) []byte {
	present, packed := h.elided()
	var out [MaxHeader]byte
	out[0] = present << ackBitsShift
	binary.LittleEndian.PutUint16(out[1:], h.Sequence)
	n := 4
	if d := h.Sequence - h.Ack; d <= 255 {
		out[0] |= distanceBit
		out[3] = byte(d)
	} else {
		binary.LittleEndian.PutUint16(out[3:], h.Ack)
		n = 5
	}
	binary.LittleEndian.PutUint32(out[n:], packed)
	return append(dst, out[:n+bits.OnesCount8(present)]...)
}

// DecodeHeader decodes the header with which b begins, and returns how many bytes it has.
// What follows is not looked at (PKD-1 to PKD-5).
func DecodeHeader(b []byte) (h Header, size int, err error) {
	if len(b) == 0 {
		return h, 0, prefixMissing.At(0)
	}
	if b[0]&(fragmentBit|reserved) != 0 {
		return h, 0, prefixReserved.At(0)
	}
	size, e := h.decode(b, 0)
	if e != nil {
		return Header{}, 0, e
	}
	return h, size, nil
}

// decode decodes the header that begins at a place, of which the prefix is there and
// sound. It returns where the header ends (PKD-3 to PKD-5).
func (h *Header) decode(b []byte, at int) (end int, err *Error) {
	prefix, end := b[at], at+3
	if len(b) < end {
		return 0, sequenceMissing.At(at + 1)
	}
	h.Sequence = binary.LittleEndian.Uint16(b[at+1:])
	switch {
	case prefix&distanceBit != 0 && len(b) > end:
		h.Ack = h.Sequence - uint16(b[end])
		end++
	case prefix&distanceBit == 0 && len(b) > end+1:
		h.Ack = binary.LittleEndian.Uint16(b[end:])
		if h.Sequence-h.Ack <= 255 {
			return 0, ackNotMinimal.At(end)
		}
		end += 2
	default:
		return 0, ackMissing.At(end)
	}
	h.AckBits = 0xffffffff
	for i, present := 0, prefix>>ackBitsShift&15; present != 0; i, present = i+8, present>>1 {
		if present&1 == 0 {
			continue
		}
		if end >= len(b) {
			return 0, bitsMissing.At(end)
		}
		if b[end] == 0xff {
			return 0, bitsNotMinimal.At(end)
		}
		h.AckBits ^= uint32(^b[end]) << i
		end++
	}
	return end, nil
}
