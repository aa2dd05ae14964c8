package agree

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// RepairForOracle returns a packet of repair slices in its oracle's terms.
func RepairForOracle(p codec.Packet) repairoracle.Packet {
	if p.Type == codec.TypeAck {
		return repairoracle.Packet{Type: repairoracle.TypeAck, ChunkID: int64(p.Ack.ChunkID), NumSlices: int64(p.Ack.NumSlices), Have: int64(p.Ack.Have), Top: int64(p.Ack.Top)}
	}
	s := p.Slice
	return repairoracle.Packet{Type: repairoracle.TypeSlice, ChunkID: int64(s.ChunkID), SliceID: int64(s.SliceID), NumSlices: int64(s.NumSlices), LastBytes: int64(s.LastBytes), Data: s.Data}
}

// RepairFromOracle is the inverse, for packets that can be represented.
func RepairFromOracle(p repairoracle.Packet) codec.Packet {
	if p.Type == repairoracle.TypeAck {
		return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: int(p.NumSlices), Have: int(p.Have), Top: int(p.Top)}}
	}
	return codec.Packet{Slice: codec.Slice{ChunkID: uint16(p.ChunkID), SliceID: int(p.SliceID), NumSlices: int(p.NumSlices), LastBytes: int(p.LastBytes), Data: p.Data}}
}
