package erasure_test

import (
	"hash/crc32"
	"testing"

	"github.com/chunkwire/chunkwire/erasure"
)

// The worked examples of the specification.
func TestExamples(t *testing.T) {
	for _, e := range []struct {
		k, j int
		crc  uint32
	}{
		{1, 0, 0xb70b4c26}, {1, 1, 0xd43974aa}, {1, 7935, 0xb997ddcc},
		{2, 0, 0x5ceb63cd}, {2, 1, 0x32c86935}, {2, 7935, 0xf89355c7},
		{3, 0, 0xaf5a4903}, {3, 1, 0xceeb9dd4}, {3, 7935, 0x4ae9cf5c},
		{256, 0, 0xdef1082f}, {256, 1, 0x1aa4fe7e}, {256, 7935, 0xc36c7d8e},
	} {
		s := erasure.Encode(pattern(e.k * erasure.SliceSize)).Slice(e.k + e.j)
		if got := crc32.ChecksumIEEE(s); got != e.crc {
			t.Errorf("repair slice %d of %d slices has crc %08x, want %08x", e.j, e.k, got, e.crc)
		}
	}
}

// RPC-1 and RPC-2, for every j there is.
func TestExponents(t *testing.T) {
	for j := range erasure.MaxIDs - 1 {
		for i := range erasure.MaxSlices {
			want := int(plainMix(uint32(j*32+i/8)) >> (4 * (i % 8)) % 16)
			if got := erasure.Exponent(j, i); got != want {
				t.Fatalf("Exponent(%d, %d) = %d, want %d", j, i, got, want)
			}
		}
	}
}
