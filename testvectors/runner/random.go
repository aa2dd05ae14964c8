package runner

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
)

// randomPackets makes the packets of appendix B, "Random packets", for the codec.
// It begins as the seed, which is not 0. The oracle has a generator of its own, so
// that the two can be compared.
type randomPackets uint32

// next is ACC-1.
func (r *randomPackets) next() uint32 {
	*r ^= *r << 13
	*r ^= *r >> 17
	*r ^= *r << 5
	return uint32(*r)
}

// Next returns a protocol id and a packet (ACC-2).
func (r *randomPackets) Next() (protocolID uint32, p codec.Packet) {
	protocolID = r.next()
	p.Type = codec.Type(r.next() % 2)
	chunkID := uint16(r.next() % 65536)
	n := int(r.next()%codec.MaxSlices + 1)
	if p.Type == codec.TypeAck {
		p.Ack = codec.Ack{ChunkID: chunkID, NumSlices: n}
		for id, w := 0, uint32(0); id < n; id, w = id+1, w>>1 {
			if id%32 == 0 {
				w = r.next()
			}
			if w&1 == 1 {
				p.Ack.Acked.Add(id)
			}
		}
		return protocolID, p
	}
	p.Slice = codec.Slice{ChunkID: chunkID, SliceID: int(r.next() % uint32(n)), NumSlices: n}
	size := codec.SliceSize
	if p.Slice.Last() {
		size = int(r.next()%codec.SliceSize + 1)
	}
	fill := r.next()
	p.Slice.Data = make([]byte, size)
	for i := range p.Slice.Data {
		p.Slice.Data[i] = byte(fill + uint32(i))
	}
	return protocolID, p
}

// Spoil flips a bit of a datagram after its crc, as in ACC-3, and makes the crc valid
// again.
func (r *randomPackets) Spoil(protocolID uint32, datagram []byte) {
	m := r.next()%uint32(8*len(datagram)-32) + 32
	datagram[m/8] ^= 1 << (m % 8)
	sum := crc32.ChecksumIEEE(binary.LittleEndian.AppendUint64(nil, uint64(protocolID)))
	binary.LittleEndian.PutUint32(datagram, crc32.Update(sum, crc32.IEEETable, datagram[4:]))
}
