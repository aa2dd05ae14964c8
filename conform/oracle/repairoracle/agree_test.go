package repairoracle_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/statemachine"
)

// anyChunk is a chunk of few slices, or of as many as there may be.
func anyChunk(t *rapid.T) []byte {
	k := rapid.SampledFrom([]int{1, 1, 2, 2, 3, 3, 4, 8, 9, 17}).Draw(t, "slices")
	b := make([]byte, 1024*(k-1)+rapid.SampledFrom([]int{1, 7, 8, 500, 1023, 1024}).Draw(t, "last"))
	x := stream.Random(rapid.Uint32Range(1, 1<<32-1).Draw(t, "content"))
	for i := range b {
		b[i] = byte(x.Next())
	}
	return b
}

func TestCodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunk := anyChunk(t)
		e := erasure.Encode(chunk)
		k := int64(e.NumSlices())
		d := repairoracle.NewDecoder(k, int64(e.LastBytes()))
		var p erasure.Decoder
		p.Begin(e.NumSlices(), e.LastBytes(), new(statemachine.Memory))
		for range rapid.IntRange(0, int(2*k+4)).Draw(t, "arrive") {
			id := rapid.OneOf(rapid.Int64Range(0, 2*k+2), rapid.Int64Range(0, repairoracle.MaxIDs-1)).Draw(t, "id")
			data := repairoracle.Slice(chunk, id)
			if got := e.Slice(int(id)); !bytes.Equal(got, data) {
				t.Fatalf("slice %d of %d differs", id, k)
			}
			if d.Rank() == k {
				break
			}
			if got, want := p.Add(int(id), data), d.Add(id, data); got != want || int64(p.Rank()) != d.Rank() {
				t.Fatalf("slice %d of %d: added %t, rank %d, the oracle %t, %d", id, k, got, p.Rank(), want, d.Rank())
			}
		}
		if d.Rank() < k {
			return
		}
		want, _ := d.Rebuild()
		if got := bytes.Join(blocks(p.Rebuild()), nil); !bytes.Equal(got[:len(chunk)], want) || !bytes.Equal(want, chunk) {
			t.Fatalf("%d slices are rebuilt as something else", k)
		}
	})
}

func blocks(list []*[erasure.SliceSize]byte) (b [][]byte) {
	for _, s := range list {
		b = append(b, s[:])
	}
	return b
}
