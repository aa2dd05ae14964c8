package repair

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// MaxAckSize is the size of a datagram that holds an ack, in bytes (RPA-3).
const MaxAckSize = 14

// Ack reports how much of a chunk has arrived (section 4.2). It always holds the whole state, so any
// later ack makes up for a lost one.
type Ack struct {
	ChunkID   uint16 // all of its values are valid
	NumSlices int    // 1..codec.MaxSlices
	Have      int    // how many independent slices are here: 0..NumSlices (RPA-2)
	Top       int    // the id of the transmission behind the highest that arrived: 0..erasure.MaxIDs-1 (RPN-4)
}

// DatagramSize returns the size in bytes of the datagram that carries a.
func (a *Ack) DatagramSize() int { return MaxAckSize }

// Validate returns codec.ErrInvalidField when a cannot be represented (RPE-4 to RPE-6).
func (a *Ack) Validate() error {
	switch {
	case a.NumSlices < 1 || a.NumSlices > codec.MaxSlices:
		return frame.NumSlicesInvalid.At(16)
	case a.Have < 0 || a.Have > a.NumSlices:
		return haveInvalid.At(24)
	case a.Top < 0 || a.Top >= erasure.MaxIDs:
		return topInvalid.At(33)
	}
	return nil
}

// append writes the fields of a valid ack (RPA-1).
func (a *Ack) append(w *bitpack.Writer) {
	w.Bits(uint32(a.ChunkID), 16)
	w.Bits(uint32(a.NumSlices-1), 8)
	w.Bits(uint32(a.Have), 9)
	w.Bits(uint32(a.Top), 13)
}

// ack reads the fields of an ack (RPD-3 to RPD-6).
func ack(d *frame.Decoder) (a Ack) {
	a.ChunkID = uint16(d.Field(16, frame.ChunkIDMissing))
	a.NumSlices = int(d.Field(8, frame.NumSlicesMissing)) + 1
	at := d.Offset()
	a.Have = int(d.Field(9, haveMissing))
	d.Check(a.Have <= a.NumSlices, haveTooLarge, at)
	a.Top = int(d.Field(13, topMissing))
	d.Padding()
	return a
}

// AppendAckBody appends the body of a to dst. It fails with codec.ErrInvalidField, and
// then returns dst as it was.
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
