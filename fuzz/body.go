package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a byte, of which bit 0 is the type, and a bare body.
var targetBody = newTarget("Body", "the same for bare bodies", runBody, seedBodies)

func runBody(t T, data []byte) {
	s := script{data}
	kind := codec.Type(s.byte() & 1)
	body, before := bytes.Clone(s.left), s.left
	got, err := decodeBody(kind, body)
	want, wantErr := oracle.DecodeBody(kind.String(), before)
	if verbose() {
		t.Logf("%v %x: %s, %v", kind, before, describe(got), err)
	}
	compareDecoded(t, before, got, err, want, wantErr, func(p codec.Packet) ([]byte, error) { return appendBody(nil, p) })
	if !bytes.Equal(before, body) {
		t.Fatalf("decoding changed the body")
	}
}

func seedBodies(files []testvectors.File) (seeds [][]byte) {
	for _, q := range codecRequests(files, contract.OpDecodeBody) {
		kind := codec.TypeSlice
		if q.Type == contract.TypeAck {
			kind = codec.TypeAck
		}
		seeds = append(seeds, append([]byte{byte(kind)}, bytesOf(q.Hex)...))
	}
	for _, q := range codecRequests(files, contract.OpEncodeBody) {
		p := packetOf(q)
		if body, err := appendBody(nil, p); err == nil {
			seeds = append(seeds, append([]byte{byte(p.Type)}, body...))
		}
	}
	return seeds
}
