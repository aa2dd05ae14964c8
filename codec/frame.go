package codec

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/bitpack"
)

// endCheck closes every datagram (FRM-6).
const endCheck = 0x9908ACE2

// Type distinguishes the two packets. Its values are those on the wire.
type Type uint8

// The types (FRM-3).
const (
	TypeSlice Type = 0
	TypeAck   Type = 1
)

func (t Type) String() string {
	switch t {
	case TypeSlice:
		return "slice"
	case TypeAck:
		return "ack"
	}
	return "invalid"
}

// Packet is a Slice or an Ack, as Type says; the other is zero.
type Packet struct {
	Type  Type
	Slice Slice
	Ack   Ack
}

// Framer encodes and decodes the datagrams of one protocol id (section 5). It
// is a small value that may be copied and shared.
type Framer struct {
	protocolID uint32
	seed       uint32 // crc of the protocol id and the zero field
}

// NewFramer returns the Framer for a protocol id.
func NewFramer(protocolID uint32) Framer {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], protocolID)
	return Framer{protocolID, crc32.ChecksumIEEE(head[:])}
}

// ProtocolID returns the id that the Framer was made for.
func (f Framer) ProtocolID() uint32 { return f.protocolID }

// AppendSlice appends the datagram that carries s to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendSlice(dst []byte, s Slice) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return dst, err
	}
	w := begin(dst, TypeSlice)
	s.append(&w)
	return f.finish(dst, &w)
}

// AppendAck appends the datagram that carries a to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendAck(dst []byte, a Ack) ([]byte, error) {
	if err := a.Validate(); err != nil {
		return dst, err
	}
	w := begin(dst, TypeAck)
	a.append(&w)
	return f.finish(dst, &w)
}

// Append appends the datagram that carries p to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) Append(dst []byte, p Packet) ([]byte, error) {
	switch p.Type {
	case TypeSlice:
		return f.AppendSlice(dst, p.Slice)
	case TypeAck:
		return f.AppendAck(dst, p.Ack)
	}
	return dst, typeInvalid.At(0)
}

// begin starts a datagram: space for the crc, then the type (FRM-1). The body's
// fields follow at bit 33, and align counts from the datagram's start (FRM-4).
func begin(dst []byte, t Type) bitpack.Writer {
	w := bitpack.NewWriter(dst)
	w.Bits(0, 32)
	w.Bits(uint32(t), 1)
	return w
}

// finish ends the datagram behind dst and puts its crc in place (FRM-1).
func (f Framer) finish(dst []byte, w *bitpack.Writer) ([]byte, error) {
	w.Align()
	w.Bits(endCheck, 32)
	out, err := w.Finish()
	if err == nil {
		datagram := out[len(dst):]
		binary.LittleEndian.PutUint32(datagram, f.crc(datagram))
	}
	return out, err
}

// crc returns the checksum over everything behind the crc field (FRM-2).
func (f Framer) crc(datagram []byte) uint32 {
	return crc32.Update(f.seed, crc32.IEEETable, datagram[4:])
}

// CheckSize refuses a datagram of n bytes that is longer than any can be, with
// ErrTrailingData. A driver may do that before it decodes, and so compute no crc
// over bytes without a bound (DEC-16).
func CheckSize(n int) error {
	if n > MaxDatagramSize {
		return tooLong.At(8 * MaxDatagramSize)
	}
	return nil
}

// Decode decodes a whole datagram. Slice data points into it. The checks and
// their order are those of section 6.3 (DEC-15).
func (f Framer) Decode(datagram []byte) (Packet, error) {
	switch {
	case len(datagram) < 4:
		return Packet{}, crcMissing.At(0)
	case binary.LittleEndian.Uint32(datagram) != f.crc(datagram):
		return Packet{}, crcWrong.At(0)
	}
	d := newDecoder(datagram)
	_, _ = d.Bits(32)
	p := d.packet()
	if d.err != nil {
		return Packet{}, d.err
	}
	return p, nil
}

// packet reads a datagram behind its crc (DEC-3 to DEC-14).
func (d *decoder) packet() (p Packet) {
	p.Type = Type(d.bits(1, typeMissing))
	if p.Type == TypeSlice {
		p.Slice = d.slice()
	} else {
		p.Ack = d.ack()
	}
	at := d.Offset()
	d.check(d.bits(32, endCheckMissing) == endCheck, endCheckWrong, at)
	d.end()
	return p
}
