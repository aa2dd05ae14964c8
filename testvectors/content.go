package testvectors

import (
	"bytes"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
)

// ChunkContent returns the bytes that a chunk has in a trace (TRC-1).
func ChunkContent(chunkID uint16, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i + 31*(i/codec.SliceSize) + 7*int(chunkID))
	}
	return b
}

// sliceContent returns the bytes of a slice in a trace: those of its chunk, or
// all the same.
func sliceContent(chunkID uint16, sliceID, size int, fill *byte) []byte {
	if fill != nil {
		return bytes.Repeat([]byte{*fill}, size)
	}
	from := sliceID * codec.SliceSize
	return ChunkContent(chunkID, from+size)[from:]
}

func contentOf(b []byte) Content { return Content{Size: len(b), CRC32: crc32.ChecksumIEEE(b)} }

// AckedBits writes the first n ids of a set as the port contract does, one
// character a slice.
func AckedBits(set codec.Bitset, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
		if set.Has(i) {
			b[i] = '1'
		}
	}
	return string(b)
}

// ParseAcked reads what AckedBits writes: 1 to codec.MaxSlices characters. It
// fails with codec.ErrInvalidField.
func ParseAcked(s string) (set codec.Bitset, n int, err error) {
	if len(s) < 1 || len(s) > codec.MaxSlices {
		return set, 0, codec.ErrInvalidField
	}
	for i := range len(s) {
		switch s[i] {
		case '1':
			set.Set(i)
		case '0':
		default:
			return codec.Bitset{}, 0, codec.ErrInvalidField
		}
	}
	return set, len(s), nil
}
