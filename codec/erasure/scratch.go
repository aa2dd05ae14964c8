package erasure

// scratch is memory for multiples, which is taken from a pool for one call.
type scratch struct {
	vectors [2 * halves][]byte
	each    int // how many are in a block
}

func takeScratch(p Pool, size int) (s scratch) {
	s.each = SliceSize / size
	var block *[SliceSize]byte
	for n := range s.vectors {
		if n%s.each == 0 {
			block = p.Take()
		}
		s.vectors[n] = block[n%s.each*size:][:size]
	}
	return s
}

// put gives the memory back.
func (s *scratch) put(p Pool) {
	for n := 0; n < len(s.vectors); n += s.each {
		p.Put((*[SliceSize]byte)(s.vectors[n][:SliceSize]))
	}
}

// multiples returns multiples in this memory.
func (s *scratch) multiples() multiples {
	return multiples{[halves][]byte(s.vectors[:]), [halves][]byte(s.vectors[halves:])}
}
