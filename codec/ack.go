package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Ack reports how much of a chunk has arrived (section 4.2, and section 4.2 of
// spec/REPAIR.md): Acked for named slices, Have and Top for repair slices. It always holds
// the whole state, so any later ack makes up for a lost one.
type Ack struct {
	ChunkID   uint16   // all of its values are valid (ENC-1)
	NumSlices int      // 1..MaxSlices
	Acked     core.Set // which slices are here: no id of NumSlices or above
	Have      int      // how many independent slices are here: 0..NumSlices (RPA-2)
	Top       int      // the id of the transmission behind the highest that arrived: 0..erasure.MaxIDs-1 (RPN-4)
}

// validateNamed checks an ack of named slices (ENC-2, ENC-5).
func (a *Ack) validateNamed() error {
	switch {
	case a.NumSlices < 1 || a.NumSlices > MaxSlices:
		return frame.NumSlicesInvalid.At(16)
	case a.Acked.Next(a.NumSlices) >= 0, a.Have != 0 || a.Top != 0:
		return ackedInvalid.At(24)
	}
	return nil
}

// appendNamed writes the fields of a valid ack (ACK-1), 32 of its bits at a time: a
// word has the lowest bit first, as the stream has.
func (a *Ack) appendNamed(w *bitpack.Writer) {
	w.Bits(uint32(a.ChunkID), 16)
	w.Bits(uint32(a.NumSlices-1), 8)
	for k := 0; k < a.NumSlices; k += 32 {
		w.Bits(uint32(a.Acked[k/64]>>(k&32)), min(32, a.NumSlices-k))
	}
}

// namedAck reads the fields of an ack (DEC-4, DEC-6, DEC-9, DEC-10).
func namedAck(d *frame.Decoder) (a Ack) {
	a.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	a.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	d.Check(d.Remaining() >= a.NumSlices, ackedMissing, d.Offset())
	for k := 0; k < a.NumSlices && d.Err == nil; k += 32 {
		a.Acked[k/64] |= uint64(d.Field(min(32, a.NumSlices-k), ackedMissing)) << (k & 32)
	}
	d.Padding()
	return a
}
