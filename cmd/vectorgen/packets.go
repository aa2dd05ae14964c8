package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// slice is one that is the last of its chunk if data is short.
func slice(chunkID, sliceID, numSlices int64, data []byte) oracle.Packet {
	return oracle.Packet{Type: oracle.TypeSlice, ChunkID: chunkID, SliceID: sliceID, NumSlices: numSlices, Data: data}
}

// ack makes one from its bits.
func ack(chunkID int64, bits []bool) oracle.Packet {
	return oracle.Packet{Type: oracle.TypeAck, ChunkID: chunkID, NumSlices: int64(len(bits)), Acked: bits}
}

// sample is n bytes that differ from their neighbors and do not repeat with a
// power of two, so that a byte at the wrong place shows.
func sample(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i%251 + 1)
	}
	return b
}

// repeated is n times the same byte.
func repeated(v byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = v
	}
	return b
}

// flipped is b with some of its bits flipped, by their place in the stream.
func flipped(b []byte, bits ...int) []byte {
	s := stream.Unpack(b)
	for _, bit := range bits {
		s[bit] ^= 1
	}
	return s.Pack()
}
