package repair

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Slice is a source slice or a repair slice of a chunk (section 4.1).
type Slice struct {
	ChunkID   uint16 // all of its values are valid
	ID        int    // 0..erasure.MaxIDs-1; from NumSlices on it is a repair slice
	NumSlices int    // 1..codec.MaxSlices
	LastBytes int    // of the chunk's last source slice: 1..codec.SliceSize (RPS-3)
	Data      []byte // SliceSize bytes; LastBytes of the last source slice, and of all if there is one (RPS-2)
}

// Source reports whether the slice is part of the chunk itself.
func (s *Slice) Source() bool { return s.ID < s.NumSlices }

// size returns the length of the slice's data: a repair slice is as long as the chunk's
// longest slice (RPS-2, RPC-4).
func (s *Slice) size() int {
	if s.NumSlices == 1 || s.ID == s.NumSlices-1 {
		return s.LastBytes
	}
	return codec.SliceSize
}

// DatagramSize returns the size in bytes of the datagram that carries s.
func (s *Slice) DatagramSize() int { return 14 + len(s.Data) }

// Validate returns codec.ErrInvalidField when s cannot be represented (RPE-1 to RPE-3,
// RPE-6).
func (s *Slice) Validate() error {
	switch {
	case s.NumSlices < 1 || s.NumSlices > codec.MaxSlices:
		return frame.NumSlicesInvalid.At(29)
	case s.ID < 0 || s.ID >= erasure.MaxIDs:
		return idInvalid.At(16)
	case s.LastBytes < 1 || s.LastBytes > codec.SliceSize:
		return lastBytesInvalid.At(37)
	case len(s.Data) != s.size():
		return dataInvalid.At(48)
	}
	return nil
}

// append writes the fields of a valid slice (RPS-1).
func (s *Slice) append(w *bitpack.Writer) {
	w.Bits(uint32(s.ChunkID), 16)
	w.Bits(uint32(s.ID), 13)
	w.Bits(uint32(s.NumSlices-1), 8)
	w.Bits(uint32(s.LastBytes-1), 10)
	w.Bytes(s.Data)
}

// slice reads the fields of a slice (RPD-1, RPD-2, RPD-6).
func slice(d *frame.Decoder) (s Slice) {
	s.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	s.ID = int(d.Field(13, idMissing))
	s.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	s.LastBytes = int(d.Field(10, lastBytesMissing)) + 1
	d.Padding()
	s.Data = d.Data(s.size())
	return s
}

// AppendSliceBody appends the body of s to dst. It fails with codec.ErrInvalidField,
// and then returns dst as it was.
func AppendSliceBody(dst []byte, s Slice) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return dst, err
	}
	w := bitpack.NewWriter(dst)
	s.append(&w)
	return w.Finish()
}

// DecodeSliceBody decodes a body that holds a slice and nothing else. Data points into
// body.
func DecodeSliceBody(body []byte) (Slice, error) {
	d := frame.NewDecoder(body)
	s := slice(&d)
	if d.End(); d.Err != nil {
		return Slice{}, d.Err
	}
	return s, nil
}
