package erasure

import (
	"sync"
	"sync/atomic"
)

// mostKept is how many repair slices of a chunk are kept, the first.
const mostKept = 256

// Encoded is a chunk and its repair slices. It is safe for concurrent use: any number of
// senders share it, and each repair slice that is kept is made once for all of them. The
// zero value and nil are the code of no bytes.
type Encoded struct {
	chunk  []byte
	forOne bool       // nothing is kept
	making sync.Mutex // held while a repair slice is made that is kept
	repair atomic.Pointer[repairs]
}

// repairs is what an Encoded has from its first repair slice on.
type repairs struct {
	last [SliceSize]byte                   // the last slice, filled up with zeros
	kept []atomic.Pointer[[SliceSize]byte] // mostKept, or none
}

// Encode returns the code of a chunk of 1 byte to 256 KiB, for any number of senders. It makes
// no repair slice yet, and does not copy the chunk, which must not change any more. The repair
// slices that it keeps, 256 KiB at most, are freed with it.
func Encode(chunk []byte) *Encoded { return &Encoded{chunk: chunk} }

// EncodeForOne is Encode for a chunk that one sender sends once. That asks for each repair
// slice once, so that none is kept: a peer whose acks are false cannot make it hold memory.
func EncodeForOne(chunk []byte) *Encoded { return &Encoded{chunk: chunk, forOne: true} }

// Bytes returns the chunk. It is read-only.
func (e *Encoded) Bytes() []byte {
	if e == nil {
		return nil
	}
	return e.chunk
}

// NumSlices returns the number of source slices.
func (e *Encoded) NumSlices() int { return (len(e.Bytes()) + SliceSize - 1) / SliceSize }

// LastBytes returns the size of the last source slice.
func (e *Encoded) LastBytes() int {
	if len(e.Bytes()) == 0 {
		return 0
	}
	return (len(e.chunk)-1)%SliceSize + 1
}

// Slice returns the slice with an id, which is read-only: part of the chunk, or a repair
// slice of 1,024 bytes, or of the chunk's size if it has one slice (RPC-4). Of [Encode]
// the first 256 repair slices are kept; others are made anew by each call. It returns nil for what is no
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
	if j >= len(r.kept) {
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
	if !e.forOne {
		r.kept = make([]atomic.Pointer[[SliceSize]byte], mostKept)
	}
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
