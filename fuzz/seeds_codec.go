package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

func seedDatagrams(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests(files, "decode_packet") {
		seeds = append(seeds, datagramSeed(0, q.ProtocolID, bytesOf(q.Hex)), datagramSeed(1, q.ProtocolID, bytesOf(q.Hex)))
	}
	for _, q := range requests(files, "encode_packet") {
		if d, err := codec.NewFramer(q.ProtocolID).Append(nil, q.Packet.packet()); err == nil {
			seeds = append(seeds, datagramSeed(1, q.ProtocolID, d))
		}
	}
	return seeds
}

func datagramSeed(mode byte, protocolID uint32, datagram []byte) []byte {
	return append(appendUint32([]byte{mode}, protocolID), datagram...)
}

func seedBodies(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests(files, "decode_body") {
		seeds = append(seeds, append([]byte{kindOf(q.Type)}, bytesOf(q.Hex)...))
	}
	for _, q := range requests(files, "encode_body") {
		p := q.Packet.packet()
		if body, err := appendBody(nil, p); err == nil {
			seeds = append(seeds, append([]byte{byte(p.Type)}, body...))
		}
	}
	return seeds
}

func kindOf(name string) byte {
	if name == codec.TypeAck.String() {
		return byte(codec.TypeAck)
	}
	return byte(codec.TypeSlice)
}

func seedOracle(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests(files, "decode_packet") {
		seeds = append(seeds, datagramSeed(oracleDatagram, q.ProtocolID, bytesOf(q.Hex)), datagramSeed(oracleRepaired, q.ProtocolID, bytesOf(q.Hex)))
	}
	for _, q := range requests(files, "decode_body") {
		seeds = append(seeds, datagramSeed(oracleSliceBody+kindOf(q.Type), 0, bytesOf(q.Hex)))
	}
	for _, q := range requests(files, "encode_packet", "encode_body") {
		seeds = append(seeds, datagramSeed(oracleEncode, q.ProtocolID, q.Packet.script()))
	}
	return seeds
}

func seedRoundTrips(files []testvectors.File) (seeds [][]byte) {
	for i, q := range requests(files, "encode_packet", "encode_body") {
		head := append(appendUint32(nil, q.ProtocolID), byte(i), byte(i*7))
		seeds = append(seeds, append(head, q.Packet.script()...))
	}
	for kind := range 8 { // every kind, within its limits
		for id := range 3 {
			head := append(appendUint32(nil, conversationID), 3, 200, 0x80|byte(kind), 1, 0, 3, 0, byte(id), 0, 9, 0)
			seeds = append(seeds, append(head, noise[:40]...))
		}
	}
	return seeds
}

// packet is a request's packet, representable or not.
func (q requestPacket) packet() codec.Packet {
	if q.Type == codec.TypeAck.String() {
		set, n, _ := testvectors.ParseAcked(q.Acked)
		return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: uint16(q.ChunkID), NumSlices: n, Acked: set}}
	}
	return codec.Packet{Slice: codec.Slice{ChunkID: uint16(q.ChunkID), SliceID: q.SliceID, NumSlices: q.NumSlices, Data: bytesOf(q.Data)}}
}

// script is the inverse of readPacket.
func (q requestPacket) script() []byte {
	p := q.packet()
	out := []byte{byte(4 * p.Type)}
	out = appendUint16(out, uint16(q.ChunkID))
	if p.Type == codec.TypeAck {
		out = appendUint16(appendUint16(appendUint16(out, uint16(p.Ack.NumSlices)), 0), 0)
		for _, w := range p.Ack.Acked {
			out = appendUint32(appendUint32(out, uint32(w)), uint32(w>>32))
		}
		return out
	}
	s := p.Slice
	out = appendUint16(appendUint16(appendUint16(out, uint16(s.NumSlices)), uint16(s.SliceID)), uint16(len(s.Data)))
	return append(out, s.Data...)
}

// seedBits writes packets as bytes and reads them back by fields, and reads what
// was written by scripts of all operations.
func seedBits(files []testvectors.File) (seeds [][]byte) {
	var every []byte
	for op := range byte(15) {
		every = append(append(every, op), noise[:20]...)
	}
	for i := range 16 {
		seeds = append(seeds, append([]byte{byte(i)}, every[i:]...), append([]byte{byte(i)}, noise[i*64:i*64+200]...))
	}
	for _, q := range requests(files, "decode_body") {
		b := bytesOf(q.Hex)
		b = b[:min(len(b), 39)]
		seed := append([]byte{0, 12, byte(len(b))}, b...)
		seed = append(seed, 15, 0, 15, 0, 7, 0, 7, 6, 7, byte(len(b)/2), 1, 63, 5, 6, 2, 31)
		seeds = append(seeds, seed)
	}
	return seeds
}
