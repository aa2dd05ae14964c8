package repair

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/statemachine"
)

// spare is a slice that adds nothing to the chunk, but is an equation that the chunk must
// fulfill. If it does not, some slice was forged or broken. Nobody can know which one, so
// this only counts (RPR-11).
type spare struct {
	data    *[codec.SliceSize]byte // none: nil
	id      int
	size    int
	checked bool // in READY: one was compared
}

// keep keeps a slice until the chunk is rebuilt.
func (p *spare) keep(s *Slice, memory *statemachine.Memory) {
	p.data = memory.Take()
	p.id, p.size = s.ID, copy(p.data[:], s.Data)
}

// forget gives the memory back.
func (p *spare) forget(memory *statemachine.Memory) {
	if p.data != nil {
		memory.Put(p.data)
	}
	*p = spare{}
}

// countDependent counts a slice that follows from those that are here, and keeps the
// chunk's first that is a repair slice (RPR-10, RPR-11).
func (r *Receiver) countDependent(in receiverInput) {
	r.stats.Dependent++
	if r.spare.data == nil && !in.slice.Source() {
		r.spare.keep(&in.slice, r.memory)
	}
}

// rebuild makes the chunk of what is held (RPC-6), and looks for what was forged
// (RPR-11). The last slice counts as filled up with zeros (RPC-4), also where the chunk is
// compared with another slice.
func (r *Receiver) rebuild() {
	fill := r.code.Rebuild()[r.numSlices-1][r.lastBytes:]
	if bytes.Count(fill, []byte{0}) < len(fill) {
		r.stats.Inconsistent++
		clear(fill)
	}
	if r.spare.data != nil && !r.code.Matches(r.spare.id, r.spare.data[:r.spare.size]) {
		r.stats.Inconsistent++
	}
	r.spare.forget(r.memory)
}

// compareSpare compares the first repair slice that comes after its chunk was complete, as
// long as the chunk is here (RPR-11).
func (r *Receiver) compareSpare(in receiverInput) {
	s := &in.slice
	lastBytes := (r.readSize-1)%codec.SliceSize + 1
	if r.spare.checked || s.Source() || s.LastBytes != lastBytes || r.code.Has(s.ID) {
		return
	}
	r.spare.checked = true
	if !r.code.Matches(s.ID, s.Data) {
		r.stats.Inconsistent++
	}
}

// fewSlices is for how many an idle receiver keeps its tables.
const fewSlices = 32

// release gives the memory of a chunk back that was read.
func (r *Receiver) release() {
	r.code.Release()
	if r.shared && r.previousSlices > fewSlices {
		r.code, r.held = erasure.Decoder{}, nil
	}
}
