// Package chunktest makes chunks, slices and acks for tests, and draws networks. It imports no machine,
// so that the machines' own tests can use it.
package chunktest

import (
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// Chunk returns size bytes in which no two slices are alike. Another salt gives
// other bytes, of which the first differs as long as both salts are below 256.
func Chunk(size int, salt uint32) []byte {
	chunk := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(salt), byte(salt >> 8), byte(salt >> 16), byte(salt >> 24)}).Read(chunk)
	if size > 0 {
		chunk[0] = byte(salt)
	}
	return chunk
}

// Slices cuts a chunk into its slices, the slow and simple way (LIM-2, LIM-3).
func Slices(chunkID uint16, chunk []byte) []codec.Slice {
	var list []codec.Slice
	for rest := chunk; len(rest) > 0; {
		n := min(1024, len(rest))
		list = append(list, codec.Slice{ChunkID: chunkID, SliceID: len(list), Data: rest[:n]})
		rest = rest[n:]
	}
	for i := range list {
		list[i].NumSlices = len(list)
	}
	return list
}

// Slice returns a full slice, which depends on its id only.
func Slice(chunkID uint16, id, numSlices int) codec.Slice {
	return codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: numSlices, Data: Chunk(1024, uint32(id))}
}

// Ack returns an ack of as many slices as bits has characters, slice 0 first, such
// as "110".
func Ack(chunkID uint16, bits string) codec.Ack {
	a := codec.Ack{ChunkID: chunkID, NumSlices: len(bits)}
	for id, c := range bits {
		if c == '1' {
			a.Acked.Add(id)
		}
	}
	return a
}

// FullAck returns the ack of a complete chunk.
func FullAck(chunkID uint16, numSlices int) codec.Ack {
	return codec.Ack{ChunkID: chunkID, NumSlices: numSlices, Acked: core.FirstN(numSlices)}
}

// Range returns the ids from..to, both included.
func Range(from, to int) []int {
	var list []int
	for id := from; id <= to; id++ {
		list = append(list, id)
	}
	return list
}
