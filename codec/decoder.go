package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/wire"
)

// decoder walks along the wire, a field at a time, in the order of section 6.3.
// The first check that fails stands; what is read behind it does not matter
// (DEC-15).
type decoder struct {
	bitpack.Reader
	err *Error
}

func newDecoder(b []byte) decoder { return decoder{Reader: bitpack.NewReader(b)} }

// check refuses at a place unless ok.
func (d *decoder) check(ok bool, broken *wire.Rule, place int) {
	if !ok && d.err == nil {
		d.err = broken.At(place)
	}
}

// bits reads an integer of n bits.
func (d *decoder) bits(n int, missing *wire.Rule) uint32 {
	v, err := d.Bits(n)
	if err != nil {
		d.check(false, missing, d.Offset())
	}
	return v
}

// align skips padding, which must be zero (DEC-10).
func (d *decoder) align() {
	d.check(d.Align() == nil, paddingNotZero, d.Offset())
}

// end checks that nothing is left (DEC-14).
func (d *decoder) end() {
	d.check(d.Remaining() == 0, bytesLeft, d.Offset())
}
