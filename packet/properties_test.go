package packet_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// Nothing is allocated once rings have grown, except for fragments.
func TestRegularPacketsAllocateNothing(t *testing.T) {
	p := newPair()
	for range 3000 {
		p.exchange()
	}
	check.Equal(t, "allocations", testing.AllocsPerRun(1000, p.exchange), 0)
	for _, d := range [][]byte{nil, {1, 2, 3}, {0x20, 0, 0, 0, 1}} {
		check.Equal(t, "allocations of a refusal", testing.AllocsPerRun(100, func() { sinkErr = p.ends[0].Receive(p.now, d, take) }), 0)
	}
}
