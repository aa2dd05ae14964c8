package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts the requests about repair slices to their oracle.

// invalidField is the response to a number that no field holds.
func invalidField() any { return contract.Answer{Error: repairoracle.InvalidField} }

func outside(v, low, high int64) bool { return v < low || v > high }

func repairRowResponse(q contract.RepairRowRequest) any {
	if outside(q.NumSlices, 1, repairoracle.MaxSlices) || outside(q.SliceID, q.NumSlices, repairoracle.MaxIDs-1) {
		return invalidField()
	}
	a := contract.RepairRowResponse{Answer: ok}
	for i := range q.NumSlices {
		a.Exponents = append(a.Exponents, int(repairoracle.Exponent(q.SliceID-q.NumSlices, i)))
	}
	return a
}

func repairSliceResponse(q contract.RepairSliceRequest) any {
	if outside(q.ChunkID, 0, 65535) || outside(q.Size, 1, repairoracle.MaxChunk) || outside(q.SliceID, 0, repairoracle.MaxIDs-1) {
		return invalidField()
	}
	return contract.RepairSliceResponse{Answer: ok, Slice: contentOf(repairoracle.Slice(chunks.Data(uint16(q.ChunkID), int(q.Size)), q.SliceID))}
}

func repairRebuildResponse(q contract.RepairRebuildRequest) any {
	if outside(q.ChunkID, 0, 65535) || outside(q.NumSlices, 1, repairoracle.MaxSlices) || outside(q.LastBytes, 1, repairoracle.SliceSize) ||
		slices.ContainsFunc(q.SliceIDs, func(id int64) bool { return outside(id, 0, repairoracle.MaxIDs-1) }) {
		return invalidField()
	}
	chunk := chunks.Data(uint16(q.ChunkID), int(repairoracle.SliceSize*(q.NumSlices-1)+q.LastBytes))
	d := repairoracle.NewDecoder(q.NumSlices, q.LastBytes)
	a := contract.RepairRebuildResponse{Answer: ok}
	for _, id := range q.SliceIDs {
		if d.Add(id, repairoracle.Slice(chunk, id)) {
			a.Added += "1"
		} else {
			a.Added += "0"
		}
	}
	if a.Rank = int(d.Rank()); d.Rank() == q.NumSlices {
		rebuilt, _ := d.Rebuild()
		content := contentOf(rebuilt)
		a.Chunk = &content
	}
	return a
}

// contentOf stands for data.
func contentOf(data []byte) contract.Content {
	return contract.Content{Size: len(data), CRC32: stream.CRC32(data)}
}

// refusedRepair is the response to a packet that is refused, with the sentence that does.
type refusedRepair struct {
	contract.Answer
	sentence string
}

// repairResponse answers a request to encode or decode a packet.
func repairResponse(q contract.RepairRequest) any {
	b, p, err := encodedOrDecoded(q)
	var refused *repairoracle.Error
	switch {
	case errors.As(err, &refused):
		return refusedRepair{contract.Answer{Error: refused.Code}, refused.Check}
	case q.Packet != nil:
		return contract.RepairResponse{Answer: ok, Hex: pointerTo(hex.EncodeToString(b))}
	}
	return contract.RepairResponse{Answer: ok, Packet: newRepairPacket(p)}
}

func encodedOrDecoded(q contract.RepairRequest) (b []byte, p repairoracle.Packet, err error) {
	switch {
	case q.Packet != nil && q.ProtocolID != nil:
		b, err = repairoracle.EncodeDatagram(*q.ProtocolID, repairPacketOf(*q.Packet))
	case q.Packet != nil:
		b, err = repairoracle.EncodeBody(repairPacketOf(*q.Packet))
	case q.ProtocolID != nil:
		p, err = repairoracle.DecodeDatagram(*q.ProtocolID, bytesIn(*q.Hex))
	default:
		p, err = repairoracle.DecodeBody(q.Type, bytesIn(*q.Hex))
	}
	return b, p, err
}

// repairAnswers are the oracle's responses to requests about repair slices that a port can read.
var repairAnswers = answers{
	contract.OpRepairRow: by(repairRowResponse), contract.OpRepairSlice: by(repairSliceResponse), contract.OpRepairRebuild: by(repairRebuildResponse),
	contract.OpRepairEncode: by(repairResponse), contract.OpRepairDecode: by(repairResponse),
	contract.OpRepairSender:   asked(chunks.RepairSender),
	contract.OpRepairReceiver: asked(chunks.RepairReceiver),

	contract.OpConnectionEncode: by(connectionEncoded), contract.OpConnectionDecode: by(connectionDecoded),
}

// addRepair adds a request about repair slices. want is accepted or a code: if the oracle
// answers something else, or refuses by another sentence than one that the group names, that
// ends the program.
func (g *group) addRepair(name string, why about, want string, q, a any) {
	got, sentence := accepted, ""
	switch a := a.(type) {
	case contract.Answer:
		got = a.Error
	case refusedRepair:
		got, sentence = a.Error, a.sentence
	}
	if got != want {
		panic(fmt.Sprintf("%s/%s: the oracle answers %s, the group expects %s", g.file.Group, name, got, want))
	}
	if sentence != "" && !slices.Contains(strings.Fields(why.sentences), sentence) {
		panic(fmt.Sprintf("%s/%s: refused by %s, the group names %s", g.file.Group, name, sentence, why.sentences))
	}
	g.addPair(name, why, q, a)
}
