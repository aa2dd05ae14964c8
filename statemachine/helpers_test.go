package statemachine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/codec"
)

// chunkOf returns size bytes in which no two slices are alike; another salt
// gives other bytes.
func chunkOf(size int, salt uint32) []byte {
	chunk := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(salt), byte(salt >> 8), byte(salt >> 16), byte(salt >> 24)}).Read(chunk)
	return chunk
}

// slicesOf cuts a chunk into its slices, the slow and simple way.
func slicesOf(chunkID uint16, chunk []byte) []codec.Slice {
	var list []codec.Slice
	for rest := chunk; len(rest) > 0; {
		n := min(1024, len(rest))
		list = append(list, codec.Slice{ChunkID: chunkID, SliceID: len(list), Data: rest[:n]})
		rest = rest[n:]
	}
	for i := range list {
		list[i].NumSlices = len(list)
	}
	return list
}

// ids returns a set of slice ids.
func ids(list ...int) codec.Bitset {
	var b codec.Bitset
	for _, id := range list {
		b.Set(id)
	}
	return b
}

// upTo returns the ids from..to, both included.
func upTo(from, to int) []int {
	var list []int
	for id := from; id <= to; id++ {
		list = append(list, id)
	}
	return list
}

// ackOf returns an ack of as many slices as bits has characters, slice 0 first.
func ackOf(chunkID uint16, bits string) codec.Ack {
	a := codec.Ack{ChunkID: chunkID, NumSlices: len(bits)}
	for id, c := range bits {
		if c == '1' {
			a.Acked.Set(id)
		}
	}
	return a
}

// fullAck returns the ack of a complete chunk.
func fullAck(chunkID uint16, numSlices int) codec.Ack {
	return codec.Ack{ChunkID: chunkID, NumSlices: numSlices, Acked: codec.FirstN(numSlices)}
}

func wantEqual[T any](t testing.TB, what string, got, want T, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func wantBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes differ from the %d wanted", what, len(got), len(want))
	}
}

// must fails the test unless what it says is so.
func must(t testing.TB, ok bool, what string) {
	t.Helper()
	if !ok {
		t.Fatal("not so: " + what)
	}
}

// opaque lets cmp look into this package's small structs.
var opaque = cmp.AllowUnexported(rttEstimator{})

// anyError compares errors by identity.
var anyError = cmp.Comparer(func(a, b error) bool { return a == b })
