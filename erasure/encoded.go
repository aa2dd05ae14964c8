package erasure

import (
	"sync"
	"sync/atomic"
)

// mostKept is how many repair slices of a chunk are kept, the first.
const mostKept = 256

// Encoded is a chunk and its repair slices. It is safe for concurrent use: any number of
// senders share it, and each repair slice that is kept is made once for all of them.
type Encoded struct {
	chunk  []byte
	making sync.Mutex // held while a repair slice is made that is kept
	repair atomic.Pointer[repairs]
}

// repairs is what an Encoded has from its first repair slice on.
type repairs struct {
	last [SliceSize]byte // the last slice, filled up with zeros
	kept [mostKept]atomic.Pointer[[SliceSize]byte]
}

// Encode returns the code of a chunk of 1 to 256 KiB. It makes no repair slice yet, and
// does not copy the chunk, which must not change any more.
func Encode(chunk []byte) *Encoded { return &Encoded{chunk: chunk} }

// Bytes returns the chunk. It is read-only.
func (e *Encoded) Bytes() []byte { return e.chunk }

// NumSlices returns the number of source slices.
func (e *Encoded) NumSlices() int { return (len(e.chunk) + SliceSize - 1) / SliceSize }

// LastBytes returns the size of the last source slice.
func (e *Encoded) LastBytes() int {
	if len(e.chunk) == 0 {
		return 0
	}
	return (len(e.chunk)-1)%SliceSize + 1
}

// Slice returns the slice with an id, which is read-only: part of the chunk, or a repair
// slice of 1,024 bytes, or of the chunk's size if it has one slice (RPC-4). The first 256
// repair slices are kept, others are made anew by each call. It returns nil for what is no
// id, and for every id if the chunk is empty or has more than 256 slices.
func (e *Encoded) Slice(id int) []byte {
	k := e.NumSlices()
	switch {
	case id < 0 || id >= MaxIDs || k == 0 || k > MaxSlices:
		return nil
	case id < k:
		end := min((id+1)*SliceSize, len(e.chunk))
		return e.chunk[id*SliceSize : end : end]
	}
	size := min(SliceSize, len(e.chunk))
	return e.repairSlice(id - k)[:size:size]
}

func (e *Encoded) repairSlice(j int) *[SliceSize]byte {
	r := e.repair.Load()
	if r == nil {
		r = e.begin()
	}
	if j >= mostKept {
		return e.sum(r, j)
	}
	if s := r.kept[j].Load(); s != nil {
		return s
	}
	e.making.Lock()
	defer e.making.Unlock()
	if s := r.kept[j].Load(); s != nil {
		return s // another sender was first
	}
	s := e.sum(r, j)
	r.kept[j].Store(s)
	return s
}

func (e *Encoded) begin() *repairs {
	r := &repairs{}
	copy(r.last[:], e.chunk[(e.NumSlices()-1)*SliceSize:])
	e.repair.CompareAndSwap(nil, r) // unless another sender was first
	return e.repair.Load()
}

// sum makes repair slice j (RPC-4).
func (e *Encoded) sum(r *repairs, j int) *[SliceSize]byte {
	var b blocks
	last := e.NumSlices() - 1
	for i := range last {
		b[i] = (*[SliceSize]byte)(e.chunk[i*SliceSize:])
	}
	b[last] = &r.last
	var a [MaxSlices]byte
	coefficients(a[:last+1], j)
	out := new([SliceSize]byte)
	b.sum(out, a[:last+1])
	return out
}
