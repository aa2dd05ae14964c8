package repair

import (
	"github.com/chunkwire/chunkwire/conform/sim/repair/code"
	protocol "github.com/chunkwire/chunkwire/repair"
)

// What models and judges both need to know.

// sliceIsValid is what the encoder takes, in its own words.
func sliceIsValid(s protocol.Slice) bool {
	if s.NumSlices < 1 || s.NumSlices > 256 || s.ID < 0 || s.ID >= code.MaxIDs || s.LastBytes < 1 || s.LastBytes > 1024 {
		return false
	}
	if s.ID == s.NumSlices-1 || s.NumSlices == 1 {
		return len(s.Data) == s.LastBytes
	}
	return len(s.Data) == 1024
}

// ackIsValid is the same of an ack.
func ackIsValid(a protocol.Ack) bool {
	return a.NumSlices >= 1 && a.NumSlices <= 256 && a.Have >= 0 && a.Have <= a.NumSlices && a.Top >= 0 && a.Top < code.MaxIDs
}
