package oracle

import "github.com/chunkwire/chunkwire/conform/oracle/stream"

// DecodeBody decodes a bare body: DEC-4 to DEC-11 and DEC-14. Its error is an
// *Error.
func DecodeBody(kind string, body []byte) (Packet, error) {
	r := reader{stream.NewReader(body)}
	p, err := r.body(kind)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return Packet{}, err
	}
	return p, nil
}

// DecodeDatagram decodes a datagram: DEC-1 to DEC-14. Its error is an *Error.
func DecodeDatagram(protocolID uint32, datagram []byte) (Packet, error) {
	r := reader{stream.NewReader(datagram)}
	if r.Left() < 32 {
		return Packet{}, &Error{Truncated, "DEC-1", 0}
	}
	if r.Bits(32) != uint64(DatagramCRC(protocolID, datagram[4:])) {
		return Packet{}, &Error{CRCMismatch, "DEC-2", 0}
	}
	if r.Left() < 1 {
		return Packet{}, &Error{Truncated, "DEC-3", r.At()}
	}
	kind := TypeSlice
	if r.Bits(1) == 1 {
		kind = TypeAck
	}
	p, err := r.body(kind)
	if err == nil {
		err = r.endCheck()
	}
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return Packet{}, err
	}
	return p, nil
}

// reader reads packets.
type reader struct{ *stream.Reader }

// body reads the fields of a body, up to where an align ends it.
func (r reader) body(kind string) (Packet, error) {
	p := Packet{Type: kind}
	if r.Left() < 16 {
		return p, &Error{Truncated, "DEC-4", r.At()}
	}
	p.ChunkID = int64(r.Bits(16))
	if kind == TypeAck {
		return p, r.ack(&p)
	}
	return p, r.slice(&p)
}

func (r reader) slice(p *Packet) error {
	if r.Left() < 8 {
		return &Error{Truncated, "DEC-5", r.At()}
	}
	sliceIDAt := r.At()
	p.SliceID = r.Int(0, 255)
	if r.Left() < 8 {
		return &Error{Truncated, "DEC-6", r.At()}
	}
	p.NumSlices = r.Int(1, MaxSlices)
	if p.SliceID >= p.NumSlices {
		return &Error{SliceIDOutOfRange, "DEC-7", sliceIDAt}
	}
	size := SliceSize
	if p.SliceID == p.NumSlices-1 {
		if r.Left() < 10 {
			return &Error{Truncated, "DEC-8", r.At()}
		}
		size = int(r.Int(1, SliceSize))
	}
	paddingAt := r.At()
	if !r.Align() {
		return &Error{NonzeroPadding, "DEC-10", paddingAt}
	}
	if r.Left() < 8*size {
		return &Error{Truncated, "DEC-11", r.At()}
	}
	p.Data = r.Bytes(size)
	return nil
}

func (r reader) ack(p *Packet) error {
	if r.Left() < 8 {
		return &Error{Truncated, "DEC-6", r.At()}
	}
	p.NumSlices = r.Int(1, MaxSlices)
	if r.Left() < int(p.NumSlices) {
		return &Error{Truncated, "DEC-9", r.At()}
	}
	for range p.NumSlices {
		p.Acked = append(p.Acked, r.Bits(1) == 1)
	}
	paddingAt := r.At()
	if !r.Align() {
		return &Error{NonzeroPadding, "DEC-10", paddingAt}
	}
	return nil
}

func (r reader) endCheck() error {
	if r.Left() < 32 {
		return &Error{Truncated, "DEC-12", r.At()}
	}
	at := r.At()
	if r.Bits(32) != EndCheck {
		return &Error{BadEndCheck, "DEC-13", at}
	}
	return nil
}

func (r reader) end() error {
	if r.Left() > 0 {
		return &Error{TrailingData, "DEC-14", r.At()}
	}
	return nil
}
