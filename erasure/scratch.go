package erasure

// scratch is memory for up to 32 vectors, which is taken from a pool for one call.
type scratch struct {
	vectors [2 * halves][]byte
	n, each int // how many there are, in all and in a block
}

func takeScratch(p Pool, n, size int) (s scratch) {
	s.n, s.each = n, SliceSize/size
	var block *[SliceSize]byte
	for n := range s.vectors[:s.n] {
		if n%s.each == 0 {
			block = p.Take()
		}
		s.vectors[n] = block[n%s.each*size:][:size]
	}
	return s
}

// put gives the memory back.
func (s *scratch) put(p Pool) {
	for n := 0; n < s.n; n += s.each {
		p.Put((*[SliceSize]byte)(s.vectors[n][:SliceSize]))
	}
}

// multiples returns multiples in this memory.
func (s *scratch) multiples() multiples {
	return multiples{[halves][]byte(s.vectors[:]), [halves][]byte(s.vectors[halves:])}
}

// sums returns sums in this memory.
func (s *scratch) sums() sums { return sums{memory: [exponents][]byte(s.vectors[:])} }
