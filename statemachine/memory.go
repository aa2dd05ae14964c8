package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
)

// Memory is a pool of slice buffers that several receivers share, so that an idle one
// holds none. It is not safe for concurrent use: receivers that share it need one lock.
// The zero value is ready to use.
type Memory struct {
	free []*[codec.SliceSize]byte
}

const (
	// mostFree is how many slices a Memory keeps for later: eight chunks.
	mostFree = 8 * codec.MaxSlices
	// fewSlices is for how many an idle receiver keeps its table.
	fewSlices = 32
)

// Take returns a buffer with any content. A receiver without a Memory has a nil one.
func (m *Memory) Take() *[codec.SliceSize]byte {
	if m == nil || len(m.free) == 0 {
		return new([codec.SliceSize]byte)
	}
	last := len(m.free) - 1
	s := m.free[last]
	m.free[last] = nil
	m.free = m.free[:last]
	return s
}

// Put takes back a buffer.
func (m *Memory) Put(s *[codec.SliceSize]byte) {
	if len(m.free) < mostFree {
		m.free = append(m.free, s)
	}
}

// release takes back the buffers of a table of slices and returns the table, empty.
func (m *Memory) release(table []*[codec.SliceSize]byte) []*[codec.SliceSize]byte {
	for _, s := range table {
		if s != nil {
			m.Put(s)
		}
	}
	if cap(table) > fewSlices {
		return nil
	}
	clear(table)
	return table[:0]
}
