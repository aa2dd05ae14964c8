package fuzz

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// What the targets of the codec share: packets, and the oracle's view of them.

// isZero reports whether a decoder returned nothing.
func isZero(p codec.Packet) bool {
	return p.Type == 0 && p.Slice.Data == nil && agree.Same(p, codec.Packet{})
}

// describe names all of a packet in a line, its data by length and crc.
func describe(p codec.Packet) string {
	s, a := p.Slice, p.Ack
	return fmt.Sprintf("%v{slice %d of %d of chunk %d, the last of %d, %d bytes %08x; ack of chunk %d, %d slices, %x, %d below %d}", p.Type,
		s.SliceID, s.NumSlices, s.ChunkID, s.LastBytes, len(s.Data), crc32.ChecksumIEEE(s.Data), a.ChunkID, a.NumSlices, a.Acked, a.Have, a.Top)
}

func decodeBody(kind codec.Type, body []byte) (p codec.Packet, err error) {
	p.Type = kind
	if kind == codec.TypeAck {
		p.Ack, err = codec.Named.DecodeAckBody(body)
	} else {
		p.Slice, err = codec.Named.DecodeSliceBody(body)
	}
	if err != nil {
		p.Type = 0
	}
	return p, err
}

func appendBody(dst []byte, p codec.Packet) ([]byte, error) {
	if p.Type == codec.TypeAck {
		return codec.Named.AppendAckBody(dst, p.Ack)
	}
	return codec.Named.AppendSliceBody(dst, p.Slice)
}

// setCRC makes the crc of a datagram right, if it has room for one: otherwise no
// fuzzer would get past it.
func setCRC(protocolID uint32, datagram []byte) {
	if len(datagram) >= 4 {
		copy(datagram, oracle.Seal(protocolID, datagram[4:]))
	}
}

// compareDecoded holds what a decoder returned against the oracle: the same value,
// or a refusal by the same sentence at the same place, and nothing else returned
// (section 6.3). What is accepted must encode to the same bytes (LAW-2).
func compareDecoded(t T, b []byte, got codec.Packet, err error, want oracle.Packet, wantErr error, encode func(codec.Packet) ([]byte, error)) {
	t.Helper()
	compareErrors(t, err, wantErr)
	if err != nil {
		if e := wantErr.(*oracle.Error); err.(*codec.Error).Place() != e.At {
			t.Fatalf("%v, but the oracle says bit %d", err, e.At)
		}
		if !isZero(got) {
			t.Fatalf("refused with %v, but returned %s", err, describe(got))
		}
		return
	}
	if !agree.Same(got, agree.FromOracle(want)) {
		t.Fatalf("decoded %s, the oracle %s", describe(got), describe(agree.FromOracle(want)))
	}
	if data := got.Slice.Data; cap(data) != len(data) {
		t.Fatalf("the data of %d bytes have room behind them, in the caller's datagram", len(data))
	}
	if again, err := encode(got); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("accepted, but it encodes to %x, %v", again, err)
	}
}

func compareErrors(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	got, isOurs := err.(*codec.Error)
	w, refused := want.(*oracle.Error)
	if !isOurs || !refused || string(got.Code()) != w.Code || got.Rule() != w.Check {
		t.Fatalf("the codec says %v, the oracle %v", err, want)
	}
}

// readPacket makes a packet, representable or not: a byte for its type, of which
// bit 7 asks to put all fields within their limits; chunk_id, num_slices,
// slice_id and size, 2 bytes each; and its data, which is repeated as often as
// its size asks, or the bits of an ack.
func readPacket(s *script) codec.Packet {
	kind := s.byte()
	chunkID, num, id, size := s.uint16(), int(int16(s.uint16())), int(int16(s.uint16())), int(s.uint16()%1300)
	if kind&0x80 != 0 {
		num = 1 + (num-1)&0xff
		id = (id & 0xff) % num
	}
	switch kind & 0x7f % 8 {
	case 4, 5, 6:
		a := codec.Ack{ChunkID: chunkID, NumSlices: num}
		for w := range a.Acked {
			a.Acked[w] = s.uint64()
		}
		if kind&0x80 != 0 {
			a.Acked = a.Acked.Intersect(core.FirstN(num))
		}
		return codec.Packet{Type: codec.TypeAck, Ack: a}
	case 7:
		return codec.Packet{Type: codec.Type(2 + chunkID%254)}
	}
	if kind&0x80 != 0 {
		if size = 1 + (size-1)&0x3ff; id < num-1 {
			size = codec.SliceSize
		}
	}
	p := codec.Packet{Type: codec.TypeSlice, Slice: codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: num}}
	p.Slice.Data = repeated(s.left, size)
	return p
}

// repeated returns n bytes, the given ones again and again.
func repeated(b []byte, n int) []byte {
	out := make([]byte, n)
	if len(b) > 0 {
		for at := 0; at < n; {
			at += copy(out[at:], b)
		}
	}
	return out
}

// packetScript is the inverse of readPacket.
func packetScript(p codec.Packet) []byte {
	out := []byte{byte(4 * p.Type)}
	if p.Type == codec.TypeAck {
		out = appendUint16(appendUint16(out, p.Ack.ChunkID), uint16(p.Ack.NumSlices))
		out = appendUint16(appendUint16(out, 0), 0)
		for _, w := range p.Ack.Acked {
			out = appendUint32(appendUint32(out, uint32(w)), uint32(w>>32))
		}
		return out
	}
	s := p.Slice
	out = appendUint16(appendUint16(out, s.ChunkID), uint16(s.NumSlices))
	out = appendUint16(appendUint16(out, uint16(s.SliceID)), uint16(len(s.Data)))
	return append(out, s.Data...)
}

// packetOf returns the packet of a request, representable or not.
func packetOf(q contract.Request) codec.Packet {
	p := q.Packet
	if p == nil {
		return codec.Packet{Type: 2}
	}
	number := func(n *int64) int {
		if n == nil {
			return 0
		}
		return int(*n)
	}
	if p.Type == contract.TypeAck {
		acked := ""
		if p.Acked != nil {
			acked = *p.Acked
		}
		set, n, _ := contract.ParseBits(acked)
		return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: n, Acked: set}}
	}
	return codec.Packet{Slice: codec.Slice{
		ChunkID: uint16(p.ChunkID), SliceID: number(p.SliceID), NumSlices: number(p.NumSlices), Data: bytesOf(p.Data),
	}}
}

// codecRequests are the vectors' requests of the codec.
func codecRequests(files []testvectors.File, ops ...string) []contract.Request {
	return requests[contract.Request](files, ops...)
}
