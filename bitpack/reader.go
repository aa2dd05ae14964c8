package bitpack

// Reader walks over a bit stream. A read that fails consumes nothing, so
// [Reader.Offset] then tells where the field that could not be read begins.
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

// Bits reads an integer of n bits, 1 <= n <= 64 (BIT-2), or fails with
// ErrTruncated.
func (r *Reader) Bits(n int) (uint64, error) {
	checkWidth(n)
	if r.Remaining() < n {
		return 0, ErrTruncated
	}
	first, shift := r.pos>>3, r.pos&7
	v := Load(r.buf[first:]).bits >> shift
	if shift+n > 64 { // the field ends in a ninth byte
		v |= uint64(r.buf[first+8]) << (64 - shift)
	}
	r.pos += n
	return v & (^uint64(0) >> (64 - n)), nil
}

// Int reads a ranged integer in [low, high]. It fails with ErrTruncated, or
// with ErrValue when the bits stand for a number above high.
func (r *Reader) Int(low, high int64) (int64, error) {
	n := Width(low, high)
	if n == 0 {
		return low, nil
	}
	v, err := r.Bits(n)
	if err != nil {
		return 0, err
	}
	if v > uint64(high)-uint64(low) {
		r.pos -= n
		return 0, ErrValue
	}
	return int64(uint64(low) + v), nil
}

// Bool reads one bit (BIT-4).
func (r *Reader) Bool() (bool, error) {
	v, err := r.Bits(1)
	return v == 1, err
}

// Align skips to the next byte boundary (BIT-5). It fails with ErrPadding when a bit
// that it would skip is not zero.
func (r *Reader) Align() error {
	next, err := Aligned(r.buf, r.pos)
	if err != nil {
		return err
	}
	r.pos = 8 * next
	return nil
}

// Bytes aligns, then returns the next n bytes, n >= 0, without copying them (BIT-6).
// It fails with ErrPadding or ErrTruncated. The result has no spare capacity.
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
