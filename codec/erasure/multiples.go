package erasure

import "crypto/subtle"

// multiples are what a vector is times each element, in two halves: the product with an
// element is the sum of low[its low four bits] and high[its high four bits].
type multiples struct {
	low, high [halves][]byte
}

// halves is the number of values of four bits.
const halves = 16

// of makes the multiples of a vector, in memory of the same length.
func (m *multiples) of(v []byte) {
	copy(m.low[1], v)
	for _, bit := range []int{1, 2, 4} {
		multiplyByX(m.low[2*bit], m.low[bit])
	}
	multiplyByX(m.high[1], m.low[8])
	for _, bit := range []int{1, 2, 4} {
		multiplyByX(m.high[2*bit], m.high[bit])
	}
	for n := 3; n < halves; n++ {
		if rest := n & (n - 1); rest != 0 {
			subtle.XORBytes(m.low[n], m.low[rest], m.low[n-rest])
			subtle.XORBytes(m.high[n], m.high[rest], m.high[n-rest])
		}
	}
}

// addTo adds the product with an element to a vector.
func (m *multiples) addTo(dst []byte, factor byte) {
	if low := factor % halves; low != 0 {
		subtle.XORBytes(dst, dst, m.low[low])
	}
	if high := factor / halves; high != 0 {
		subtle.XORBytes(dst, dst, m.high[high])
	}
}
