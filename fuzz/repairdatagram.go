package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a byte, of which bit 0 asks to make the crc right, and bits 1 and 2 say what
// follows the protocol id, 4 bytes: 0 a datagram, 1 the body of a slice, 2 that of an ack, 3
// the fields of a packet as readRepairPacket reads them.
var targetRepairDatagram = newTarget("RepairDatagram", "the codec of repair slices does what its oracle does, by the canonical law", runRepairDatagram, seedRepairDatagrams)

func runRepairDatagram(t T, data []byte) {
	s := script{data}
	how, framer := s.byte(), codec.Repair.Framer(s.uint32())
	switch how >> 1 & 3 {
	case 0:
		datagram := bytes.Clone(s.left)
		if how&1 == 1 {
			setCRC(framer.ProtocolID(), datagram)
		}
		got, err := framer.Decode(datagram)
		want, wantErr := repairoracle.DecodeDatagram(framer.ProtocolID(), datagram)
		compareRepair(t, datagram, got, err, want, wantErr, func(p codec.Packet) ([]byte, error) { return framer.Append(nil, p) })
	case 1:
		got, err := codec.Repair.DecodeSliceBody(s.left)
		want, wantErr := repairoracle.DecodeBody(repairoracle.TypeSlice, s.left)
		compareRepair(t, s.left, codec.Packet{Slice: got}, err, want, wantErr, func(p codec.Packet) ([]byte, error) { return codec.Repair.AppendSliceBody(nil, p.Slice) })
	case 2:
		got, err := codec.Repair.DecodeAckBody(s.left)
		want, wantErr := repairoracle.DecodeBody(repairoracle.TypeAck, s.left)
		p := codec.Packet{Type: codec.TypeAck, Ack: got}
		if err != nil {
			p = codec.Packet{}
		}
		compareRepair(t, s.left, p, err, want, wantErr, func(p codec.Packet) ([]byte, error) { return codec.Repair.AppendAckBody(nil, p.Ack) })
	case 3:
		encodeRepair(t, framer, readRepairPacket(&s))
	}
}

// encodeRepair holds the encoder against the oracle. Of what is refused nothing is written;
// what is not decodes to the same.
func encodeRepair(t T, framer codec.Framer, p codec.Packet) {
	t.Helper()
	want, wantErr := repairoracle.EncodeDatagram(framer.ProtocolID(), agree.RepairForOracle(p))
	if verbose() {
		t.Logf("%s: %d bytes, %v", describe(p), len(want), wantErr)
	}
	if err := validateRepair(p); (err == nil) != (wantErr == nil) {
		t.Fatalf("Validate says %v, the oracle %v", err, wantErr)
	}
	room := bytes.Repeat([]byte{untouched}, 2000)
	out, err := framer.Append(room[:7], p)
	compareRepairErrors(t, err, wantErr)
	if !allUntouched(out[:7]) || err != nil && (len(out) != 7 || !allUntouched(room)) {
		t.Fatalf("the encoder wrote where it must not")
	}
	if err != nil {
		return
	}
	back, err := framer.Decode(out[7:])
	switch {
	case !bytes.Equal(out[7:], want):
		t.Fatalf("encoded %x, the oracle %x", out[7:], want)
	case err != nil || !agree.Same(back, p):
		t.Fatalf("it decodes to %s, %v, want %s", describe(back), err, describe(p))
	case p.Type == codec.TypeSlice && p.Slice.DatagramSize() != len(want), p.Type == codec.TypeAck && codec.Repair.AckSize(p.Ack.NumSlices) != len(want):
		t.Fatalf("it has %d bytes", len(want))
	}
}

func validateRepair(p codec.Packet) error {
	if p.Type == codec.TypeAck {
		return codec.Repair.ValidateAck(&p.Ack)
	}
	return codec.Repair.ValidateSlice(&p.Slice)
}

// compareRepair holds what a decoder returned against the oracle: the same value, or a
// refusal by the same sentence at the same place. What is accepted encodes to the same bytes.
func compareRepair(t T, b []byte, got codec.Packet, err error, want repairoracle.Packet, wantErr error, encode func(codec.Packet) ([]byte, error)) {
	t.Helper()
	if verbose() {
		t.Logf("%x: %s, %v", b, describe(got), err)
	}
	compareRepairErrors(t, err, wantErr)
	if err != nil {
		if e := wantErr.(*repairoracle.Error); err.(*core.Error).Place() != e.At || !agree.Same(got, codec.Packet{}) || got.Slice.Data != nil {
			t.Fatalf("%v at bit %d with %s, but the oracle says bit %d", err, err.(*core.Error).Place(), describe(got), e.At)
		}
		return
	}
	if !agree.Same(got, agree.RepairFromOracle(want)) {
		t.Fatalf("decoded %s, the oracle %+v", describe(got), want)
	}
	if data := got.Slice.Data; cap(data) != len(data) {
		t.Fatalf("the data of %d bytes have room behind them", len(data))
	}
	if again, err := encode(got); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("accepted, but it encodes to %x, %v", again, err)
	}
}

func compareRepairErrors(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	got, isOurs := err.(*core.Error)
	w, refused := want.(*repairoracle.Error)
	if !isOurs || !refused || string(got.Code()) != w.Code || got.Rule() != w.Check {
		t.Fatalf("the codec says %v, the oracle %v", err, want)
	}
}

// readRepairPacket makes a packet, representable or not: a byte for its type, of which bit 7
// asks to put all fields within their limits; chunk_id, num_slices, id or have, last_bytes or
// top, and size, 2 bytes each; and its data, which is repeated as often as its size asks.
func readRepairPacket(s *script) codec.Packet {
	kind := s.byte()
	chunkID, num, a, b, size := s.uint16(), int(int16(s.uint16())), int(int16(s.uint16())), int(int16(s.uint16())), int(s.uint16()%1300)
	within := kind&0x80 != 0
	if within {
		num = 1 + (num-1)&0xff
	}
	if kind&1 == 1 {
		if within {
			a, b = (a&0x1ff)%(num+1), b&0x1fff
		}
		return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: chunkID, NumSlices: num, Have: a, Top: b}}
	}
	if within {
		a, b, size = a&0x1fff, 1+b&0x3ff, 1024
		if a == num-1 || num == 1 {
			size = b
		}
	}
	return codec.Packet{Slice: codec.Slice{ChunkID: chunkID, SliceID: a, NumSlices: num, LastBytes: b, Data: repeated(s.left, size)}}
}

// repairPacketScript is the inverse of readRepairPacket.
func repairPacketScript(p *contract.RepairPacket) []byte {
	kind, a, b := byte(0), number(p.SliceID), number(p.LastBytes)
	if p.Type == contract.TypeAck {
		kind, a, b = 1, number(p.Have), number(p.Top)
	}
	data := bytesOf(p.Data)
	out := appendUint16(appendUint16([]byte{kind}, uint16(p.ChunkID)), uint16(p.NumSlices))
	out = appendUint16(appendUint16(appendUint16(out, uint16(a)), uint16(b)), uint16(len(data)))
	return append(out, data...)
}

func seedRepairDatagrams(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.RepairRequest](files, contract.OpRepairDecode, contract.OpRepairEncode) {
		id, kind := uint32(conversationID), byte(0)
		switch {
		case q.ProtocolID != nil:
			id = *q.ProtocolID
		case q.Type == contract.TypeAck:
			kind = 2
		default:
			kind = 1
		}
		if q.Packet != nil {
			seeds = append(seeds, append(appendUint32([]byte{3 << 1}, id), repairPacketScript(q.Packet)...))
			continue
		}
		for right := range byte(2) {
			seeds = append(seeds, append(appendUint32([]byte{kind<<1 | right}, id), bytesOf(q.Hex)...))
		}
	}
	for kind := range byte(2) { // each kind, within its limits
		for id := range byte(9) {
			seeds = append(seeds, append(appendUint32([]byte{3 << 1}, conversationID), 0x80|kind, 1, 0, 3, 0, id, 0, 9, 0, 9, 0, 7, 8, 9))
		}
	}
	return seeds
}
