package main

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

// A datagram is another's if a bit of it is, or if a field of the packet is.
func TestCheckForm(t *testing.T) {
	t.Parallel()
	slice := codec.Packet{Type: codec.TypeSlice, Slice: codec.Slice{ChunkID: 7, NumSlices: 3, SliceID: 2, Data: []byte("the end")}}
	ack := codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: 7, NumSlices: 3, Acked: core.FirstN(2)}}
	otherSlice, otherAck := slice, ack
	otherSlice.Slice.ChunkID++
	otherAck.Ack.ChunkID++
	checkForms(t, codec.Named, paces[0], slice, otherSlice, ack, otherAck)

	last := codec.Packet{Type: codec.TypeSlice, Slice: codec.Slice{ChunkID: 7, SliceID: 2, NumSlices: 3, LastBytes: 7, Data: []byte("the end")}}
	count := codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: 7, NumSlices: 3, Have: 2, Top: 5}}
	otherLast, otherCount := last, count
	otherLast.Slice.SliceID = 1
	otherCount.Ack.Top++
	checkForms(t, codec.Repair, repairPaces[0], last, otherLast, count, otherCount)
}

// checkForms checks packets, each with one that is another.
func checkForms(t *testing.T, kind codec.Kind, draw func(sim.Draw) pace, packets ...codec.Packet) {
	w := newWorld(1, soak.NewLog(false))
	e := w.ends[0]
	e.pace = draw(sim.NewDraw(1, 1))
	e.machines = newMachines(kind, e, 0)
	wrong := func(data []byte, p codec.Packet) bool { return e.misformed(data, p) != nil }
	for i := 0; i < len(packets); i += 2 {
		p, other := packets[i], packets[i+1]
		data, err := e.framer.Append(nil, p)
		if err != nil || wrong(data, p) {
			t.Fatalf("%s: %v", describe(p), err)
		}
		for bit := range 8 * len(data) {
			b := bytes.Clone(data)
			b[bit/8] ^= 1 << (bit % 8)
			if !wrong(b, p) {
				t.Errorf("%s: nothing is wrong with bit %d", describe(p), bit)
			}
		}
		if !wrong(data, other) {
			t.Errorf("%s passes for another", describe(p))
		}
	}
}
