package bitpack

// Words reads the n bits of the stream in b that begin at bit at into dst, 64 to
// a word, the first one lowest. It is [Reader.Bits] for a long row of bits, with
// the shift found once. The bits must be there.
func Words(dst []uint64, b []byte, at, n int) {
	b, shift := b[at>>3:], at&7
	for i := 0; n > 0; i++ {
		v := Load(b).bits >> shift
		if shift > 0 && shift+n > 64 { // the word ends in a ninth byte
			v |= uint64(b[8]) << (-shift & 63)
		}
		if n < 64 {
			dst[i] = v & (1<<(n&63) - 1)
			return
		}
		dst[i] = v
		b, n = b[8:], n-64
	}
}

// Aligned returns the byte at which the stream in b goes on when it is aligned
// at bit at (BIT-5). It fails with ErrPadding when a bit between is not zero.
func Aligned(b []byte, at int) (int, error) {
	if shift := at & 7; shift != 0 && b[at>>3]>>shift != 0 {
		return 0, ErrPadding
	}
	return (at + 7) >> 3, nil
}
