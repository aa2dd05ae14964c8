package erasure_test

import (
	"hash/crc32"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Codes, sets that suffice and those that do not.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "repair-code", "repair-rebuild")
}

// The worked examples of the specification.
func TestExamples(t *testing.T) {
	for _, e := range []struct {
		k, j int
		crc  uint32
	}{
		{1, 0, 0xb997ddcc}, {1, 1, 0xe9193fa0}, {1, 7935, 0xe785ae4a},
		{2, 0, 0x9db6d897}, {2, 1, 0xe843c435}, {2, 7935, 0x3af8cc44},
		{3, 0, 0xb7cdfe8c}, {3, 1, 0xd07c524d}, {3, 7935, 0xd2bee67e},
		{256, 0, 0xe30b4483}, {256, 1, 0xb85dfb38}, {256, 7935, 0x6a4b8894},
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
			want := int(plainMix(uint32(j*32+i/8+6535)) >> (4 * (i % 8)) % 16)
			if got := erasure.Exponent(j, i); got != want {
				t.Fatalf("Exponent(%d, %d) = %d, want %d", j, i, got, want)
			}
		}
	}
}
