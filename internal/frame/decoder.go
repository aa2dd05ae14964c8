package frame

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/core"
)

// Decoder walks along the wire, a field at a time, in the order of section 6.3.
// The first check that fails stands; what is read behind it does not matter
// (DEC-15).
type Decoder struct {
	bitpack.Reader
	Err *core.Error
}

// NewDecoder returns a Decoder for a datagram or a body.
func NewDecoder(b []byte) Decoder { return Decoder{Reader: bitpack.NewReader(b)} }

// Check refuses at a place unless ok.
func (d *Decoder) Check(ok bool, broken *core.Rule, place int) {
	if !ok && d.Err == nil {
		d.Err = broken.At(place)
	}
}

// Field reads an integer of n bits.
func (d *Decoder) Field(n int, missing *core.Rule) uint32 {
	v, err := d.Bits(n)
	if err != nil {
		d.Check(false, missing, d.Offset())
	}
	return v
}

// Padding skips padding, which must be zero (DEC-10).
func (d *Decoder) Padding() {
	d.Check(d.Align() == nil, paddingNotZero, d.Offset())
}

// Data reads the data of a slice (DEC-11).
func (d *Decoder) Data(size int) []byte {
	data, err := d.Bytes(size)
	d.Check(err == nil, dataMissing, d.Offset())
	return data
}

// End checks that nothing is left (DEC-14).
func (d *Decoder) End() {
	d.Check(d.Remaining() == 0, bytesLeft, d.Offset())
}

// Close reads what follows the body of a datagram (DEC-12 to DEC-14).
func (d *Decoder) Close() {
	at := d.Offset()
	d.Check(d.Field(32, endCheckMissing) == endCheck, endCheckWrong, at)
	d.End()
}
