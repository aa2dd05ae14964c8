package chunk

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/core"
)

// What a decoder returns, which judges need to know.

// GiveUpOf returns GIVE_UP for what was configured (7.2).
func GiveUpOf(configured core.Micros) core.Micros {
	if configured == 0 {
		return 10_000_000
	}
	return configured
}

// sliceIsValid is section 6.2, in its own words: whether a slice can be encoded.
func sliceIsValid(s codec.Slice) bool {
	if s.NumSlices < 1 || s.NumSlices > 256 || s.SliceID < 0 || s.SliceID >= s.NumSlices {
		return false
	}
	if s.SliceID < s.NumSlices-1 {
		return len(s.Data) == 1024
	}
	return len(s.Data) >= 1 && len(s.Data) <= 1024
}

// ackIsValid is the same of an ack.
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

// repairSliceIsValid is section 4.1 of spec/REPAIR.md, in its own words.
func repairSliceIsValid(s codec.Slice) bool {
	if s.NumSlices < 1 || s.NumSlices > 256 || s.SliceID < 0 || s.SliceID >= repairoracle.MaxIDs || s.LastBytes < 1 || s.LastBytes > 1024 {
		return false
	}
	if s.SliceID == s.NumSlices-1 || s.NumSlices == 1 {
		return len(s.Data) == s.LastBytes
	}
	return len(s.Data) == 1024
}

// repairAckIsValid is the same of an ack.
func repairAckIsValid(a codec.Ack) bool {
	return a.NumSlices >= 1 && a.NumSlices <= 256 && a.Have >= 0 && a.Have <= a.NumSlices && a.Top >= 0 && a.Top < repairoracle.MaxIDs
}
