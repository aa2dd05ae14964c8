package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Slice is one piece of a chunk (section 4.1), or a repair slice (section 4.1 of
// spec/REPAIR.md).
type Slice struct {
	ChunkID   uint16 // all of its values are valid (ENC-1)
	SliceID   int    // 0..NumSlices-1 (SLC-2); of kind Repair 0..erasure.MaxIDs-1, where from NumSlices on it is a repair slice
	NumSlices int    // 1..MaxSlices
	LastBytes int    // of kind Repair: the size of the chunk's last source slice, 1..SliceSize (RPS-3); else 0
	Data      []byte // SliceSize bytes; in the last slice 1..SliceSize (SLC-3, RPS-2)
}

// Last reports whether the slice is its chunk's last, which can be shorter than the others.
func (s *Slice) Last() bool { return s.SliceID == s.NumSlices-1 }

// Source reports whether the slice is part of the chunk itself, as every named slice is.
func (s *Slice) Source() bool { return s.SliceID < s.NumSlices }

// DatagramSize returns the size in bytes of the datagram that carries s.
func (s *Slice) DatagramSize() int {
	if s.LastBytes > 0 || s.Last() { // it carries a size
		return 14 + len(s.Data)
	}
	return 13 + len(s.Data)
}

// validateNamed checks a named slice (ENC-2 to ENC-4).
func (s *Slice) validateNamed() error {
	switch n := len(s.Data); {
	case s.NumSlices < 1 || s.NumSlices > MaxSlices:
		return frame.NumSlicesInvalid.At(24)
	case s.SliceID < 0 || s.SliceID >= s.NumSlices:
		return sliceIDInvalid.At(16)
	case s.Last() && (n < 1 || n > SliceSize):
		return dataInvalid.At(32)
	case !s.Last() && n != SliceSize, s.LastBytes != 0:
		return dataInvalid.At(32)
	}
	return nil
}

// appendNamed writes the fields of a valid slice (SLC-1).
func (s *Slice) appendNamed(w *bitpack.Writer) {
	w.Bits(uint32(s.ChunkID), 16)
	w.Bits(uint32(s.SliceID), 8)
	w.Bits(uint32(s.NumSlices-1), 8)
	if s.Last() {
		w.Bits(uint32(len(s.Data)-1), 10)
	}
	w.Bytes(s.Data)
}

// namedSlice reads the fields of a slice (DEC-4 to DEC-8, DEC-10, DEC-11).
func namedSlice(d *frame.Decoder) (s Slice) {
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
