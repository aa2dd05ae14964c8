package erasure

import (
	"crypto/subtle"
	"encoding/binary"
)

// A vector is bytes, each an element of GF(2^8), of a length that is a multiple of wide.
const wide = 32

// vectors are what a sum is of.
type vectors [MaxSlices][]byte

// sum makes a vector the sum of vectors i times x^a[i], those without which are not. It is
// Horner's rule: from the highest power down, what is there is multiplied by x, and the
// vectors of the power are added.
func (v *vectors) sum(dst, a []byte) {
	var order sorting
	order.sort(a)
	clear(dst)
	for e := exponents - 1; e >= 0; e-- {
		multiplyByX(dst, dst)
		for _, i := range order.of(e) {
			subtle.XORBytes(dst, dst, v[i])
		}
	}
}

// absent is the exponent of a vector that is no part of a sum.
const absent = exponents

// sorting is numbers in the order of their exponents.
type sorting struct {
	numbers [MaxSlices]byte
	ends    [exponents + 2]int // of those of an exponent, at the place after it
}

func (s *sorting) sort(a []byte) {
	for _, e := range a {
		s.ends[e+1]++
	}
	for e := range exponents {
		s.ends[e+1] += s.ends[e]
	}
	next := s.ends
	for i, e := range a {
		if e != absent {
			s.numbers[next[e]] = byte(i)
			next[e]++
		}
	}
}

// of returns the numbers with an exponent.
func (s *sorting) of(e int) []byte { return s.numbers[s.ends[e]:s.ends[e+1]] }

// multiplyByX makes a vector x times another one, or itself.
func multiplyByX(dst, v []byte) {
	for at := 0; at < len(v); at += 8 {
		w := binary.LittleEndian.Uint64(v[at:])
		binary.LittleEndian.PutUint64(dst[at:], timesX(w))
	}
}
