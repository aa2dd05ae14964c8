package oracle

// DecodeBody decodes a bare body: DEC-4 to DEC-11 and DEC-14. Its error is an
// *Error.
func DecodeBody(kind string, body []byte) (Packet, error) {
	r := &reader{stream: Unpack(body)}
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
	r := &reader{stream: Unpack(datagram)}
	if r.left() < 32 {
		return Packet{}, &Error{Truncated, "DEC-1", 0}
	}
	if r.bits(32) != uint64(DatagramCRC(protocolID, datagram[4:])) {
		return Packet{}, &Error{CRCMismatch, "DEC-2", 0}
	}
	if r.left() < 1 {
		return Packet{}, &Error{Truncated, "DEC-3", r.at}
	}
	kind := TypeSlice
	if r.bits(1) == 1 {
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

// body reads the fields of a body, up to where an align ends it.
func (r *reader) body(kind string) (Packet, error) {
	p := Packet{Type: kind}
	if r.left() < 16 {
		return p, &Error{Truncated, "DEC-4", r.at}
	}
	p.ChunkID = int64(r.bits(16))
	if kind == TypeAck {
		return p, r.ack(&p)
	}
	return p, r.slice(&p)
}

func (r *reader) slice(p *Packet) error {
	if r.left() < 8 {
		return &Error{Truncated, "DEC-5", r.at}
	}
	sliceIDAt := r.at
	p.SliceID = r.int(0, 255)
	if r.left() < 8 {
		return &Error{Truncated, "DEC-6", r.at}
	}
	p.NumSlices = r.int(1, MaxSlices)
	if p.SliceID >= p.NumSlices {
		return &Error{SliceIDOutOfRange, "DEC-7", sliceIDAt}
	}
	size := SliceSize
	if p.SliceID == p.NumSlices-1 {
		if r.left() < 10 {
			return &Error{Truncated, "DEC-8", r.at}
		}
		size = int(r.int(1, SliceSize))
	}
	paddingAt := r.at
	if !r.align() {
		return &Error{NonzeroPadding, "DEC-10", paddingAt}
	}
	if r.left() < 8*size {
		return &Error{Truncated, "DEC-11", r.at}
	}
	p.Data = r.bytes(size)
	return nil
}

func (r *reader) ack(p *Packet) error {
	if r.left() < 8 {
		return &Error{Truncated, "DEC-6", r.at}
	}
	p.NumSlices = r.int(1, MaxSlices)
	if r.left() < int(p.NumSlices) {
		return &Error{Truncated, "DEC-9", r.at}
	}
	for range p.NumSlices {
		p.Acked = append(p.Acked, r.bits(1) == 1)
	}
	paddingAt := r.at
	if !r.align() {
		return &Error{NonzeroPadding, "DEC-10", paddingAt}
	}
	return nil
}

func (r *reader) endCheck() error {
	if r.left() < 32 {
		return &Error{Truncated, "DEC-12", r.at}
	}
	at := r.at
	if r.bits(32) != EndCheck {
		return &Error{BadEndCheck, "DEC-13", at}
	}
	return nil
}

func (r *reader) end() error {
	if r.left() > 0 {
		return &Error{TrailingData, "DEC-14", r.at}
	}
	return nil
}
