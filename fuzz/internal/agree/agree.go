// Package agree compares packets of the codec with those of the oracle, for the fuzz
// targets.
package agree

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
)

// Same reports whether two packets are the same.
func Same(a, b codec.Packet) bool {
	s, o := a.Slice, b.Slice
	return a.Type == b.Type && a.Ack == b.Ack && s.ChunkID == o.ChunkID && s.SliceID == o.SliceID &&
		s.NumSlices == o.NumSlices && s.LastBytes == o.LastBytes && bytes.Equal(s.Data, o.Data)
}

// ForOracle returns a packet in the oracle's terms.
func ForOracle(p codec.Packet) oracle.Packet {
	switch p.Type {
	case codec.TypeSlice:
		s := p.Slice
		return oracle.Packet{Type: oracle.TypeSlice, ChunkID: int64(s.ChunkID), SliceID: int64(s.SliceID), NumSlices: int64(s.NumSlices), Data: s.Data}
	case codec.TypeAck:
		bits := make([]bool, codec.MaxSlices)
		for id := range bits {
			bits[id] = p.Ack.Acked.Has(id)
		}
		return oracle.Packet{Type: oracle.TypeAck, ChunkID: int64(p.Ack.ChunkID), NumSlices: int64(p.Ack.NumSlices), Acked: bits}
	}
	return oracle.Packet{Type: "neither"}
}

// FromOracle is the inverse, for packets that can be represented.
func FromOracle(p oracle.Packet) codec.Packet {
	if p.Type == oracle.TypeSlice {
		return codec.Packet{Slice: codec.Slice{ChunkID: uint16(p.ChunkID), SliceID: int(p.SliceID), NumSlices: int(p.NumSlices), Data: p.Data}}
	}
	a := codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: int(p.NumSlices)}
	for id, bit := range p.Acked {
		if bit {
			a.Acked.Add(id)
		}
	}
	return codec.Packet{Type: codec.TypeAck, Ack: a}
}
