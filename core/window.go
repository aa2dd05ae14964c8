package core

import "math/bits"

// Window is a set of numbers, of which it keeps those from Size behind the next one on.
// What falls behind is forgotten: neither a jump over the whole ring nor a wrap brings
// anything back (PKR-3).
type Window struct {
	next  Number
	words []uint64 // number n is bit n%64 of word n/64%len; a smaller window uses fewer bits
	size  Number
}

// NewWindow returns the empty window behind next. Its size is a power of two.
func NewWindow(size int, next Number) Window {
	return Window{next: next, size: Number(size), words: make([]uint64, (size+63)/64)}
}

// Next returns 1 + the largest number that the window was moved to.
func (w *Window) Next() Number { return w.next }

// Low returns the smallest number that can be in the window. It can be negative.
func (w *Window) Low() Number { return w.next - w.size }

// Has reports whether n is in the set.
func (w *Window) Has(n Number) bool {
	return n >= w.Low() && n < w.next && w.word(n)>>w.bit(n)&1 == 1
}

// Add adds n, which must not be below Low, and moves the window if n is not below next.
func (w *Window) Add(n Number) {
	w.Move(n + 1)
	w.words[w.index(n)] |= 1 << w.bit(n)
}

// Move makes next the first number that is not in the window, and forgets what falls
// behind. The window never moves back. Whole words are cleared at once: a peer can ask for a
// jump with every datagram.
func (w *Window) Move(next Number) {
	if next-w.next >= w.size {
		clear(w.words)
		w.next = next
		return
	}
	for w.next < next {
		if w.bit(w.next) == 0 && w.index(w.next) != w.index(next) {
			w.words[w.index(w.next)] = 0
			w.next += 64
			continue
		}
		w.words[w.index(w.next)] &^= 1 << w.bit(w.next)
		w.next++
	}
}

// Newest returns which of the 32 newest numbers are in the set: bit i is next - 1 - i.
func (w *Window) Newest() uint32 { return w.Below(w.next) }

// Below returns which of the 32 numbers below n are in the set: bit i is n - 1 - i. Bits of
// numbers below Low mean nothing, except for a window of less than 64 numbers or at next. n is
// from Low to next.
func (w *Window) Below(n Number) uint32 {
	last := n - 1
	if w.size < 64 {
		return w.belowOfFew(last)
	}
	// The word of last is rotated until it ends with it; below has the numbers before it.
	at := w.bit(last)
	word := w.words[w.index(last)]<<(63-at) | w.words[w.index(last-64)]>>(at+1)
	return uint32(bits.Reverse64(word))
}

func (w *Window) belowOfFew(last Number) (set uint32) {
	for i := range min(w.size, 32) {
		if w.Has(last - i) {
			set |= 1 << i
		}
	}
	return set
}

// FirstMissing returns the smallest number that is not in the set, at or above n and below
// end; end if there is none.
func (w *Window) FirstMissing(n, end Number) Number {
	if n >= end || n < w.Low() || n >= w.next {
		return min(n, end)
	}
	for n < min(end, w.next) {
		at := w.bit(n)
		left := min(w.size, 64) - Number(at) // in this word
		set := Number(bits.TrailingZeros64(^(w.word(n) >> at)))
		n += min(set, left)
		if set < left {
			break
		}
	}
	return min(n, w.next, end)
}

// LastMissing returns the largest number that is not in the set, at or above low and below
// end; low - 1 if there is none. Both are from Low to next.
func (w *Window) LastMissing(low, end Number) Number {
	n := end - 1
	for n >= low {
		at := w.bit(n)
		set := uint(bits.LeadingZeros64(^(w.word(n) << (63 - at))))
		if set <= at {
			return max(n-Number(set), low-1)
		}
		n -= Number(at) + 1
	}
	return low - 1
}

func (w *Window) index(n Number) int { return int(n>>6) & (len(w.words) - 1) }

func (w *Window) word(n Number) uint64 { return w.words[w.index(n)] }

// bit returns the place in its word. A window below 64 has one word, and uses as many of
// its bits.
func (w *Window) bit(n Number) uint { return uint(n & min(w.size-1, 63)) }
