package main

import (
	"encoding/hex"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

// This file gives the traces of connections the lanes with repair slices: their oracle.

// newRule returns the rule of a profile.
func newRule(p contract.RepairProfile) *repairoracle.Rule {
	return repairoracle.NewRule(repairoracle.Profile{Rate: p.Rate, Burst: p.Burst, Fixed: p.Fixed, Redundant: p.Redundant})
}

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
	p.Data = repairoracle.Slice(trace.Data(uint16(chunkID), int(repairoracle.SliceSize*(numSlices-1)+last)), id)
	return repairRecord(lane, p)
}

// decodeLanes and encodeLanes add the decoding of a payload and the encoding of records in the
// variant with repair slices. want is accepted, or CODE@PLACE.
func (g *group) decodeLanes(name string, why about, want string, lanes int64, payload []byte) {
	q := contract.ConnectionDecodeRequest{Op: contract.OpConnectionDecode, Lanes: lanes, Variant: contract.VariantRepair, Hex: hex.EncodeToString(payload)}
	g.addSession(name, why, want, q, connectionDecoded(q))
}

func (g *group) encodeLanes(name string, why about, want string, lanes int64, list ...connectionoracle.Record) {
	q := contract.ConnectionEncodeRequest{Op: contract.OpConnectionEncode, Lanes: lanes, Variant: contract.VariantRepair, Records: []contract.ConnectionRecord{}}
	for _, r := range list {
		q.Records = append(q.Records, connectionRecordOf(r))
	}
	g.addSession(name, why, want, q, connectionEncoded(q))
}

// lanesPayload is the bytes of valid records.
func lanesPayload(list ...connectionoracle.Record) []byte {
	b, err := connectionoracle.Encode(formatOfConnection(16, contract.VariantRepair, 0), list)
	if err != nil {
		panic(err) // a group passes valid records only
	}
	return b
}

func (g *group) lanesBothWays(name, why string, lanes int64, list ...connectionoracle.Record) {
	reason := about{"Catches a port that " + why + ".", "record-row lane bit-order", "RPI-3 RPO-9 CXR-2 CXR-3"}
	g.encodeLanes(name+"-encode", reason, accepted, lanes, list...)
	g.decodeLanes(name+"-decode", reason, accepted, lanes, lanesPayload(list...))
}

// repairRecords is the records of lanes with repair slices.
func repairRecords(g *group) {
	s, a := repairRecord(1, repairSliceOf(0x0102, 2, 3, 2)), repairRecord(0, repairAckOf(5, 3, 2, 700))
	m := ofChannel(message(2, 9, []byte("hello")))
	g.lanesBothWays("last-slice", "writes the body of a named slice", 2, s)
	g.lanesBothWays("repair-slice", "has no slices beyond the chunk's", 2, repairRecord(1, repairSliceOf(7, 8191, 1, 3)))
	g.lanesBothWays("full-slice", "refuses the largest slice", 16, repairRecord(15, repairSliceOf(65535, 4000, 256, 1024)))
	g.lanesBothWays("ack", "writes a bit for each slice", 1, a)
	g.lanesBothWays("hold", "does not know a hold", 1, repairRecord(0, repairAckOf(5, 3, 0, 0)))
	g.lanesBothWays("ack-of-256", "gives an ack another length than 6", 16, repairRecord(15, repairAckOf(65535, 256, 256, 8191)))
	g.lanesBothWays("two-acks", "begins a record elsewhere than behind the one before", 2, a, repairRecord(1, repairAckOf(6, 200, 100, 150)))
	g.lanesBothWays("ack-message-slice", "mixes records of channels and of lanes", 2, a, m, s)
	b := lanesPayload(repairRecord(0, repairSliceOf(5, 2, 3, 2)))
	for _, cut := range []struct{ n, at int }{{2, 2}, {3, 2}, {4, 4}, {5, 4}, {6, 5}, {7, 6}, {8, 8}, {9, 8}} {
		g.decodeLanes(fmt.Sprintf("slice-cut-to-%d", cut.n), about{"Catches a decoder that reads past the bytes of a slice, or reports another place.", "truncation", "RPI-3 CXR-5 DEC-17"}, fmt.Sprintf("truncated@%d", cut.at), 1, b[:cut.n])
	}
	g.decodeLanes("slice-and-a-byte", about{"Catches a decoder that passes over what is behind a slice.", "trailing-data", "RPI-3 CXR-5 DEC-17"}, "trailing_data@10", 1, joined(b, []byte{0}))
	g.decodeLanes("slice-padding", about{"Catches a decoder that does not look at the padding of a slice.", "padding canonical", "RPI-3 CXR-5 DEC-17"}, "nonzero_padding@7", 1, with(b, 7, b[7]|0x80))
	c := lanesPayload(a)
	for _, n := range []int{3, 5, 8} {
		g.decodeLanes(fmt.Sprintf("ack-cut-to-%d", n), about{"Catches a decoder that compares the length of an ack with the whole payload.", "truncation", "RPI-3 CXR-5"}, "truncated@3", 1, c[:n])
	}
	for _, length := range []struct {
		n    byte
		want string
	}{{0, "truncated@3"}, {2, "truncated@5"}, {3, "truncated@6"}, {4, "truncated@6"}, {5, "truncated@7"}} {
		g.decodeLanes(fmt.Sprintf("ack-length-%d", length.n), about{"Catches a decoder that reads an ack beyond its length.", "data-length", "RPI-3 CXR-5 DEC-17"}, length.want, 1, with(c, 2, length.n))
	}
	g.decodeLanes("ack-length-7", about{"Catches a decoder that passes over what is behind an ack.", "data-length trailing-data", "RPI-3 CXR-5 DEC-17"}, "trailing_data@9", 1, joined(with(c, 2, 7), []byte{0}))
	g.decodeLanes("ack-padding", about{"Catches a decoder that does not look at the padding of an ack.", "padding canonical", "RPI-3 CXR-5 DEC-17"}, "nonzero_padding@8", 1, with(c, 8, c[8]|0x80))
	g.decodeLanes("ack-have", about{"Catches a decoder that believes an ack of more slices than the chunk has.", "have", "RPI-3 RPD-4 CXR-5"}, "have_out_of_range@6", 1, with(c, 6, 4))
	g.decodeLanes("slice-lane", about{"Catches a decoder that takes a lane that was not agreed.", "lane", "RPI-3 CXR-5"}, "lane@1", 1, with(b, 1, 1))
	g.decodeLanes("named-slice", about{"Catches a decoder that takes a slice of the other variant.", "record-type", "RPI-3 CXR-5"}, "truncated@8", 1, connectionPayload(1, sliceRecord(0, slice(5, 2, 3, []byte("hi")))))
	g.decodeLanes("named-ack", about{"Catches a decoder that takes an ack of the other variant.", "record-type truncation", "RPI-3 CXR-5"}, "truncated@6", 1, connectionPayload(1, ackRecord(0, ack(5, acked(3, even)))))
	g.decodeConnection("in-the-other-variant", about{"Catches a decoder that takes repair slices where they were not agreed.", "record-type truncation", "RPI-3 RPO-9 CXR-5"}, "truncated@6", 1, lanesPayload(repairRecord(0, repairSliceOf(5, 2, 3, 2))))
	for _, one := range []struct {
		name, want string
		r          connectionoracle.Record
	}{
		{"encode-id-8192", "invalid_field@2", repairRecord(0, repairoracle.Packet{Type: repairoracle.TypeSlice, ChunkID: 1, SliceID: 8192, NumSlices: 1, LastBytes: 1, Data: oneByte})},
		{"encode-wrong-length", "invalid_field@2", repairRecord(0, repairoracle.Packet{Type: repairoracle.TypeSlice, ChunkID: 1, SliceID: 3, NumSlices: 2, LastBytes: 1, Data: oneByte})},
		{"encode-chunk-65536", "invalid_field@2", repairRecord(0, repairSliceOf(65536, 0, 1, 1))},
		{"encode-have-above", "invalid_field@3", repairRecord(0, repairAckOf(5, 3, 4, 4))},
		{"encode-top-8192", "invalid_field@3", repairRecord(0, repairAckOf(5, 3, 1, 8192))},
		{"encode-lane", "lane@1", repairRecord(1, repairAckOf(5, 3, 1, 2))},
	} {
		g.encodeLanes(one.name, about{"Catches an encoder that writes what its own decoder would refuse.", "encoder", "RPI-3 CXR-8"}, one.want, 1, one.r)
	}
}
