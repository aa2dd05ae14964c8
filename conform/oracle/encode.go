package oracle

import "github.com/chunkwire/chunkwire/conform/oracle/stream"

// EncodeBody returns a packet's bare body. Its error is an *Error.
func EncodeBody(p Packet) ([]byte, error) {
	if err := refuse(p); err != nil {
		return nil, err
	}
	var s stream.Stream
	addBody(&s, p)
	return s.Pack(), nil
}

// EncodeDatagram returns a packet's datagram (FRM-1). Its error is an *Error.
func EncodeDatagram(protocolID uint32, p Packet) ([]byte, error) {
	if err := refuse(p); err != nil {
		return nil, err
	}
	var s stream.Stream
	s.Bits(0, 32) // the crc's place, so that align counts from it (FRM-4)
	s.Bool(p.Type == TypeAck)
	addBody(&s, p)
	s.Align()
	s.Bits(EndCheck, 32)
	return Seal(protocolID, s.Pack()[4:]), nil
}

// addBody adds the fields of a valid packet's body (SLC-1, ACK-1).
func addBody(s *stream.Stream, p Packet) {
	s.Bits(uint64(p.ChunkID), 16)
	if p.Type == TypeAck {
		s.Int(p.NumSlices, 1, MaxSlices)
		for k := range p.NumSlices {
			s.Bool(int(k) < len(p.Acked) && p.Acked[k])
		}
		return
	}
	s.Int(p.SliceID, 0, 255)
	s.Int(p.NumSlices, 1, MaxSlices)
	if p.SliceID == p.NumSlices-1 {
		s.Int(int64(len(p.Data)), 1, SliceSize)
	}
	s.Bytes(p.Data)
}

// refuse is section 6.2.
func refuse(p Packet) error {
	invalid := func(sentence string) error { return &Error{Code: InvalidField, Sentence: sentence} }
	switch {
	case p.Type != TypeSlice && p.Type != TypeAck:
		return invalid("ENC-6")
	case p.ChunkID < 0 || p.ChunkID > 65535:
		return invalid("ENC-1")
	case p.NumSlices < 1 || p.NumSlices > MaxSlices:
		return invalid("ENC-2")
	}
	if p.Type == TypeAck {
		for k, bit := range p.Acked {
			if bit && int64(k) >= p.NumSlices {
				return invalid("ENC-5")
			}
		}
		return nil
	}
	size, last := len(p.Data), p.SliceID == p.NumSlices-1
	switch {
	case p.SliceID < 0 || p.SliceID >= p.NumSlices:
		return invalid("ENC-3")
	case size > SliceSize, last && size < 1, !last && size != SliceSize:
		return invalid("ENC-4")
	}
	return nil
}
