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
			b, _ := hex.DecodeString(q.Hex) // text that is not hex gives nothing
			list = append(list, b)
		}
	}
	return list
}
