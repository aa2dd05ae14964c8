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
	w := begin(dst, TypeSlice)
	s.write(&w)
	return f.finish(dst, &w), nil
}

// AppendAck appends the datagram that carries a to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendAck(dst []byte, a Ack) ([]byte, error) {
	if e := a.check(); e != nil {
		return dst, e
	}
	w := begin(dst, TypeAck)
	a.write(&w)
	return f.finish(dst, &w), nil
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

// begin starts a datagram: room for the crc, then the type.
func begin(dst []byte, t Type) bitpack.Writer {
	w := bitpack.NewWriter(dst)
	w.Bits(0, 32)
	w.Bits(uint64(t), 1)
	return w
}

// finish ends a datagram and puts its crc in place. The Writer cannot fail:
// check has passed every field.
func (f Framer) finish(dst []byte, w *bitpack.Writer) []byte {
	w.Align()
	w.Bits(endCheck, 32)
	out, _ := w.Finish()
	datagram := out[len(dst):]
	binary.LittleEndian.PutUint32(datagram, f.crc(datagram))
	return out
}

// crc returns the checksum over everything behind the crc field (FRM-2).
func (f Framer) crc(datagram []byte) uint32 {
	return crc32.Update(f.seed, crc32.IEEETable, datagram[4:])
}

// Decode decodes a whole datagram. Slice data points into it. The checks and
// their order are those of section 6.
func (f Framer) Decode(datagram []byte) (Packet, error) {
	p, e := f.decode(datagram)
	if e != nil {
		return Packet{}, e
	}
	return p, nil
}

func (f Framer) decode(datagram []byte) (p Packet, e *Error) {
	r := bitpack.NewReader(datagram)
	crc, err := r.Bits(32)
	if err != nil {
		return p, fault(crcMissing, 0)
	}
	if uint32(crc) != f.crc(datagram) {
		return p, fault(crcWrong, 0)
	}
	t, err := r.Bits(1)
	if err != nil {
		return p, fault(typeMissing, 32)
	}
	p.Type = Type(t)
	if p.Type == TypeSlice {
		p.Slice, e = readSlice(&r)
	} else {
		p.Ack, e = readAck(&r)
	}
	if e != nil {
		return p, e
	}
	return p, readEndOfFrame(&r)
}

// readEndOfFrame checks the padding, the end check, and that nothing follows
// (DEC-10, DEC-12 to DEC-14).
func readEndOfFrame(r *bitpack.Reader) *Error {
	if r.Align() != nil {
		return fault(paddingNotZero, r.Offset())
	}
	at := r.Offset()
	end, err := r.Bits(32)
	if err != nil {
		return fault(endCheckMissing, at)
	}
	if end != endCheck {
		return fault(endCheckWrong, at)
	}
	if r.Remaining() > 0 {
		return fault(bytesLeft, r.Offset())
	}
	return nil
}
