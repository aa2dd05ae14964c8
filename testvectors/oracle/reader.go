package oracle

// reader goes along a stream.
type reader struct {
	stream Stream
	at     int // the next bit
}

// left is the number of bits that are left.
func (r *reader) left() int { return len(r.stream) - r.at }

// bits reads what Stream.Bits wrote. The caller has looked that n bits are left.
func (r *reader) bits(n int) uint64 {
	var v uint64
	for k := range n {
		v |= uint64(r.stream[r.at+k]) << k
	}
	r.at += n
	return v
}

// int reads what Stream.Int wrote.
func (r *reader) int(low, high int64) int64 {
	return low + int64(r.bits(width(low, high)))
}

// align reads the bits up to the next multiple of 8, and reports whether they
// are all zero. They are there, since a stream made of bytes ends at one.
func (r *reader) align() bool {
	zero := true
	for r.at%8 != 0 {
		zero = r.bits(1) == 0 && zero
	}
	return zero
}

// bytes reads n whole bytes.
func (r *reader) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.bits(8))
	}
	return b
}
