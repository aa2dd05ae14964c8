package main

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/oracle"
)

// Judges are given packets as machines made them, and never what the codec made of
// them. What crosses the wire is read by the oracle, which goes bit by bit.

const (
	smallDatagram = 32 // bytes; each as small is read
	readEvery     = 64 // of the others, one in so many
)

// isRead reports whether the oracle reads a datagram of so many bytes.
func (w *world) isRead(size int) bool {
	return size <= smallDatagram || w.counts.datagrams%readEvery == 0
}

// checkForm compares a datagram with the packet that it is to carry.
func (e *end) checkForm(data []byte, p codec.Packet) {
	read, err := oracle.DecodeDatagram(protocolID(e.epoch), data)
	if err != nil || !same(fromOracle(read), p) {
		e.violates("FRM-1", "the datagram of %s reads as %s, %v", describe(p), describe(fromOracle(read)), err)
	}
}

// fromOracle returns an oracle's packet as the codec has it.
func fromOracle(p oracle.Packet) codec.Packet {
	id, n := uint16(p.ChunkID), int(p.NumSlices)
	if p.Type == oracle.TypeSlice {
		return codec.Packet{Type: codec.TypeSlice, Slice: codec.Slice{ChunkID: id, NumSlices: n, SliceID: int(p.SliceID), Data: p.Data}}
	}
	a := codec.Ack{ChunkID: id, NumSlices: n}
	for k, acked := range p.Acked {
		if acked {
			a.Acked.Add(k)
		}
	}
	return codec.Packet{Type: codec.TypeAck, Ack: a}
}

// same reports whether two packets are the same.
func same(p, q codec.Packet) bool {
	s, t := p.Slice, q.Slice
	return p.Type == q.Type && p.Ack == q.Ack &&
		s.ChunkID == t.ChunkID && s.SliceID == t.SliceID && s.NumSlices == t.NumSlices && bytes.Equal(s.Data, t.Data)
}
