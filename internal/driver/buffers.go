package driver

// Buffers keeps the buffers of chunks that were copied. It needs a lock.
type Buffers struct {
	free [][]byte
}

// mostBuffers is how many a pool keeps: two MiB of full chunks.
const mostBuffers = 8

// Get returns an empty buffer for n bytes. One that is much larger would waste
// memory if the chunk is the caller's.
func (p *Buffers) Get(n int) []byte {
	if last := len(p.free) - 1; last >= 0 && n <= cap(p.free[last]) && n > cap(p.free[last])/2 {
		b := p.free[last]
		p.free[last] = nil
		p.free = p.free[:last]
		return b[:0]
	}
	return make([]byte, 0, n)
}

// Put gives a buffer back.
func (p *Buffers) Put(b []byte) {
	if len(p.free) < mostBuffers {
		p.free = append(p.free, b)
	}
}
