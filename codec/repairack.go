package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// repairAckSize is the size of a datagram that holds an ack of repair slices, in bytes
// (RPA-3).
const repairAckSize = 14

// validateRepair checks an ack of repair slices (RPE-4 to RPE-6).
func (a *Ack) validateRepair() error {
	switch {
	case a.NumSlices < 1 || a.NumSlices > MaxSlices:
		return frame.NumSlicesInvalid.At(16)
	case a.Have < 0 || a.Have > a.NumSlices:
		return haveInvalid.At(24)
	case a.Top < 0 || a.Top >= erasure.MaxIDs:
		return topInvalid.At(33)
	}
	return nil
}

// appendRepair writes the fields of a valid ack (RPA-1).
func (a *Ack) appendRepair(w *bitpack.Writer) {
	w.Bits(uint32(a.ChunkID), 16)
	w.Bits(uint32(a.NumSlices-1), 8)
	w.Bits(uint32(a.Have), 9)
	w.Bits(uint32(a.Top), 13)
}

// repairAck reads the fields of an ack (RPD-3 to RPD-6).
func repairAck(d *frame.Decoder) (a Ack) {
	a.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	a.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	at := d.Offset()
	a.Have = int(d.Field(9, haveMissing))
	d.Check(a.Have <= a.NumSlices, haveTooLarge, at)
	a.Top = int(d.Field(13, topMissing))
	d.Padding()
	return a
}
