package repair

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/repair/code"
)

// What models and judges both need to know.

// sliceIsValid is what the encoder takes, in its own words.
func sliceIsValid(s codec.Slice) bool {
	if s.NumSlices < 1 || s.NumSlices > 256 || s.SliceID < 0 || s.SliceID >= code.MaxIDs || s.LastBytes < 1 || s.LastBytes > 1024 {
		return false
	}
	if s.SliceID == s.NumSlices-1 || s.NumSlices == 1 {
		return len(s.Data) == s.LastBytes
	}
	return len(s.Data) == 1024
}

// ackIsValid is the same of an ack.
func ackIsValid(a codec.Ack) bool {
	return a.NumSlices >= 1 && a.NumSlices <= 256 && a.Have >= 0 && a.Have <= a.NumSlices && a.Top >= 0 && a.Top < code.MaxIDs
}
