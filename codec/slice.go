package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Slice is one piece of a chunk (section 4.1).
type Slice struct {
	ChunkID   uint16 // all of its values are valid (ENC-1)
	SliceID   int    // 0..NumSlices-1 (SLC-2)
	NumSlices int    // 1..MaxSlices
	Data      []byte // SliceSize bytes; in the last slice 1..SliceSize (SLC-3)
}

// Last reports whether the slice is its chunk's last, the one that carries its
// own length.
func (s *Slice) Last() bool { return s.SliceID == s.NumSlices-1 }

// DatagramSize returns the size in bytes of the datagram that carries s.
func (s *Slice) DatagramSize() int {
	if s.Last() {
		return 14 + len(s.Data)
	}
	return 13 + len(s.Data)
}

// Validate returns ErrInvalidField when s cannot be represented (ENC-2 to ENC-4).
func (s *Slice) Validate() error {
	switch n := len(s.Data); {
	case s.NumSlices < 1 || s.NumSlices > MaxSlices:
		return frame.NumSlicesInvalid.At(24)
	case s.SliceID < 0 || s.SliceID >= s.NumSlices:
		return sliceIDInvalid.At(16)
	case s.Last() && (n < 1 || n > SliceSize):
		return dataInvalid.At(32)
	case !s.Last() && n != SliceSize:
		return dataInvalid.At(32)
	}
	return nil
}

// append writes the fields of a valid slice (SLC-1).
func (s *Slice) append(w *bitpack.Writer) {
	w.Bits(uint32(s.ChunkID), 16)
	w.Bits(uint32(s.SliceID), 8)
	w.Bits(uint32(s.NumSlices-1), 8)
	if s.Last() {
		w.Bits(uint32(len(s.Data)-1), 10)
	}
	w.Bytes(s.Data)
}

// slice reads the fields of a slice (DEC-4 to DEC-8, DEC-10, DEC-11).
func slice(d *frame.Decoder) (s Slice) {
	s.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	at := d.Offset()
	s.SliceID = int(d.Field(8, sliceIDMissing))
	s.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	d.Check(s.SliceID < s.NumSlices, sliceIDTooLarge, at)
	size := SliceSize
	if s.Last() {
		size = int(d.Field(10, sliceBytesMissing)) + 1
	}
	d.Padding()
	s.Data = d.Data(size)
	return s
}

// AppendSliceBody appends the body of s to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func AppendSliceBody(dst []byte, s Slice) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return dst, err
	}
	w := bitpack.NewWriter(dst)
	s.append(&w)
	return w.Finish()
}

// DecodeSliceBody decodes a body that holds a slice and nothing else (DEC-17).
// Data points into body.
func DecodeSliceBody(body []byte) (Slice, error) {
	d := frame.NewDecoder(body)
	s := slice(&d)
	if d.End(); d.Err != nil {
		return Slice{}, d.Err
	}
	return s, nil
}
