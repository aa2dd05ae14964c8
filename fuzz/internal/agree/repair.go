package agree

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// SameRepair reports whether two packets of repair slices are the same.
func SameRepair(a, b codec.Packet) bool {
	sameData := bytes.Equal(a.Slice.Data, b.Slice.Data)
	s, z := a.Slice, b.Slice
	return sameData && a.Type == b.Type && a.Ack == b.Ack && s.ChunkID == z.ChunkID && s.ID == z.ID && s.NumSlices == z.NumSlices && s.LastBytes == z.LastBytes
}

// RepairForOracle returns a packet of repair slices in its oracle's terms.
func RepairForOracle(p codec.Packet) repairoracle.Packet {
	if p.Type == codec.TypeAck {
		return repairoracle.Packet{Type: repairoracle.TypeAck, ChunkID: int64(p.Ack.ChunkID), NumSlices: int64(p.Ack.NumSlices), Have: int64(p.Ack.Have), Top: int64(p.Ack.Top)}
	}
	s := p.Slice
	return repairoracle.Packet{Type: repairoracle.TypeSlice, ChunkID: int64(s.ChunkID), SliceID: int64(s.ID), NumSlices: int64(s.NumSlices), LastBytes: int64(s.LastBytes), Data: s.Data}
}

// RepairFromOracle is the inverse, for packets that can be represented.
func RepairFromOracle(p repairoracle.Packet) codec.Packet {
	if p.Type == repairoracle.TypeAck {
		return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: int(p.NumSlices), Have: int(p.Have), Top: int(p.Top)}}
	}
	return codec.Packet{Slice: codec.Slice{ChunkID: uint16(p.ChunkID), ID: int(p.SliceID), NumSlices: int(p.NumSlices), LastBytes: int(p.LastBytes), Data: p.Data}}
}
