package repairoracle

import (
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
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

// EncodeBody returns a packet's bare body. Its error is an *Error.
func EncodeBody(p Packet) ([]byte, error) {
	if err := refuse(p); err != nil {
		return nil, err
	}
	var s stream.Stream
	addBody(&s, p)
	return s.Pack(), nil
}

// EncodeDatagram returns a packet's datagram. Its error is an *Error.
func EncodeDatagram(protocolID uint32, p Packet) ([]byte, error) {
	if err := refuse(p); err != nil {
		return nil, err
	}
	var s stream.Stream
	s.Bits(0, 32) // the crc's place
	s.Bool(p.Type == TypeAck)
	addBody(&s, p)
	s.Align()
	s.Bits(oracle.EndCheck, 32)
	return oracle.Seal(protocolID, s.Pack()[4:]), nil
}

// addBody adds the fields of a valid packet's body (RPS-1, RPA-1).
func addBody(s *stream.Stream, p Packet) {
	s.Bits(uint64(p.ChunkID), 16)
	if p.Type == TypeAck {
		s.Int(p.NumSlices, 1, MaxSlices)
		s.Bits(uint64(p.Have), 9)
		s.Bits(uint64(p.Top), 13)
		s.Align()
		return
	}
	s.Bits(uint64(p.SliceID), 13)
	s.Int(p.NumSlices, 1, MaxSlices)
	s.Int(p.LastBytes, 1, SliceSize)
	s.Bytes(p.Data)
}

// refuse is what an encoder refuses.
func refuse(p Packet) error {
	invalid := func(sentence string) error { return &Error{Code: InvalidField, Sentence: sentence} }
	outside := func(v, low, high int64) bool { return v < low || v > high }
	switch {
	case p.Type != TypeSlice && p.Type != TypeAck:
		return invalid("ENC-6")
	case outside(p.ChunkID, 0, 65535):
		return invalid("ENC-1")
	case outside(p.NumSlices, 1, MaxSlices):
		return invalid("ENC-2")
	}
	if p.Type == TypeAck {
		switch {
		case outside(p.Have, 0, p.NumSlices):
			return invalid("RPE-4")
		case outside(p.Top, 0, MaxIDs-1):
			return invalid("RPE-5")
		}
		return nil
	}
	switch {
	case outside(p.SliceID, 0, MaxIDs-1):
		return invalid("RPE-1")
	case outside(p.LastBytes, 1, SliceSize):
		return invalid("RPE-2")
	case int64(len(p.Data)) != DataSize(p.NumSlices, p.LastBytes, p.SliceID):
		return invalid("RPE-3")
	}
	return nil
}

// DecodeBody decodes a bare body. Its error is an *Error.
func DecodeBody(kind string, body []byte) (Packet, error) {
	r := reader{stream.NewReader(body)}
	p, err := r.body(kind)
	if err == nil {
		err = r.end()
	}
	return p, err
}

// DecodeDatagram decodes a datagram. Its error is an *Error.
func DecodeDatagram(protocolID uint32, datagram []byte) (p Packet, err error) {
	r := reader{stream.NewReader(datagram)}
	if r.Left() < 32 {
		return p, &Error{Truncated, "DEC-1", 0}
	}
	if r.Bits(32) != uint64(oracle.DatagramCRC(protocolID, datagram[4:])) {
		return p, &Error{CRCMismatch, "DEC-2", 0}
	}
	if err = r.need(1, "DEC-3"); err != nil {
		return p, err
	}
	kind := TypeSlice
	if r.Bits(1) == 1 {
		kind = TypeAck
	}
	p, err = r.body(kind)
	if err == nil {
		err = r.endCheck()
	}
	if err == nil {
		err = r.end()
	}
	return p, err
}

// reader reads packets.
type reader struct{ *stream.Reader }

// need is the check that so many bits are left.
func (r reader) need(bits int, sentence string) error {
	if r.Left() < bits {
		return &Error{Truncated, sentence, r.At()}
	}
	return nil
}

// body reads the fields of a body, in order, each behind its check.
func (r reader) body(kind string) (p Packet, err error) {
	p.Type = kind
	field := func(bits int, sentence string) (v int64) {
		if err == nil {
			if err = r.need(bits, sentence); err == nil {
				v = int64(r.Bits(bits))
			}
		}
		return v
	}
	p.ChunkID = field(16, "DEC-4")
	if kind == TypeAck {
		p.NumSlices = field(8, "DEC-6") + 1
		at := r.At()
		p.Have = field(9, "RPD-3")
		if err == nil && p.Have > p.NumSlices {
			err = &Error{HaveOutOfRange, "RPD-4", at}
		}
		p.Top = field(13, "RPD-5")
		if err == nil {
			err = r.padding()
		}
		return p, err
	}
	p.SliceID = field(13, "RPD-1")
	p.NumSlices = field(8, "DEC-6") + 1
	p.LastBytes = field(10, "RPD-2") + 1
	if err == nil {
		err = r.padding()
	}
	size := DataSize(p.NumSlices, p.LastBytes, p.SliceID)
	if err == nil {
		err = r.need(8*int(size), "DEC-11")
	}
	if err == nil {
		p.Data = r.Bytes(int(size))
	}
	return p, err
}

func (r reader) padding() error {
	if at := r.At(); !r.Align() {
		return &Error{NonzeroPadding, "DEC-10", at}
	}
	return nil
}

func (r reader) endCheck() error {
	if err := r.need(32, "DEC-12"); err != nil {
		return err
	}
	if at := r.At(); r.Bits(32) != oracle.EndCheck {
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
