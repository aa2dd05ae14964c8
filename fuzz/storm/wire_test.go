package main

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
)

// What is read by hand is what the codec wrote.
func TestReadDatagram(t *testing.T) {
	t.Parallel()
	d := newRandom(1, 0)
	framer := codec.NewFramer(9)
	for range 2000 {
		n := int(d.between(1, 256))
		s := codec.Slice{ChunkID: uint16(d.Uint32()), NumSlices: n, SliceID: d.IntN(n), Data: make([]byte, 1024)}
		if s.Last() {
			s.Data = s.Data[:d.between(1, 1024)]
		}
		b, _ := framer.AppendSlice(nil, s)
		p, err := readDatagram(9, b)
		got := p.Slice
		if err != nil || !isSlice(p) || got.ChunkID != s.ChunkID || got.SliceID != s.SliceID || got.NumSlices != n || !bytes.Equal(got.Data, s.Data) {
			t.Fatalf("%+v is read as %s, %v", s, describe(p), err)
		}
		a := codec.Ack{ChunkID: s.ChunkID, NumSlices: n, Acked: bitset.Set{d.Uint64(), d.Uint64(), d.Uint64(), d.Uint64()}.Intersect(bitset.FirstN(n))}
		b, _ = framer.AppendAck(nil, a)
		p, err = readDatagram(9, b)
		if err != nil || isSlice(p) || p.Ack != a {
			t.Fatalf("%+v is read as %s, %v", a, describe(p), err)
		}
		b[d.IntN(len(b))]++
		if _, err := readDatagram(9, b); err == nil {
			t.Fatalf("a changed datagram is read")
		}
	}
}
