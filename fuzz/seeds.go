package fuzz

import (
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors"
)

// bytesIn returns what the requests of some ops want decoded. Those that are malformed on
// purpose are left out: they are seeds of the target Port.
func bytesIn(files []testvectors.File, ops ...string) (list [][]byte) {
	for _, request := range testvectors.Requests(files) {
		var q struct{ Op, Hex string }
		if json.Unmarshal(request, &q) == nil && slices.Contains(ops, q.Op) {
			b, _ := hex.DecodeString(q.Hex) // what is none gives nothing
			list = append(list, b)
		}
	}
	return list
}

// passBytes is the operation that lets time pass, for both machines' scripts, as
// often as needed.
func passBytes(out []byte, op byte, d int64) []byte {
	const most = 1<<32 - 1
	for ; d > 0 && len(out) < 1<<16; d -= min(d, most) {
		out = appendUint32(append(out, op), uint32(min(d, most)))
	}
	return out
}

// withBytes appends a size and so many bytes.
func withBytes(out, b []byte) []byte { return append(appendUint16(out, uint16(len(b))), b...) }
