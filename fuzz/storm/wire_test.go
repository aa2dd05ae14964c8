package main

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
)

// A datagram is another's if a bit of it is, or if a field of the packet is.
func TestCheckForm(t *testing.T) {
	t.Parallel()
	w := newWorld(1, false)
	e := w.ends[0]
	slice := codec.Packet{Type: codec.TypeSlice, Slice: codec.Slice{ChunkID: 7, NumSlices: 3, SliceID: 2, Data: []byte("the end")}}
	ack := codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: 7, NumSlices: 3, Acked: bitset.FirstN(2)}}
	wrong := func(data []byte, p codec.Packet) bool {
		w.failure = nil
		e.checkForm(data, p)
		return w.failure != nil && w.failure.Rule == "FRM-1"
	}
	for _, p := range []codec.Packet{slice, ack} {
		data, err := e.framer.Append(nil, p)
		if err != nil || wrong(data, p) {
			t.Fatalf("%s: %v, %v", describe(p), err, w.failure)
		}
		for bit := range 8 * len(data) {
			b := bytes.Clone(data)
			b[bit/8] ^= 1 << (bit % 8)
			if !wrong(b, p) {
				t.Errorf("%s: nothing is wrong with bit %d", describe(p), bit)
			}
		}
		other := p
		other.Slice.ChunkID++
		other.Ack.ChunkID++
		if !wrong(data, other) {
			t.Errorf("%s passes for another", describe(p))
		}
	}
}
