package statemachine

import (
	"sync"

	"github.com/chunkwire/chunkwire/codec"
)

// Memory is a pool of slice buffers that several receivers share, so that an idle one
// holds none. It is not safe for concurrent use: receivers that share it need one lock.
// The zero value is ready to use.
type Memory struct{ stock *stock }

// stock is the free buffers of one Memory. In [stocks] it is anybody's, and the garbage collector's.
type stock struct{ free []*[codec.SliceSize]byte }

var stocks = sync.Pool{New: func() any { return new(stock) }}

const (
	// mostFree is how many slices a Memory keeps for later: eight chunks.
	mostFree = 8 * codec.MaxSlices
	// fewSlices is for how many an idle receiver keeps its table.
	fewSlices = 32
)

// Take returns a buffer with any content. A receiver without a Memory has a nil one.
func (m *Memory) Take() *[codec.SliceSize]byte {
	if m == nil {
		return new([codec.SliceSize]byte)
	}
	free := &m.taken().free
	last := len(*free) - 1
	if last < 0 {
		return new([codec.SliceSize]byte)
	}
	s := (*free)[last]
	(*free)[last] = nil
	*free = (*free)[:last]
	return s
}

// Put takes back a buffer.
func (m *Memory) Put(s *[codec.SliceSize]byte) {
	if st := m.taken(); len(st.free) < mostFree {
		st.free = append(st.free, s)
	}
}

// taken returns the stock, which the first to need it takes.
func (m *Memory) taken() *stock {
	if m.stock == nil {
		m.stock = stocks.Get().(*stock)
	}
	return m.stock
}

// Rest returns the free buffers to a pool of the process, so that receivers without this Memory can use them.
func (m *Memory) Rest() {
	if m != nil && m.stock != nil {
		stocks.Put(m.stock)
		m.stock = nil
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
