package bitpack_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/bitpack"
)

// A stream without a pattern, and without room behind its end.
func plainStream(size int) []byte {
	stream := make([]byte, size)
	for i := range stream {
		stream[i] = byte(151*i + 93)
	}
	return stream
}

// Words takes any row of bits from any bit on: no bit of its neighbors, nothing
// read behind the stream's end, no word written behind the last one.
func TestWordsOfEveryLengthAtEveryBit(t *testing.T) {
	const untouched = 0xdeadbeef
	stream := plainStream(19)
	for at := range 16 {
		for n := 0; n <= 8*len(stream)-at; n++ {
			want := make([]uint64, (n+63)/64, 4)
			for k := range n {
				want[k/64] |= uint64(stream[(at+k)/8]>>((at+k)%8)&1) << (k % 64)
			}
			want = append(want, untouched)
			got := make([]uint64, len(want))
			got[len(got)-1] = untouched
			end := (at + n + 7) / 8
			bitpack.Words(got, stream[:end:end], at, n)
			if !slices.Equal(got, want) {
				t.Fatalf("%d bits at %d: %x, want %x", n, at, got, want)
			}
		}
	}
}

// A Word knows how many bits are left, also when more were taken than it had.
func TestTakingShortensAWord(t *testing.T) {
	word := bitpack.Load(plainStream(5))
	for _, want := range []int{33, 26, 19, 12, 5, -2} {
		if _, word = word.Take(7); word.Len() != want {
			t.Fatalf("%d bits are left, want %d", word.Len(), want)
		}
	}
}

// What is refused gives no value.
func TestARefusedReadGivesNothing(t *testing.T) {
	r := bitpack.NewReader([]byte{0xff})
	if v, err := r.Int(0, 254); v != 0 || !errors.Is(err, bitpack.ErrValue) {
		t.Errorf("a number above its range: %d, %v", v, err)
	}
	if v, err := r.Int(0, 256); v != 0 || !errors.Is(err, bitpack.ErrTruncated) {
		t.Errorf("a number cut short: %d, %v", v, err)
	}
	if next, err := bitpack.Aligned([]byte{0xff}, 1); next != 0 || !errors.Is(err, bitpack.ErrPadding) {
		t.Errorf("padding that is not zero: %d, %v", next, err)
	}
}

// The mistake is named where it is made, before the Reader moves.
func TestANegativeLengthIsNamed(t *testing.T) {
	r := bitpack.NewReader(plainStream(3))
	_, _ = r.Bits(1)
	defer func() {
		if said := recover(); said != "bitpack: negative length" || r.Offset() != 1 {
			t.Errorf("%v, at bit %d", said, r.Offset())
		}
	}()
	_, _ = r.Bytes(-1)
}
