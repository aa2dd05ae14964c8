package main

import (
	"encoding/hex"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
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

// repairBody and repairDatagram are the bytes of a valid packet.
func repairBody(p repairoracle.Packet) []byte {
	b, err := repairoracle.EncodeBody(p)
	if err != nil {
		panic(err) // a group passes valid packets only
	}
	return b
}

func repairDatagram(p repairoracle.Packet) []byte {
	b, err := repairoracle.EncodeDatagram(usualID, p)
	if err != nil {
		panic(err) // a group passes valid packets only
	}
	return b
}

// repairEncode and repairDecode add the encoding and the decoding of a bare body, and of a
// datagram if there is a protocol id.
func (g *group) repairEncode(name string, why about, want string, protocolID *uint32, p repairoracle.Packet) {
	q := contract.RepairRequest{Op: contract.OpRepairEncode, ProtocolID: protocolID, Packet: newRepairPacket(p)}
	g.addRepair(name, why, want, q, repairResponse(q))
}

func (g *group) repairDecodeBody(name string, why about, want, kind string, b []byte) {
	q := contract.RepairRequest{Op: contract.OpRepairDecode, Type: kind, Hex: pointerTo(hex.EncodeToString(b))}
	g.addRepair(name, why, want, q, repairResponse(q))
}

func (g *group) repairDecode(name string, why about, want string, b []byte) {
	q := contract.RepairRequest{Op: contract.OpRepairDecode, ProtocolID: pointerTo(uint32(usualID)), Hex: pointerTo(hex.EncodeToString(b))}
	g.addRepair(name, why, want, q, repairResponse(q))
}

// repairWays adds a packet encoded as a bare body and decoded as a datagram, or also the other
// way round.
func (g *group) repairWays(name string, why about, all bool, p repairoracle.Packet) {
	g.repairEncode(name+"-body-encode", why, accepted, nil, p)
	g.repairDecode(name+"-datagram-decode", why, accepted, repairDatagram(p))
	if all {
		g.repairDecodeBody(name+"-body-decode", why, accepted, p.Type, repairBody(p))
		g.repairEncode(name+"-datagram-encode", why, accepted, pointerTo(uint32(usualID)), p)
	}
}

// repairPackets is the packets, encoded and decoded.
func repairPackets(g *group) {
	g.repairSliceBits()
	g.repairAckBits()
	g.repairSliceSizes()
	g.repairAckValues()
	g.contents(func(name string, why about, data []byte) {
		p := repairSliceOf(1, 5, 1, int64(len(data)))
		p.Data = data
		g.repairWays(name, about{why.comment, why.flags, "RPS-1"}, false, p)
	})
}

// bit adds a packet with one bit of a field set.
func (g *group) repairBit(kind, field string, k, at int, flags string, p repairoracle.Packet) {
	g.repairWays(fmt.Sprintf("%s-%s-bit-%d", kind, field, k), about{
		fmt.Sprintf("Catches a port whose bit %d of %s is not bit %d of the body and bit %d of the datagram.", k, field, at+k, 33+at+k), flags + " bit-order field-width", map[string]string{"slice": "RPS-1", "ack": "RPA-1"}[kind],
	}, false, p)
}

func (g *group) repairSliceBits() {
	for k := range 16 {
		g.repairBit("slice", "chunk-id", k, 0, "byte-order", repairSliceOf(1<<k, 0, 1, 1))
	}
	for k := range 13 {
		g.repairBit("slice", "id", k, 16, "slice-id", repairSliceOf(0, 1<<k, 1, 1))
	}
	for k := range 8 {
		g.repairBit("slice", "num-slices", k, 29, "minus-one", repairSliceOf(0, 1<<k, 1<<k+1, 1))
	}
	for k := range 10 {
		g.repairBit("slice", "last-bytes", k, 37, "minus-one", repairSliceOf(0, 0, 1, 1<<k+1))
	}
}

func (g *group) repairAckBits() {
	for k := range 16 {
		g.repairBit("ack", "chunk-id", k, 0, "byte-order", repairAckOf(1<<k, 1, 0, 0))
	}
	for k := range 8 {
		g.repairBit("ack", "num-slices", k, 16, "minus-one", repairAckOf(0, 1<<k+1, 0, 0))
	}
	for k := range 9 {
		g.repairBit("ack", "have", k, 24, "ack-content", repairAckOf(0, 256, 1<<k, 0))
	}
	for k := range 13 {
		g.repairBit("ack", "top", k, 33, "ack-content", repairAckOf(0, 256, 0, 1<<k))
	}
}

func (g *group) repairSliceSizes() {
	for _, c := range []struct {
		name        string
		k, last, id int64
		why         string
	}{
		{"smallest", 1, 1, 0, "is wrong by one at the smallest slice"},
		{"only-full", 1, 1024, 0, "writes 1,024 bytes as 0 or as 1,024, which 10 bits do not hold"},
		{"only-repair", 1, 5, 1, "gives a repair slice of a chunk of one slice 1,024 bytes"},
		{"only-repair-highest", 1, 1023, 8191, "gives a repair slice of a chunk of one slice 1,024 bytes"},
		{"first-of-two", 2, 7, 0, "gives the first slice the size of the last: last_bytes is in every slice"},
		{"last-of-two", 2, 7, 1, "gives the last slice 1,024 bytes"},
		{"repair-of-two", 2, 7, 2, "gives a repair slice the size of the last slice"},
		{"highest-of-two", 2, 7, 8191, "takes the highest id for the last slice"},
		{"last-of-256", 256, 300, 255, "compares the id with num_slices, not with num_slices - 1"},
		{"repair-of-256", 256, 300, 256, "keeps the id in 8 bits: repair slice 0 of a full chunk is no source slice"},
		{"repair-511-of-256", 256, 300, 511, "keeps the id in 8 bits: it looks like the last source slice then"},
		{"first-of-256", 256, 1, 0, "fills the data up or cuts it off"},
		{"full-last-of-256", 256, 1024, 255, "is wrong by one at the largest chunk"},
		{"ones", 256, 1024, 8191, "mixes fields that lie beside each other: all their bits are ones"},
	} {
		chunkID := int64(0x1234)
		if c.name == "ones" {
			chunkID = 65535
		}
		g.repairWays("slice-"+c.name, about{"Catches a port that " + c.why + ".", "data-length last-slice", "RPS-1 RPS-2"}, true, repairSliceOf(chunkID, c.id, c.k, c.last))
	}
}

func (g *group) repairAckValues() {
	for _, c := range []struct {
		name         string
		k, have, top int64
		why          string
	}{
		{"hold", 9, 0, 0, "does not know a hold"},
		{"complete-1", 1, 1, 1, "is wrong by one at the smallest chunk"},
		{"complete-256", 256, 256, 256, "keeps have in 8 bits"},
		{"almost-256", 256, 255, 300, "is wrong by one below the largest have"},
		{"top-8191", 8, 3, 8191, "keeps top in 12 bits"},
		{"have-above-top", 8, 5, 2, "refuses what only a sender can judge: any top is valid"},
		{"none-of-many", 8, 0, 700, "takes an ack without a dimension for a hold"},
		{"top-below-k", 200, 100, 120, "adds num_slices to top, or subtracts it"},
		{"ones", 256, 256, 8191, "mixes fields that lie beside each other"},
	} {
		g.repairWays("ack-"+c.name, about{"Catches a port that " + c.why + ".", "ack-content hold", "RPA-1 RPA-2 RPA-3"}, true, repairAckOf(0xabcd, c.k, c.have, c.top))
	}
}
