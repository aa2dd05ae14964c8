package bitpack

import "encoding/binary"

// Word is a stream of at most 64 bits that stays in a register: the fields of
// a packet's head, put together and taken apart by shifts, with one load or
// store for all of them. It is a value; its methods return the new one.
//
// A Word makes the bytes that a [Writer] makes of the same fields, one by one:
// both put the least significant bit first, so fields in a row are one number,
// the earliest lowest, and the stream is that number's bytes, the lowest first.
type Word struct {
	bits uint64 // zero above n
	n    int
}

// Put adds the low n bits of v, which must be zero above them (BIT-2). The Word must
// have room for them. Neither is checked.
func (w Word) Put(v uint64, n int) Word {
	return Word{w.bits | v<<(w.n&63), w.n + n}
}

// Append appends the bits to dst, filled up with zeros to whole bytes (BIT-5, BIT-7).
func (w Word) Append(dst []byte) []byte {
	size := (w.n + 7) >> 3
	v := w.bits
	if size >= 4 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		v >>= 32
		size -= 4
	}
	for ; size > 0; size-- {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// PutAppend is Put without end: the first 64 bits go to dst once they are there.
func (w Word) PutAppend(dst []byte, v uint64, n int) ([]byte, Word) {
	first, total := w.bits|v<<(w.n&63), w.n+n
	if total < 64 {
		return dst, Word{first, total}
	}
	// What is left of v is nothing, by a shift of 64, when w was empty.
	return binary.LittleEndian.AppendUint64(dst, first), Word{v >> (64 - w.n), total - 64}
}

// Load returns the first 64 bits of the stream in b, or all if it is shorter.
func Load(b []byte) Word {
	if len(b) >= 8 {
		return Word{binary.LittleEndian.Uint64(b), 64}
	}
	return loadShort(b)
}

func loadShort(b []byte) Word {
	var v uint64
	for k, c := range b {
		v |= uint64(c) << (8 * k)
	}
	return Word{v, 8 * len(b)}
}

// Take returns the first n bits, n < 64, and the Word behind them. Bits that are
// not there read as zeros, and leave a negative length.
func (w Word) Take(n int) (uint64, Word) {
	return w.bits & (1<<(n&63) - 1), Word{w.bits >> (n & 63), w.n - n}
}

// Len returns the number of bits.
func (w Word) Len() int { return w.n }
