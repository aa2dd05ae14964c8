package stream

import "fmt"

// Stream is a string of bits, one a byte, the first bit first (section 3).
type Stream []byte

// Bits is `bits(v, n)`: the low n bits of v, least significant first (BIT-2).
func (s *Stream) Bits(v uint64, n int) {
	if n < 1 || n > 32 || v>>n != 0 {
		panic(fmt.Sprintf("stream: bits(%d, %d)", v, n))
	}
	for k := range n {
		*s = append(*s, byte(v>>k&1))
	}
}

// Int is `int(v, low, high)` (BIT-3).
func (s *Stream) Int(v, low, high int64) {
	if v < low || v > high {
		panic(fmt.Sprintf("stream: int(%d, %d, %d)", v, low, high))
	}
	s.Bits(uint64(v-low), Width(low, high))
}

// Bool is `bool` (BIT-4).
func (s *Stream) Bool(v bool) {
	if v {
		s.Bits(1, 1)
	} else {
		s.Bits(0, 1)
	}
}

// Align is `align` (BIT-5).
func (s *Stream) Align() {
	for len(*s)%8 != 0 {
		s.Bits(0, 1)
	}
}

// Bytes is `bytes(b)` (BIT-6).
func (s *Stream) Bytes(b []byte) {
	s.Align()
	for _, v := range b {
		s.Bits(uint64(v), 8)
	}
}

// Pack turns the stream into bytes (BIT-1), filled up with zero bits (BIT-7).
func (s Stream) Pack() []byte {
	b := make([]byte, (len(s)+7)/8)
	for i, bit := range s {
		b[i/8] |= bit << (i % 8)
	}
	return b
}

// Unpack is the stream that bytes are (BIT-1).
func Unpack(b []byte) Stream {
	s := make(Stream, 0, 8*len(b))
	for _, v := range b {
		for k := range 8 {
			s = append(s, v>>k&1)
		}
	}
	return s
}

// Width is the smallest n for which 2^n > high - low (BIT-3).
func Width(low, high int64) int {
	n := 0
	for int64(1)<<n <= high-low {
		n++
	}
	return n
}
