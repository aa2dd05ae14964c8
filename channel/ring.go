package channel

import (
	"math/bits"

	"github.com/chunkwire/chunkwire/core"
)

// firstRing is how many slots a ring has at first.
const firstRing = 8

// ring keeps something for each of a run of sequences. A slot keeps the memory of its data
// for the sequence that takes it next, so that a ring that has its size allocates nothing.
type ring[T any] struct {
	slots []T // sequence n is slot n modulo their count, a power of two
}

// at returns the slot of a sequence.
func (r *ring[T]) at(n core.Number) *T { return &r.slots[n&core.Number(len(r.slots)-1)] }

// reach makes the ring large enough for the sequences from low up to high, which it keeps.
func (r *ring[T]) reach(low, high core.Number) {
	need := int(high - low)
	if need <= len(r.slots) {
		return
	}
	bigger := ring[T]{make([]T, max(firstRing, 1<<bits.Len(uint(need-1))))}
	for n := low; n < low+core.Number(len(r.slots)); n++ {
		*bigger.at(n) = *r.at(n)
	}
	*r = bigger
}

// leastData is how many bytes the memory of a slot's data has at least, if a record can have
// so many.
const leastData = 32

// store returns a copy of data, in the memory of dst if it is enough. New memory has a power
// of two, but no more than the most that a record can have: so a ring never holds more than
// that for each slot (CHT-BND-1).
func store(dst, data []byte, most int) []byte {
	if cap(dst) < len(data) {
		dst = make([]byte, 0, min(most, max(leastData, 1<<bits.Len(uint(len(data)-1)))))
	}
	return append(dst[:0], data...)
}
