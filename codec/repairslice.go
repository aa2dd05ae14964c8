package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// repairSize returns the length of the data of a slice of kind Repair: a repair slice is as
// long as the chunk's longest slice (RPS-2, RPC-4).
func (s *Slice) repairSize() int {
	if s.NumSlices == 1 || s.Last() {
		return s.LastBytes
	}
	return SliceSize
}

// validateRepair checks a slice of kind Repair (RPE-1 to RPE-3, RPE-6).
func (s *Slice) validateRepair() error {
	switch {
	case s.NumSlices < 1 || s.NumSlices > MaxSlices:
		return frame.NumSlicesInvalid.At(29)
	case s.SliceID < 0 || s.SliceID >= erasure.MaxIDs:
		return repairIDInvalid.At(16)
	case s.LastBytes < 1 || s.LastBytes > SliceSize:
		return lastBytesInvalid.At(37)
	case len(s.Data) != s.repairSize():
		return repairDataInvalid.At(48)
	}
	return nil
}

// appendRepair writes the fields of a valid slice (RPS-1).
func (s *Slice) appendRepair(w *bitpack.Writer) {
	w.Bits(uint32(s.ChunkID), 16)
	w.Bits(uint32(s.SliceID), 13)
	w.Bits(uint32(s.NumSlices-1), 8)
	w.Bits(uint32(s.LastBytes-1), 10)
	w.Bytes(s.Data)
}

// repairSlice reads the fields of a slice (RPD-1, RPD-2, RPD-6).
func repairSlice(d *frame.Decoder) (s Slice) {
	s.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	s.SliceID = int(d.Field(13, repairIDMissing))
	s.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	s.LastBytes = int(d.Field(10, lastBytesMissing)) + 1
	d.Padding()
	s.Data = d.Data(s.repairSize())
	return s
}
