package code_test

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/code"
)

// The code of the models is that of the document's figures.
func TestTheCodeIsTheDocuments(t *testing.T) {
	for k, sums := range map[int][3]uint32{
		1: {0xb997ddcc, 0xe9193fa0, 0xe785ae4a}, 2: {0x9db6d897, 0xe843c435, 0x3af8cc44},
		3: {0xb7cdfe8c, 0xd07c524d, 0xd2bee67e}, 256: {0xe30b4483, 0xb85dfb38, 0x6a4b8894},
	} {
		chunk := make([]byte, 1024*k)
		for i := range chunk {
			chunk[i] = byte(i%1024 + 31*(i/1024))
		}
		for n, j := range []int{0, 1, 7935} {
			check.Equal(t, "crc", crc32.ChecksumIEEE(code.Slice(chunk, k+j)), sums[n])
		}
	}
}

// Plain elimination and package erasure agree on every slice: on the bytes, on whether
// it adds, and on the chunk.
func TestPlainEliminationAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 700, 1024, 1025, 2500, 20_000, 262_144} {
		chunk := chunktest.Chunk(size, 5)
		e := erasure.Encode(chunk)
		k := e.NumSlices()
		var d erasure.Decoder
		d.Begin(k, e.LastBytes(), pool{})
		span := code.NewSpan(k)
		for span.Rank() < k {
			id := random.IntN(2 * k)
			if random.IntN(40) == 0 {
				id = random.IntN(erasure.MaxIDs)
			}
			data := code.Slice(chunk, id)
			check.Bytes(t, "slice", e.Slice(id), data)
			adds := !span.Has(code.Row(id, k))
			check.Equal(t, "adds", [2]bool{span.Add(code.Row(id, k), code.Filled(data)), d.Add(id, data)}, [2]bool{adds, adds})
		}
		check.Bytes(t, "chunk", span.Solve()[:size], chunk)
		for i, s := range d.Rebuild() {
			check.Bytes(t, "slice", s[:min(1024, size-1024*i)], chunk[1024*i:min(1024*i+1024, size)])
		}
	}
}

// pool is an erasure.Pool that keeps nothing.
type pool struct{}

func (pool) Take() *[1024]byte { return new([1024]byte) }
func (pool) Put(*[1024]byte)   {}
