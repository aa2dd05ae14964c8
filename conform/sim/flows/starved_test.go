package flows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/netsim"
)

// No lane is starved by others when a path becomes 200 times slower: none gives up (LAN-8, SCH-2).
func TestNoLaneIsStarved(t *testing.T) {
	fast := netsim.Path{Delay: 25 * time.Millisecond, Rate: 100e6, Queue: 512 << 10, Overhead: 28}
	slow, up := fast, netsim.Path{Delay: 25 * time.Millisecond, Overhead: 28}
	slow.Rate, slow.Queue = 500e3, 64<<10
	for _, repair := range both {
		w := worldOf(1, flows.Path{Down: fast, Up: up, Changes: []flows.Change{{At: 5 * second, Down: slow, Up: up}}})
		c := chunks(w, flows.Options{Lanes: lanesOf(8, repair)})
		w.Run(20 * second)
		t.Logf("repair %v: %d chunks", repair, len(c.Delivered(flows.Down)))
		check.Same(t, fmt.Sprint("repair ", repair), c.Err(), nil)
	}
}
