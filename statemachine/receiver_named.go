package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// receivedSet is the ledger of a receiver of named slices: each has its place in the chunk.
type receivedSet struct {
	k        int                      // slices of the chunk that arrives
	received core.Set                 // subset of FirstN(k)
	slices   []*[codec.SliceSize]byte // as slices arrive; until the chunk is read
	memory   *Memory
	lastSize int // of its last slice
}

func (l *receivedSet) start(s codec.Slice) {
	l.k, l.received = s.NumSlices, core.Set{}
}

func (l *receivedSet) judge(s codec.Slice) (guard uint8) {
	if l.received.Has(s.SliceID) {
		return sliceDuplicate
	}
	return sliceAdds
}

func (l *receivedSet) has(id int) bool { return l.received.Has(id) }

func (l *receivedSet) count() int { return l.received.Count() }

func (l *receivedSet) ids() (ids []int) {
	for id := range l.received.All() {
		ids = append(ids, id)
	}
	return ids
}

// store copies a slice to its place (RCV-11).
func (l *receivedSet) store(s codec.Slice) {
	for len(l.slices) <= s.SliceID {
		l.slices = append(l.slices, nil)
	}
	if l.slices[s.SliceID] == nil {
		l.slices[s.SliceID] = l.memory.Take()
	}
	copy(l.slices[s.SliceID][:], s.Data)
	if s.Last() {
		l.lastSize = len(s.Data)
	}
	l.received.Add(s.SliceID)
}

func (l *receivedSet) complete() (size int) {
	size = (l.k-1)*codec.SliceSize + l.lastSize
	l.k, l.received = 0, core.Set{}
	return size
}

func (l *receivedSet) work(int, int) (inconsistent int, done bool) { return 0, true }

func (l *receivedSet) deliver(dst []byte, size int) []byte {
	for id := 0; size > 0; id++ {
		n := min(size, codec.SliceSize)
		dst = append(dst, l.slices[id][:n]...)
		size -= n
	}
	if l.memory != nil {
		l.slices = l.memory.release(l.slices)
	}
	return dst
}

func (l *receivedSet) report(a codec.Ack, previous bool) codec.Ack {
	if a.Acked = l.received; previous {
		a.Acked = core.FirstN(a.NumSlices)
	}
	return a
}

func (l *receivedSet) drop() { l.slices, l.k, l.received = nil, 0, core.Set{} }

func (l *receivedSet) vars(v ReceiverVars) ReceiverVars {
	v.Received = l.received
	return v
}

// Named slices do not depend on each other: none is rebuilt, and none can contradict others.
func (l *receivedSet) noteTop(int)                       {}
func (l *receivedSet) dependent(codec.Slice)             {}
func (l *receivedSet) contradicts(codec.Slice, int) bool { return false }
func (l *receivedSet) rebuilds(codec.Slice) int          { return 0 }
