package codec

import "github.com/chunkwire/chunkwire/internal/frame"

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

// Framer encodes and decodes the datagrams of one protocol id (section 5; RPN-1). It
// is a small value that can be copied and shared.
type Framer struct {
	frame frame.Frame
	kind  Kind
}

// NewFramer returns the Framer for a protocol id, with named slices.
func NewFramer(protocolID uint32) Framer { return Named.Framer(protocolID) }

// Framer returns the Framer for a protocol id, with slices of the kind.
func (k Kind) Framer(protocolID uint32) Framer { return Framer{frame.New(protocolID), k} }

// ProtocolID returns the id that the Framer was made for.
func (f Framer) ProtocolID() uint32 { return f.frame.ProtocolID() }

// AppendSlice appends the datagram that carries s to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendSlice(dst []byte, s Slice) ([]byte, error) {
	if err := f.kind.ValidateSlice(&s); err != nil {
		return dst, err
	}
	w := frame.Begin(dst, uint8(TypeSlice))
	f.kind.appendSlice(&w, &s)
	return f.frame.Finish(dst, &w)
}

// AppendAck appends the datagram that carries a to dst. It fails with
// ErrInvalidField, and then returns dst as it was.
func (f Framer) AppendAck(dst []byte, a Ack) ([]byte, error) {
	if err := f.kind.ValidateAck(&a); err != nil {
		return dst, err
	}
	w := frame.Begin(dst, uint8(TypeAck))
	f.kind.appendAck(&w, &a)
	return f.frame.Finish(dst, &w)
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
	return dst, frame.TypeInvalid.At(0)
}

// CheckSize refuses a datagram of n bytes that is longer than any can be, with
// ErrTrailingData. A driver can do that before it decodes, and so compute no crc
// over bytes without a bound (DEC-16).
func CheckSize(n int) error {
	if n > MaxDatagramSize {
		return tooLong.At(8 * MaxDatagramSize)
	}
	return nil
}

// Decode decodes a whole datagram. Slice data points into it. The checks and
// their order are in section 6.3 (DEC-15), and in section 4.5 of spec/REPAIR.md (RPD-6).
func (f Framer) Decode(datagram []byte) (Packet, error) {
	d, packetType := f.frame.Open(datagram)
	p := Packet{Type: Type(packetType)}
	if p.Type == TypeSlice {
		p.Slice = f.kind.slice(&d)
	} else {
		p.Ack = f.kind.ack(&d)
	}
	if d.Close(); d.Err != nil {
		return Packet{}, d.Err
	}
	return p, nil
}
