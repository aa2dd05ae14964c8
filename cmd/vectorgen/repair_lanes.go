package main

import (
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// This file gives the traces of connections the lanes with repair slices: their oracle.

// repairRecord is a record of a lane.
func repairRecord(lane int64, p repairoracle.Packet) connectionoracle.Record {
	kind := connectionoracle.Slice
	if p.Type == repairoracle.TypeAck {
		kind = connectionoracle.ChunkAck
	}
	return connectionoracle.Record{Type: kind, Lane: lane, Repair: p}
}

// arrivingRepairSlice is a slice of a chunk of TRC-1.
func arrivingRepairSlice(lane, chunkID, id, numSlices, last int64) connectionoracle.Record {
	p := repairSliceOf(chunkID, id, numSlices, last)
	p.Data = repairoracle.Slice(chunks.Data(uint16(chunkID), int(repairoracle.SliceSize*(numSlices-1)+last)), id)
	return repairRecord(lane, p)
}
