package bitpack

import "encoding/binary"

// Reader walks over a bit stream. A read that fails consumes nothing, so
// [Reader.Offset] then shows where the field that could not be read begins.
//
// Alignment is relative to the first bit of the slice given to NewReader.
type Reader struct {
	buf []byte
	pos int // next bit; 0 <= pos <= 8*len(buf)
}

// NewReader returns a Reader over buf, which it does not copy.
func NewReader(buf []byte) Reader {
	return Reader{buf: buf}
}

// Offset returns the position of the next bit.
func (r *Reader) Offset() int { return r.pos }

// Remaining returns the number of bits left.
func (r *Reader) Remaining() int { return 8*len(r.buf) - r.pos }

// Bits reads an integer of n bits, 1 <= n <= 32 (BIT-2), or fails with
// ErrTruncated.
func (r *Reader) Bits(n int) (uint32, error) {
	checkWidth(n)
	if r.Remaining() < n {
		return 0, ErrTruncated
	}
	v := load(r.buf[r.pos>>3:]) >> (r.pos & 7)
	r.pos += n
	return uint32(v & (1<<n - 1)), nil
}

// load returns the first 64 bits in b, or all if there are fewer, with zeros
// above them.
func load(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var v uint64
	for k, c := range b {
		v |= uint64(c) << (8 * k)
	}
	return v
}

// Int reads a ranged integer in [low, high] (BIT-3). It fails with
// ErrTruncated, or with ErrValue when the bits stand for a number above high.
func (r *Reader) Int(low, high int64) (int64, error) {
	n := Width(low, high)
	v, err := r.Bits(n)
	if err != nil {
		return 0, err
	}
	if int64(v) > high-low {
		r.pos -= n
		return 0, ErrValue
	}
	return low + int64(v), nil
}

// Bool reads one bit (BIT-4).
func (r *Reader) Bool() (bool, error) {
	v, err := r.Bits(1)
	return v == 1, err
}

// Align skips to the next byte boundary (BIT-5). It fails with ErrPadding when
// a bit that it would skip is not zero.
func (r *Reader) Align() error {
	if shift := r.pos & 7; shift != 0 && r.buf[r.pos>>3]>>shift != 0 {
		return ErrPadding
	}
	r.pos = (r.pos + 7) &^ 7
	return nil
}

// Bytes aligns, then returns the next n bytes, n >= 0, without copying them
// (BIT-6). It fails with ErrPadding or ErrTruncated. The result has no spare
// capacity.
func (r *Reader) Bytes(n int) ([]byte, error) {
	if n < 0 {
		panic("bitpack: negative length")
	}
	before := r.pos
	if err := r.Align(); err != nil {
		return nil, err
	}
	at := r.pos >> 3
	if len(r.buf)-at < n {
		r.pos = before
		return nil, ErrTruncated
	}
	r.pos += 8 * n
	return r.buf[at : at+n : at+n], nil
}
