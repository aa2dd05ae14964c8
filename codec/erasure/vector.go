package erasure

import "crypto/subtle"

// A vector is bytes, each an element of GF(2^8), of a length that is a multiple of wide.
const wide = 32

// vectors are what a sum is of.
type vectors [MaxSlices][]byte

// sum makes a vector the sum of vectors i times x^a[i]. It is Horner's rule: from the highest
// power down, what is there is multiplied by x, and the vectors of the power are added.
func (v *vectors) sum(dst, a []byte) {
	var order sorting
	order.sort(a)
	clear(dst)
	for e := exponents - 1; e >= 0; e-- {
		multiplyByX(dst, dst)
		for _, i := range order.numbers[order.ends[e]:order.ends[e+1]] {
			subtle.XORBytes(dst, dst, v[i])
		}
	}
}

// absent is the exponent of what is no part of a sum.
const absent = exponents

// sorting is numbers in the order of their exponents: the numbers of e from ends[e] to ends[e+1].
type sorting struct {
	numbers [MaxSlices]byte
	ends    [exponents + 2]int
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

// multiplyByX makes a vector x times another one, or itself.
func multiplyByX(dst, v []byte) {
	for at := 0; at < len(v); at += 8 {
		setWord(dst[at:], timesX(word(v[at:])))
	}
}
