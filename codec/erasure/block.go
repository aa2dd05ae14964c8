package erasure

import "encoding/binary"

// blocks are what a sum of whole slices is of.
type blocks [MaxSlices]*[SliceSize]byte

// sum makes a block the sum of blocks i times x^a[i], as vectors.sum does. For vectors of
// this length it takes as long where XORBytes is at its best, and less elsewhere.
func (b *blocks) sum(dst *[SliceSize]byte, a []byte) {
	var order sorting
	order.sort(a)
	var sorted blocks
	for n, i := range order.numbers {
		sorted[n] = b[i]
	}
	*dst = [SliceSize]byte{}
	for e := exponents - 1; e >= 0; e-- {
		hornerStep(dst, sorted[order.ends[e]:order.ends[e+1]])
	}
}

// hornerStep multiplies a block by x, and adds others to it: four words at a time, which
// stay in registers.
func hornerStep(dst *[SliceSize]byte, others []*[SliceSize]byte) {
	for at := 0; at < SliceSize; at += wide {
		v := dst[at : at+wide]
		r0, r1 := timesX(word(v)), timesX(word(v[8:]))
		r2, r3 := timesX(word(v[16:])), timesX(word(v[24:]))
		for _, other := range others {
			v := other[at : at+wide]
			r0 ^= word(v)
			r1 ^= word(v[8:])
			r2 ^= word(v[16:])
			r3 ^= word(v[24:])
		}
		setWord(v, r0)
		setWord(v[8:], r1)
		setWord(v[16:], r2)
		setWord(v[24:], r3)
	}
}

// word returns the first eight bytes, and setWord sets them.
func word(v []byte) uint64       { return binary.LittleEndian.Uint64(v) }
func setWord(v []byte, w uint64) { binary.LittleEndian.PutUint64(v, w) }
