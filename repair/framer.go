package repair

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Packet is a Slice or an Ack, as Type says; the other is zero.
type Packet struct {
	Type  codec.Type
	Slice Slice
	Ack   Ack
}

// Framer encodes and decodes the datagrams of one protocol id (RPN-1: the frame of
// section 5 of spec/PROTOCOL.md). It is a small value that
// may be copied and shared.
type Framer struct{ frame frame.Frame }

// NewFramer returns the Framer for a protocol id.
func NewFramer(protocolID uint32) Framer { return Framer{frame.New(protocolID)} }

// ProtocolID returns the id that the Framer was made for.
func (f Framer) ProtocolID() uint32 { return f.frame.ProtocolID() }

// AppendSlice appends the datagram that carries s to dst. It fails with
// codec.ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendSlice(dst []byte, s Slice) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return dst, err
	}
	w := frame.Begin(dst, uint8(codec.TypeSlice))
	s.append(&w)
	return f.frame.Finish(dst, &w)
}

// AppendAck appends the datagram that carries a to dst. It fails with
// codec.ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendAck(dst []byte, a Ack) ([]byte, error) {
	if err := a.Validate(); err != nil {
		return dst, err
	}
	w := frame.Begin(dst, uint8(codec.TypeAck))
	a.append(&w)
	return f.frame.Finish(dst, &w)
}

// Append appends the datagram that carries p to dst. It fails with
// codec.ErrInvalidField, and then returns dst as it was.
func (f Framer) Append(dst []byte, p Packet) ([]byte, error) {
	switch p.Type {
	case codec.TypeSlice:
		return f.AppendSlice(dst, p.Slice)
	case codec.TypeAck:
		return f.AppendAck(dst, p.Ack)
	}
	return dst, frame.TypeInvalid.At(0)
}

// Decode decodes a whole datagram. Slice data points into it. The checks and
// their order are those of section 4.5 (RPD-6).
func (f Framer) Decode(datagram []byte) (Packet, error) {
	d, packetType := f.frame.Open(datagram)
	p := Packet{Type: codec.Type(packetType)}
	if p.Type == codec.TypeSlice {
		p.Slice = slice(&d)
	} else {
		p.Ack = ack(&d)
	}
	if d.Close(); d.Err != nil {
		return Packet{}, d.Err
	}
	return p, nil
}
