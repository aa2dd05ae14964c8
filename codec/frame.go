package codec

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/bitpack"
)

// endCheck closes every datagram (FRM-6).
const endCheck = 0x9908ACE2

// Type tells the two packets apart. Its values are those on the wire.
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
	if e := s.check(); e != nil {
		return dst, e
	}
	out, w := begin(dst, TypeSlice)
	return f.finish(append(s.head(w).Append(out), s.Data...), len(dst)), nil
}

// AppendAck appends the datagram that carries a to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendAck(dst []byte, a Ack) ([]byte, error) {
	if e := a.check(); e != nil {
		return dst, e
	}
	out := a.append(begin(dst, TypeAck))
	return f.finish(out, len(dst)), nil
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
	return dst, fault(typeInvalid, 0)
}

// begin starts a datagram: room for the crc, then the type (FRM-1).
func begin(dst []byte, t Type) ([]byte, bitpack.Word) {
	return append(dst, 0, 0, 0, 0), bitpack.Word{}.Put(uint64(t), 1)
}

// finish ends the datagram that begins at start and puts its crc in place (FRM-1).
func (f Framer) finish(out []byte, start int) []byte {
	out = binary.LittleEndian.AppendUint32(out, endCheck)
	datagram := out[start:]
	binary.LittleEndian.PutUint32(datagram, f.crc(datagram))
	return out
}

// crc returns the checksum over everything behind the crc field (FRM-2).
func (f Framer) crc(datagram []byte) uint32 {
	return crc32.Update(f.seed, crc32.IEEETable, datagram[4:])
}

// Decode decodes a whole datagram. Slice data points into it. The checks and
// their order are those of section 6 (DEC-15).
func (f Framer) Decode(datagram []byte) (p Packet, err error) {
	if len(datagram) < 4 {
		return Packet{}, fault(crcMissing, 0)
	}
	if binary.LittleEndian.Uint32(datagram) != f.crc(datagram) {
		return Packet{}, fault(crcWrong, 0)
	}
	if e := p.read(datagram[4:]); e != nil {
		return Packet{}, fault(e.rule, 32+e.Bit())
	}
	return p, nil
}

// read reads the stream b behind the crc, to its end (DEC-3 to DEC-14). The crc
// fills whole bytes, so b is aligned as the datagram is (FRM-4).
func (p *Packet) read(b []byte) *Error {
	if len(b) == 0 {
		return fault(typeMissing, 0)
	}
	p.Type = Type(b[0] & 1)
	var end int
	var e *Error
	if p.Type == TypeSlice {
		end, e = p.Slice.read(b, 1)
	} else {
		end, e = p.Ack.read(b, 1)
	}
	if e != nil {
		return e
	}
	switch rest := b[end:]; {
	case len(rest) < 4:
		return fault(endCheckMissing, 8*end)
	case binary.LittleEndian.Uint32(rest) != endCheck:
		return fault(endCheckWrong, 8*end)
	case len(rest) > 4:
		return fault(bytesLeft, 8*end+32)
	}
	return nil
}
