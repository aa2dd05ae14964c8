package fuzz

import (
	"fmt"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
)

// isZero reports whether a decoder returned nothing.
func isZero(p codec.Packet) bool {
	s := p.Slice
	return p.Type == 0 && s.ChunkID == 0 && s.SliceID == 0 && s.NumSlices == 0 && s.Data == nil && p.Ack == (codec.Ack{})
}

// isValid is section 6.2, in words of its own: whether a packet can be
// represented. A packet of one type has nothing of the other.
func isValid(p codec.Packet) bool {
	switch p.Type {
	case codec.TypeSlice:
		return p.Ack == (codec.Ack{}) && sliceIsValid(p.Slice)
	case codec.TypeAck:
		return isZero(codec.Packet{Slice: p.Slice}) && ackIsValid(p.Ack)
	}
	return false
}

func sliceIsValid(s codec.Slice) bool {
	if s.NumSlices < 1 || s.NumSlices > 256 || s.SliceID < 0 || s.SliceID >= s.NumSlices {
		return false
	}
	if s.SliceID < s.NumSlices-1 {
		return len(s.Data) == 1024
	}
	return len(s.Data) >= 1 && len(s.Data) <= 1024
}

func ackIsValid(a codec.Ack) bool {
	if a.NumSlices < 1 || a.NumSlices > 256 {
		return false
	}
	for id := a.NumSlices; id < 256; id++ {
		if a.Acked.Has(id) {
			return false
		}
	}
	return true
}

// describe names all of a packet in a line, its data by length and crc.
func describe(p codec.Packet) string {
	s, a := p.Slice, p.Ack
	return fmt.Sprintf("%v{slice %d of %d of chunk %d, %d bytes %08x; ack of chunk %d, %d slices, %x}", p.Type,
		s.SliceID, s.NumSlices, s.ChunkID, len(s.Data), crc32.ChecksumIEEE(s.Data), a.ChunkID, a.NumSlices, a.Acked)
}
