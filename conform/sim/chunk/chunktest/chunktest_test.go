package chunktest_test

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

func TestSlicesMakeUpTheirChunk(t *testing.T) {
	for _, size := range []int{0, 1, 1024, 1025, 262_144} {
		chunk, whole := chunktest.Chunk(size, 7), []byte{}
		check.That(t, size == 0 || !bytes.Equal(chunk, chunktest.Chunk(size, 8)), "another salt gives other bytes")
		list := chunktest.Slices(5, chunk)
		for id, s := range list {
			check.Same(t, "error", codec.Named.ValidateSlice(&s), nil)
			check.Equal(t, "ids", [3]int{int(s.ChunkID), s.SliceID, s.NumSlices}, [3]int{5, id, codec.NumSlices(size)})
			whole = append(whole, s.Data...)
		}
		check.Bytes(t, "chunk", whole, chunk)
	}
	full := chunktest.Slice(5, 1, 2)
	check.Same(t, "error", codec.Named.ValidateSlice(&full), nil)
}

func TestAcks(t *testing.T) {
	check.Equal(t, "ack", chunktest.Ack(5, "0110"), codec.Ack{ChunkID: 5, NumSlices: 4, Acked: core.SetOf(1, 2)})
	check.Equal(t, "full ack", chunktest.FullAck(5, 3), chunktest.Ack(5, "111"))
	check.Equal(t, "range", chunktest.Range(3, 5), []int{3, 4, 5})
}
