package sim_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/sim"
)

func TestFootprint(t *testing.T) {
	type node struct {
		next *node
		data []*[1024]byte
	}
	ring := &node{data: make([]*[1024]byte, 2, 4)}
	ring.next = ring
	ring.data[0] = new([1024]byte)
	if got := sim.Footprint(ring); got != 1024+4*8+32 && got != 1024+4*4+16 {
		t.Errorf("it takes %d bytes", got)
	}
	other := struct {
		names map[int64]int64
		text  string
		inner any
		none  *node
	}{map[int64]int64{1: 2, 3: 4}, "12345", ring.data[0], nil}
	if got := sim.Footprint(other); got != 2*24+5+1024 {
		t.Errorf("the other takes %d bytes", got)
	}
}
