package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/oracle"
)

// An input of FuzzOracle is a byte that says what to do: decode a datagram, decode
// one whose crc is made right, decode a slice's or an ack's body, or encode; a
// protocol id, 4 bytes; and the bytes to decode, or a packet as readPacket takes it.

const (
	oracleDatagram = iota
	oracleRepaired
	oracleSliceBody
	oracleAckBody
	oracleEncode
	oracleOps
)

// CheckOracle asks the codec and the oracle the same. They must give the same
// value, or refuse by the same sentence, and a decoder at the same bit.
func CheckOracle(t T, data []byte) {
	s := script{data}
	op, protocolID := s.byte()%oracleOps, s.uint32()
	framer := codec.NewFramer(protocolID)
	switch op {
	case oracleDatagram, oracleRepaired:
		d := append([]byte(nil), s.left...)
		if op == oracleRepaired {
			repair(protocolID, d)
		}
		got, err := framer.Decode(d)
		want, wantErr := oracle.DecodeDatagram(protocolID, d)
		compareDecoded(t, got, err, want, wantErr)
	case oracleSliceBody, oracleAckBody:
		kind := codec.Type(op - oracleSliceBody)
		got, err := decodeBody(kind, s.left)
		want, wantErr := oracle.DecodeBody(kind.String(), s.left)
		compareDecoded(t, got, err, want, wantErr)
	case oracleEncode:
		p := readPacket(&s)
		got, err := framer.Append(nil, p)
		want, wantErr := oracle.EncodeDatagram(protocolID, forOracle(p))
		compareEncoded(t, got, err, want, wantErr)
		if p.Type <= codec.TypeAck {
			got, err = appendBody(nil, p)
			want, wantErr = oracle.EncodeBody(forOracle(p))
			compareEncoded(t, got, err, want, wantErr)
		}
	}
}

func compareDecoded(t T, got codec.Packet, err error, want oracle.Packet, wantErr error) {
	t.Helper()
	compareErrors(t, err, wantErr)
	if err == nil && !samePacket(got, fromOracle(want)) {
		t.Fatalf("decoded %s, the oracle %s", describe(got), describe(fromOracle(want)))
	}
	if e, ok := wantErr.(*oracle.Error); ok && err.(*codec.Error).Bit() != e.Bit {
		t.Fatalf("%v, but the oracle says bit %d", err, e.Bit)
	}
}

func compareEncoded(t T, got []byte, err error, want []byte, wantErr error) {
	t.Helper()
	compareErrors(t, err, wantErr)
	if !bytes.Equal(got, want) {
		t.Fatalf("encoded %d bytes, the oracle %d, the first difference at byte %d", len(got), len(want), firstDifference(got, want))
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func compareErrors(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	got, isOurs := err.(*codec.Error)
	w, refused := want.(*oracle.Error)
	if !isOurs || !refused || string(got.Code()) != w.Code || got.Rule() != w.Sentence {
		t.Fatalf("the codec says %v, the oracle %v", err, want)
	}
}

// forOracle says a packet in the oracle's terms.
func forOracle(p codec.Packet) oracle.Packet {
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

// fromOracle is the inverse, for packets that can be represented.
func fromOracle(p oracle.Packet) codec.Packet {
	if p.Type == oracle.TypeSlice {
		return codec.Packet{Slice: codec.Slice{ChunkID: uint16(p.ChunkID), SliceID: int(p.SliceID), NumSlices: int(p.NumSlices), Data: p.Data}}
	}
	a := codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: int(p.NumSlices)}
	for id, bit := range p.Acked {
		if bit {
			a.Acked.Set(id)
		}
	}
	return codec.Packet{Type: codec.TypeAck, Ack: a}
}
