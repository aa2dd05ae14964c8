package repairoracle

import (
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle"
)

// The types of packets, by the names that the port contract gives them.
const (
	TypeSlice = oracle.TypeSlice
	TypeAck   = oracle.TypeAck
)

// Packet is a slice or an ack. Its numbers hold more than the wire does, so that it can be
// asked what an encoder refuses.
type Packet struct {
	Type      string
	ChunkID   int64
	NumSlices int64
	SliceID   int64 // of a slice, as the next two
	LastBytes int64
	Data      []byte
	Have      int64 // of an ack, as the next
	Top       int64 // the field
}

// The codes that repair adds or uses.
const (
	Truncated      = oracle.Truncated
	CRCMismatch    = oracle.CRCMismatch
	NonzeroPadding = oracle.NonzeroPadding
	HaveOutOfRange = "have_out_of_range"
	BadEndCheck    = oracle.BadEndCheck
	TrailingData   = oracle.TrailingData
	InvalidField   = oracle.InvalidField
)

// Error is a refusal. A decoder's place is in bits.
type Error = layout.Fault

// EncodeBody returns a packet's bare body. Its error is an *Error.
func EncodeBody(p Packet) ([]byte, error) { return encode("repair-body", p, nil) }

// EncodeDatagram returns a packet's datagram. Its error is an *Error.
func EncodeDatagram(protocolID uint32, p Packet) ([]byte, error) {
	return encode("repair-datagram", p, framed(protocolID))
}

func framed(protocolID uint32) layout.Parameters {
	return layout.Parameters{"PROTOCOL_ID": int64(protocolID)}
}

func encode(name string, p Packet, in layout.Parameters) ([]byte, error) {
	b, refused := layout.Encode(name, layout.Names{}.Get(p), in)
	if refused != nil {
		return nil, refused
	}
	return b, nil
}

// DecodeBody decodes a bare body. Its error is an *Error.
func DecodeBody(kind string, body []byte) (Packet, error) {
	return decode("repair-body", body, nil, layout.Values{"type": kind})
}

// DecodeDatagram decodes a datagram. Its error is an *Error.
func DecodeDatagram(protocolID uint32, datagram []byte) (Packet, error) {
	return decode("repair-datagram", datagram, framed(protocolID), nil)
}

func decode(name string, b []byte, in layout.Parameters, given layout.Values) (p Packet, err error) {
	v, refused := layout.Decode(name, b, in, given)
	if refused != nil {
		return p, refused
	}
	layout.Names{}.Put(v, &p)
	return p, nil
}
