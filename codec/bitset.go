package codec

import "math/bits"

// Bitset is a set of slice ids, 0..MaxSlices-1. The zero value is empty. It is
// a value: assignment copies it and == compares it.
type Bitset [MaxSlices / 64]uint64

// FirstN returns the set of the ids below n, 0 <= n <= MaxSlices.
func FirstN(n int) Bitset {
	var b Bitset
	for w := range b {
		switch left := n - 64*w; {
		case left >= 64:
			b[w] = ^uint64(0)
		case left > 0:
			b[w] = 1<<left - 1
		}
	}
	return b
}

// Has reports whether id is in the set. No id outside 0..MaxSlices-1 is.
func (b Bitset) Has(id int) bool {
	return uint(id) < MaxSlices && b[id>>6]>>(id&63)&1 == 1
}

// Set adds id, 0 <= id < MaxSlices.
func (b *Bitset) Set(id int) { b[id>>6] |= 1 << (id & 63) }

// Clear removes id, 0 <= id < MaxSlices.
func (b *Bitset) Clear(id int) { b[id>>6] &^= 1 << (id & 63) }

// Count returns the number of ids in the set.
func (b Bitset) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether the set has no id.
func (b Bitset) Empty() bool { return b == Bitset{} }

// Minus returns the ids of b that are not in other.
func (b Bitset) Minus(other Bitset) Bitset {
	for w := range b {
		b[w] &^= other[w]
	}
	return b
}

// Intersect returns the ids that are in both sets.
func (b Bitset) Intersect(other Bitset) Bitset {
	for w := range b {
		b[w] &= other[w]
	}
	return b
}

// Union returns the ids that are in either set.
func (b Bitset) Union(other Bitset) Bitset {
	for w := range b {
		b[w] |= other[w]
	}
	return b
}

// Prev returns the largest id in the set that is below limit, or -1. The limit
// may be any number.
func (b Bitset) Prev(limit int) int {
	if limit <= 0 {
		return -1
	}
	last := min(limit, MaxSlices) - 1
	w := last >> 6
	if rest := b[w] << (63 - last&63); rest != 0 {
		return last - bits.LeadingZeros64(rest)
	}
	for w--; w >= 0; w-- {
		if b[w] != 0 {
			return 64*w + 63 - bits.LeadingZeros64(b[w])
		}
	}
	return -1
}

// Next returns the smallest id in the set that is not below from, or -1; from
// may be any number. It looks at whole words, so its cost does not depend on the
// ids it skips.
func (b Bitset) Next(from int) int {
	if from >= MaxSlices {
		return -1
	}
	from = max(from, 0)
	w := from >> 6
	if rest := b[w] >> (from & 63); rest != 0 {
		return from + bits.TrailingZeros64(rest)
	}
	for w++; w < len(b); w++ {
		if b[w] != 0 {
			return 64*w + bits.TrailingZeros64(b[w])
		}
	}
	return -1
}
