package fuzz

// script reads a fuzzer's bytes as decisions. When they are used up every
// further one is 0.
type script struct{ left []byte }

func (s *script) more() bool { return len(s.left) > 0 }

func (s *script) byte() byte {
	if len(s.left) == 0 {
		return 0
	}
	b := s.left[0]
	s.left = s.left[1:]
	return b
}

// uint16 and uint32 take the least significant byte first.
func (s *script) uint16() uint16 { return uint16(s.byte()) | uint16(s.byte())<<8 }
func (s *script) uint32() uint32 { return uint32(s.uint16()) | uint32(s.uint16())<<16 }
func (s *script) uint64() uint64 { return uint64(s.uint32()) | uint64(s.uint32())<<32 }

// take returns the next n bytes, or what is left of them.
func (s *script) take(n int) []byte {
	n = min(n, len(s.left))
	b := s.left[:n:n]
	s.left = s.left[n:]
	return b
}

// pick returns one of a list.
func pick[E any](s *script, list []E) E { return list[int(s.byte())%len(list)] }
