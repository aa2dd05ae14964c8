package oracle

import "github.com/chunkwire/chunkwire/conform/layout"

// Error is a refusal. A decoder's place is the bit that section 6.3 names.
type Error = layout.Fault

// EncodeBody returns a packet's bare body. Its error is an *Error.
func EncodeBody(p Packet) ([]byte, error) { return encode("chunk-body", p, nil) }

// EncodeDatagram returns a packet's datagram (FRM-1). Its error is an *Error.
func EncodeDatagram(protocolID uint32, p Packet) ([]byte, error) {
	return encode("chunk-datagram", p, framed(protocolID))
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

// DecodeBody decodes a bare body: DEC-4 to DEC-11 and DEC-14. Its error is an
// *Error.
func DecodeBody(kind string, body []byte) (Packet, error) {
	return decode("chunk-body", body, nil, layout.Values{"type": kind})
}

// DecodeDatagram decodes a datagram: DEC-1 to DEC-14. Its error is an *Error.
func DecodeDatagram(protocolID uint32, datagram []byte) (Packet, error) {
	return decode("chunk-datagram", datagram, framed(protocolID), nil)
}

func decode(name string, b []byte, in layout.Parameters, given layout.Values) (p Packet, err error) {
	v, refused := layout.Decode(name, b, in, given)
	if refused != nil {
		return p, refused
	}
	layout.Names{}.Put(v, &p)
	return p, nil
}
