package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// repairSliceOf is a slice with the data that it must have, of any content.
func repairSliceOf(chunkID, id, numSlices, last int64) repairoracle.Packet {
	return repairoracle.Packet{
		Type: repairoracle.TypeSlice, ChunkID: chunkID, SliceID: id, NumSlices: numSlices, LastBytes: last,
		Data: sample(int(repairoracle.DataSize(numSlices, last, id))),
	}
}

func repairAckOf(chunkID, numSlices, have, top int64) repairoracle.Packet {
	return repairoracle.Packet{Type: repairoracle.TypeAck, ChunkID: chunkID, NumSlices: numSlices, Have: have, Top: top}
}
