package chunks

import (
	"encoding/json"
	"hash/crc32"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
)

// End returns an end of a talk. Its packets go as the JSON of steps has them, without their
// data, which TRC-1 has.
func End(op *conform.Op, m conform.Oracle) *conform.End {
	poll := op.Events[slices.IndexFunc(op.Events, func(k conform.Kind) bool { return k.Name == "poll" })].Of
	return &conform.End{Name: op.Name, Op: op, Machine: m, Poll: poll, Sent: sent, Arrives: arriving, Went: []conform.Bytes{}}
}

func sent(s conform.Step) (list []conform.Bytes) {
	for _, p := range s.(Step).Packets {
		b, err := json.Marshal(p)
		if err != nil {
			panic(err) // it has strings and numbers
		}
		list = append(list, conform.Bytes(b))
	}
	return list
}

// arriving is the event that a packet arrives.
func arriving(b conform.Bytes) conform.Event {
	var p Packet
	if err := conform.Decode(json.RawMessage(b), &p); err != nil {
		panic(err) // it is one of sent
	}
	switch {
	case p.Type == typeSlice && p.LastBytes.Is:
		return RepairSlice{ChunkID: p.ChunkID, SliceID: p.SliceID.V, NumSlices: p.NumSlices.V, LastBytes: p.LastBytes.V}
	case p.Type == typeSlice:
		return Slice{ChunkID: p.ChunkID, SliceID: p.SliceID.V, NumSlices: p.NumSlices.V, Size: p.Size.V}
	case p.Acked.Is:
		return Ack{p.ChunkID, p.Acked.V}
	}
	return RepairAck{p.ChunkID, p.NumSlices.V, p.Have.V, p.Top.V}
}

// ContentOf stands for bytes.
func ContentOf(b []byte) Content { return Content{len(b), crc32.ChecksumIEEE(b)} }
