package flows_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/flows"
)

const second = machine.Second

var s2 = netsim.Path{Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: 28}

func world(path netsim.Path) *flows.World {
	return check.Must(flows.NewWorld(flows.Path{Down: path, Up: path}, 1))
}

// One stream that has the link alone sends nothing twice and uses nearly all of it.
func TestStreamAlone(t *testing.T) {
	for _, repair := range []bool{false, true} {
		w := world(s2)
		c := check.Must(w.AddChunks("stream", flows.Options{Lanes: lanes.Config{Lanes: 8, Repair: repair}}))
		w.Run(20 * second)
		f := w.Figures(flows.Down, 10*second, 20*second, c.Flow)
		check.That(t, f.Use > 0.95 && f.Use <= 1, "the link is used")
		check.That(t, f.Resent < 0.01 && f.LostQueue == 0 && f.Jain == 1, "nothing is lost")
		check.That(t, len(c.Delivered(flows.Down)) > 85 && c.Err() == nil, "chunks are delivered")
	}
}
