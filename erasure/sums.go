package erasure

import "crypto/subtle"

// A vector is bytes, each an element of GF(2^8). Its length is a multiple of wide.
const wide = 32

// sums adds up vectors times powers of x: those of each power first, and then the sums.
type sums struct {
	memory [exponents][]byte // of a sum of two vectors and more
	first  [exponents][]byte // the only vector of a sum
	made   [exponents]bool   // the sum is in memory
}

// add adds x^e times a vector, which must not change before addTo.
func (s *sums) add(e int, v []byte) {
	switch {
	case s.made[e]:
		subtle.XORBytes(s.memory[e], s.memory[e], v)
	case s.first[e] != nil:
		subtle.XORBytes(s.memory[e], s.first[e], v)
		s.made[e] = true
	default:
		s.first[e] = v
	}
}

// addTo adds the whole sum to a vector, and forgets it.
func (s *sums) addTo(dst []byte) {
	var parts [exponents][]byte
	used := 0
	for e := range parts {
		if s.first[e] != nil {
			used = e + 1
		}
		if parts[e] = s.first[e]; s.made[e] {
			parts[e] = s.memory[e]
		}
	}
	for at := 0; at < len(dst); at += wide {
		horner(dst[at:at+wide], parts[:used], at)
	}
	clear(s.first[:])
	clear(s.made[:])
}

// horner adds the sum of x^e times part e, from a place on. It is Horner's rule, on four
// words at once: from the highest power down, what is there is multiplied by x, and the
// next part is added.
func horner(dst []byte, parts [][]byte, at int) {
	var a, b, c, d uint64
	for e := len(parts) - 1; e >= 0; e-- {
		a, b, c, d = timesX(a), timesX(b), timesX(c), timesX(d)
		if parts[e] == nil {
			continue
		}
		v := parts[e][at : at+wide]
		a ^= word(v, 0)
		b ^= word(v, 8)
		c ^= word(v, 16)
		d ^= word(v, 24)
	}
	setWord(dst, 0, a^word(dst, 0))
	setWord(dst, 8, b^word(dst, 8))
	setWord(dst, 16, c^word(dst, 16))
	setWord(dst, 24, d^word(dst, 24))
}
