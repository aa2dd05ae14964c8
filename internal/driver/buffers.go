package driver

import "sync"

// buffers are the buffers of copied chunks, for all of the process: a link that has none to receive holds none, and
// the garbage collector takes what is used no more.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// buffer returns an empty one for n bytes. One that is much larger would waste memory if the chunk is the caller's.
func buffer(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	if n > cap(*b) || n <= cap(*b)/2 {
		*b = make([]byte, 0, n)
	}
	*b = (*b)[:0]
	return b
}
