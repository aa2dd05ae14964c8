package fuzz

import (
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// requests returns the requests of all vectors with one of some ops. Those that are
// malformed on purpose are left out: they are seeds of the target Port.
func requests[Q any](files []testvectors.File, ops ...string) (list []Q) {
	for _, f := range files {
		for _, v := range f.Vectors {
			var header contract.Header
			var q Q
			if json.Unmarshal(v.Request, &header) == nil && slices.Contains(ops, header.Op) && json.Unmarshal(v.Request, &q) == nil {
				list = append(list, q)
			}
		}
	}
	return list
}

// bytesOf reads hex; what is none gives nothing.
func bytesOf(text *string) []byte {
	if text == nil {
		return nil
	}
	b, _ := hex.DecodeString(*text)
	return b
}

func idOf(q contract.Request) uint32 {
	if q.ProtocolID == nil {
		return 0
	}
	return *q.ProtocolID
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

// codecRequests are the vectors' requests of the codec.
func codecRequests(files []testvectors.File, ops ...string) []contract.Request {
	return requests[contract.Request](files, ops...)
}

// number reads what a vector may leave out.
func number[N ~int | ~int64 | ~uint16](n *N) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
