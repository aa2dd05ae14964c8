package fuzz

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/layout"
)

const conversationID = 0x11223344 // the protocol id of what is decoded

// noise is what chunks are made of. Nothing writes to it.
var noise = func() []byte {
	b := make([]byte, codec.MaxChunkSize+1<<16)
	random := rand.NewChaCha8([32]byte{'n', 'o', 'i', 's', 'e'})
	random.Read(b)
	return b
}()

// content returns the bytes of the chunk with an id, which differ from id to id
// and from slice to slice.
func content(chunkID uint16, size int) []byte {
	from := int(chunkID) * 40503 & 0xffff
	return noise[from : from+size : from+size]
}

// describe names all of a packet in a line, its data by length and crc.
func describe(p codec.Packet) string {
	s, a := p.Slice, p.Ack
	return fmt.Sprintf("%v{slice %d of %d of chunk %d, the last of %d, %d bytes %08x; ack of chunk %d, %d slices, %x, %d below %d}", p.Type,
		s.SliceID, s.NumSlices, s.ChunkID, s.LastBytes, len(s.Data), crc32.ChecksumIEEE(s.Data), a.ChunkID, a.NumSlices, a.Acked, a.Have, a.Top)
}

// setCRC makes the crc of a datagram right, if it has room for one: otherwise no
// fuzzer would get past it.
func setCRC(protocolID uint32, datagram []byte) {
	layout.Reseal("chunk-datagram", datagram, layout.Parameters{"PROTOCOL_ID": int64(protocolID)})
}
