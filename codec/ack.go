package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Ack reports which slices of a chunk have arrived (section 4.2). It always holds
// the whole state, so any later ack makes up for a lost one.
type Ack struct {
	ChunkID   uint16   // all of its values are valid (ENC-1)
	NumSlices int      // 1..MaxSlices
	Acked     core.Set // no id of NumSlices or above
}

// DatagramSize returns the size in bytes of the datagram that carries a.
func (a *Ack) DatagramSize() int { return (57+a.NumSlices+7)/8 + 4 }

// Validate returns ErrInvalidField when a cannot be represented (ENC-2, ENC-5).
func (a *Ack) Validate() error {
	switch {
	case a.NumSlices < 1 || a.NumSlices > MaxSlices:
		return frame.NumSlicesInvalid.At(16)
	case a.Acked.Next(a.NumSlices) >= 0:
		return ackedInvalid.At(24)
	}
	return nil
}

// append writes the fields of a valid ack (ACK-1), 32 of its bits at a time: a
// word has the lowest bit first, as the stream has.
func (a *Ack) append(w *bitpack.Writer) {
	w.Bits(uint32(a.ChunkID), 16)
	w.Bits(uint32(a.NumSlices-1), 8)
	for k := 0; k < a.NumSlices; k += 32 {
		w.Bits(uint32(a.Acked[k/64]>>(k&32)), min(32, a.NumSlices-k))
	}
}

// ack reads the fields of an ack (DEC-4, DEC-6, DEC-9, DEC-10).
func ack(d *frame.Decoder) (a Ack) {
	a.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	a.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	d.Check(d.Remaining() >= a.NumSlices, ackedMissing, d.Offset())
	for k := 0; k < a.NumSlices && d.Err == nil; k += 32 {
		a.Acked[k/64] |= uint64(d.Field(min(32, a.NumSlices-k), ackedMissing)) << (k & 32)
	}
	d.Padding()
	return a
}

// AppendAckBody appends the body of a to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func AppendAckBody(dst []byte, a Ack) ([]byte, error) {
	if err := a.Validate(); err != nil {
		return dst, err
	}
	w := bitpack.NewWriter(dst)
	a.append(&w)
	return w.Finish()
}

// DecodeAckBody decodes a body that holds an ack and nothing else.
func DecodeAckBody(body []byte) (Ack, error) {
	d := frame.NewDecoder(body)
	a := ack(&d)
	if d.End(); d.Err != nil {
		return Ack{}, d.Err
	}
	return a, nil
}
