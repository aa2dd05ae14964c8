package statemachine

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
)

// receivedRank is the ledger of a receiver of repair slices: what counts is how many
// independent ones are here (section 6.1 of spec/REPAIR.md).
type receivedRank struct {
	k        int   // source slices of the chunk that arrives
	lastSize int   // of its last source slice
	held     []int // ids in the order in which they came; their rows are independent
	top      int   // the highest number that came, and one

	previousTop int // of the chunk before, when it was complete

	// The bytes of the chunk that arrives, or in READY of the one to be read.
	code   erasure.Decoder
	memory *Memory
	shared bool // the memory is
	spare  spare
	late   spare // in READY, before the chunk is made: the first repair slice that came then

	compared bool // one that came in READY was, or is to be
}

func newReceivedRank(memory *Memory) *receivedRank {
	l := &receivedRank{memory: memory, shared: memory != nil}
	if !l.shared {
		l.memory = new(Memory)
	}
	return l
}

func (l *receivedRank) start(s codec.Slice) {
	l.k, l.lastSize = s.NumSlices, s.LastBytes
	l.held, l.top, l.compared = l.held[:0], 0, false
	l.spare.forget(l.memory)
	l.code.Begin(l.k, l.lastSize, l.memory)
}

func (l *receivedRank) judge(s codec.Slice) (guard uint8) {
	switch {
	case l.code.Has(s.SliceID):
		return sliceDuplicate
	case !l.code.Independent(s.SliceID):
		return sliceDependent
	}
	return sliceAdds
}

func (l *receivedRank) has(id int) bool { return l.code.Has(id) }
func (l *receivedRank) count() int      { return len(l.held) }
func (l *receivedRank) ids() []int      { return l.held }

// noteTop: RPR-6.
func (l *receivedRank) noteTop(id int) { l.top = max(l.top, arrivedAs(id, l.top, l.k)+1) }

// store: RPR-8.
func (l *receivedRank) store(s codec.Slice) {
	l.code.Add(s.SliceID, s.Data)
	l.held = append(l.held, s.SliceID)
}

// dependent keeps the chunk's first dependent repair slice (RPR-10, RPR-11).
func (l *receivedRank) dependent(s codec.Slice) {
	if l.spare.data == nil && !s.Source() {
		l.spare.keep(&s, l.memory)
	}
}

func (l *receivedRank) complete() (size int) {
	size = (l.k-1)*codec.SliceSize + l.lastSize
	l.previousTop = l.top
	l.k, l.lastSize, l.held, l.top = 0, 0, l.held[:0], 0
	return size
}

// work makes the chunk of what is held (RPC-6), and looks for forged slices (RPR-11).
// The last slice counts as filled up with zeros (RPC-4), also where the chunk is compared with
// another slice.
func (l *receivedRank) work(size, operations int) (inconsistent int, done bool) {
	if !l.code.Step(operations) {
		return 0, false
	}
	all := l.code.Rebuild()
	fill := all[len(all)-1][lastSliceOf(size):]
	if bytes.Count(fill, []byte{0}) < len(fill) {
		inconsistent++
		clear(fill)
	}
	for _, s := range []*spare{&l.spare, &l.late} {
		if s.data != nil && !l.code.Matches(s.id, s.data[:s.size]) {
			inconsistent++
		}
		s.forget(l.memory)
	}
	return inconsistent, true
}

// lastSliceOf returns the size of the last slice of a chunk of so many bytes.
func lastSliceOf(size int) int { return (size-1)%codec.SliceSize + 1 }

// contradicts compares the first repair slice that comes after its chunk was complete
// (RPR-11), or keeps it for work to compare.
func (l *receivedRank) contradicts(s codec.Slice, size int) bool {
	if l.compared || s.Source() || s.LastBytes != lastSliceOf(size) || l.code.Has(s.SliceID) {
		return false
	}
	l.compared = true
	if !l.code.Step(0) {
		l.late.keep(&s, l.memory)
		return false
	}
	return !l.code.Matches(s.SliceID, s.Data)
}

func (l *receivedRank) deliver(dst []byte, size int) []byte {
	numSlices := codec.NumSlices(size)
	for _, s := range l.code.Rebuild() {
		n := min(size, codec.SliceSize)
		dst = append(dst, s[:n]...)
		size -= n
	}
	l.code.Release()
	if l.shared && numSlices > fewSlices {
		l.code, l.held = erasure.Decoder{}, nil
	}
	return dst
}

func (l *receivedRank) report(a codec.Ack, previous bool) codec.Ack {
	have, top := len(l.held), l.top
	if previous {
		have, top = a.NumSlices, l.previousTop
	}
	a.Have, a.Top = have, idOf(top, a.NumSlices)
	return a
}

func (l *receivedRank) rebuilds(s codec.Slice) (missing int) {
	for _, id := range l.held {
		if id >= l.k {
			missing++
		}
	}
	if !s.Source() {
		missing++
	}
	return missing
}

// drop: RPR-13.
func (l *receivedRank) drop() {
	l.spare.forget(l.memory)
	l.code.Release()
	l.code, l.memory, l.held = erasure.Decoder{}, nil, nil
	l.k, l.lastSize, l.top = 0, 0, 0
}

func (l *receivedRank) vars(v ReceiverVars) ReceiverVars {
	v.Top, v.PreviousTop = l.top, l.previousTop
	return v
}
