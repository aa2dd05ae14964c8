package core

import (
	"iter"
	"math/bits"
)

// SetSize is the number of members that a Set can have: 0..SetSize-1.
const SetSize = 256

// Set is a set of numbers below SetSize. The zero value is empty. It is a value:
// assignment copies it and == compares it. No method panics: a number outside
// 0..SetSize-1 is in no set, and to add or remove one does nothing.
type Set [SetSize / 64]uint64

// SetOf returns the set of these numbers.
func SetOf(ids ...int) Set {
	var b Set
	for _, id := range ids {
		b.Add(id)
	}
	return b
}

// FirstN returns the set of the numbers below n.
func FirstN(n int) Set {
	var b Set
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

// Has reports whether id is in the set.
func (b Set) Has(id int) bool {
	return uint(id) < SetSize && b[id>>6]>>(id&63)&1 == 1
}

// Add adds id.
func (b *Set) Add(id int) {
	if uint(id) < SetSize {
		b[id>>6] |= 1 << (id & 63)
	}
}

// Remove removes id.
func (b *Set) Remove(id int) {
	if uint(id) < SetSize {
		b[id>>6] &^= 1 << (id & 63)
	}
}

// Count returns the number of members.
func (b Set) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether the set has no member.
func (b Set) Empty() bool { return b == Set{} }

// Minus returns the members of b that are not in other.
func (b Set) Minus(other Set) Set {
	for w := range b {
		b[w] &^= other[w]
	}
	return b
}

// Intersect returns the members of both sets.
func (b Set) Intersect(other Set) Set {
	for w := range b {
		b[w] &= other[w]
	}
	return b
}

// Union returns the members of either set.
func (b Set) Union(other Set) Set {
	for w := range b {
		b[w] |= other[w]
	}
	return b
}

// All returns the members, the smallest first.
func (b Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(64*w + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// Next returns the smallest member that is not below from, or -1.
func (b Set) Next(from int) int {
	if from >= SetSize {
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

// Prev returns the largest member that is not above from, or -1.
func (b Set) Prev(from int) int {
	if from < 0 {
		return -1
	}
	from = min(from, SetSize-1)
	w := from >> 6
	if rest := b[w] << (63 - from&63); rest != 0 {
		return from - bits.LeadingZeros64(rest)
	}
	for w--; w >= 0; w-- {
		if b[w] != 0 {
			return 64*w + 63 - bits.LeadingZeros64(b[w])
		}
	}
	return -1
}
