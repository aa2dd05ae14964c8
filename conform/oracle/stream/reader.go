package stream

// Reader reads a stream. Its methods need the bits that they read to be there: ask
// Left first.
type Reader struct {
	stream Stream
	at     int // the next bit
}

// NewReader returns a Reader at the first bit of bytes.
func NewReader(b []byte) *Reader { return &Reader{stream: Unpack(b)} }

// At returns how many bits were read.
func (r *Reader) At() int { return r.at }

// Left returns how many bits are left.
func (r *Reader) Left() int { return len(r.stream) - r.at }

// Bits reads what Stream.Bits wrote.
func (r *Reader) Bits(n int) uint64 {
	var v uint64
	for k := range n {
		v |= uint64(r.stream[r.at+k]) << k
	}
	r.at += n
	return v
}

// Align reads the bits up to the next multiple of 8, and reports whether they are
// all zero. They are there, since a stream made of bytes ends at one.
func (r *Reader) Align() bool {
	zero := true
	for r.at%8 != 0 {
		zero = r.Bits(1) == 0 && zero
	}
	return zero
}

// Bytes reads n whole bytes.
func (r *Reader) Bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Bits(8))
	}
	return b
}
