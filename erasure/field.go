package erasure

import "encoding/binary"

// reduce is x^8 in GF(2^8) (RPC-3).
const reduce = 0x1D

// powers[n] is x^n, for n up to twice the order of the group, and logs its inverse. 0 has
// no logarithm.
var powers, logs = func() (powers [2*255 + 1]byte, logs [256]byte) {
	for n, b := 0, byte(1); n < len(powers); n++ {
		powers[n] = b
		logs[b] = byte(n % 255)
		b = b<<1 ^ b>>7*reduce
	}
	return powers, logs
}()

// inverse returns 1/b. b is not 0.
func inverse(b byte) byte { return powers[255-int(logs[b])] }

func times(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return powers[int(logs[a])+int(logs[b])]
}

// timesX returns x times each of eight bytes.
func timesX(v uint64) uint64 {
	const low, one = 0x7f7f7f7f7f7f7f7f, 0x0101010101010101
	return v&low<<1 ^ v>>7&one*reduce
}

// strip is how many bytes of a vector are summed up at a time, in eight words. The length
// of each vector is a multiple of it.
const strip = 64

// A sum is vectors of bytes, each times some powers of x.
type sum struct {
	vectors [MaxSlices][]byte
	order   []byte // the numbers of the vectors of x^0, then of x^1, …
	ends    []int  // of each power in order
}

// addTo adds the sum to a vector.
func (s *sum) addTo(dst []byte) {
	for at := 0; at < len(dst); at += strip {
		s.addStrip(dst[at:at+strip], at)
	}
}

// addStrip is Horner's rule: from the highest power down, what is there is multiplied by
// x, and the vectors of the power are added.
func (s *sum) addStrip(dst []byte, at int) {
	var r [strip / 8]uint64
	for n := len(s.ends) - 1; n >= 0; n-- {
		from := 0
		if n > 0 {
			from = s.ends[n-1]
		}
		for i := range r {
			r[i] = timesX(r[i])
		}
		for _, v := range s.order[from:s.ends[n]] {
			part := s.vectors[v][at : at+strip]
			for i := range r {
				r[i] ^= binary.LittleEndian.Uint64(part[8*i:])
			}
		}
	}
	for i := range r {
		binary.LittleEndian.PutUint64(dst[8*i:], r[i]^binary.LittleEndian.Uint64(dst[8*i:]))
	}
}

// sorting is the memory of a sum in which each vector has one power.
type sorting struct {
	order [MaxSlices]byte
	ends  [exponents]int
}

// absent is the exponent of a vector that is no part of a sum.
const absent = 255

// sort makes the sum of the vectors i times x^a[i].
func (s *sum) sort(memory *sorting, a []byte) {
	for _, e := range a {
		if e != absent {
			memory.ends[e]++
		}
	}
	var next [exponents]int
	for e := 1; e < exponents; e++ {
		next[e] = memory.ends[e-1]
		memory.ends[e] += next[e]
	}
	for i, e := range a {
		if e != absent {
			memory.order[next[e]] = byte(i)
			next[e]++
		}
	}
	s.order, s.ends = memory.order[:], memory.ends[:]
}
