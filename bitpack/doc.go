// Package bitpack turns unsigned integers of 1 to 32 bits into bytes and back,
// least significant bit first: stream bit 8n+k is bit k of byte n (BIT-1, in
// section 3 of spec/PROTOCOL.md).
//
// A [Writer] appends to a buffer of the caller's; a [Reader] walks over one
// and never reads past its end. Neither allocates, apart from what append
// needs when the caller's buffer is too small.
//
// Bad data is answered by an error: a value that its field cannot hold
// ([ErrValue]), a stream that ends too early ([ErrTruncated]), padding that is
// not zero ([ErrPadding]). A width outside 1..32 (BIT-2), or a range that is
// empty, has one value or is wider than 32 bits (BIT-3), is a mistake in the
// calling program and panics.
package bitpack

import (
	"errors"
	"math/bits"
)

var (
	// ErrValue says that a value does not fit its field.
	ErrValue = errors.New("bitpack: value does not fit its field")
	// ErrTruncated says that fewer bits are left than a read asks for.
	ErrTruncated = errors.New("bitpack: stream ends inside a field")
	// ErrPadding says that alignment skipped a bit that is not zero.
	ErrPadding = errors.New("bitpack: padding is not zero")
)

// maxWidth is the widest field, in bits (BIT-2).
const maxWidth = 32

// Width returns the number of bits of a ranged integer in [low, high]: the
// smallest n with 2^n > high-low (BIT-3). It panics unless low < high and n is
// at most 32.
func Width(low, high int64) int {
	n := bits.Len64(uint64(high) - uint64(low))
	if low >= high || n > maxWidth {
		panic("bitpack: range without an encoding")
	}
	return n
}

func checkWidth(n int) {
	if n < 1 || n > maxWidth {
		panic("bitpack: width outside 1..32")
	}
}
