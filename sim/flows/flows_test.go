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

func TestSmoke(t *testing.T) {
	for _, repair := range []bool{false, true} {
		for _, n := range []int{1, 8} {
			for _, k := range []int{1, 4} {
				w := check.Must(flows.NewWorld(flows.Path{Down: s2, Up: s2}, 1))
				var all []*flows.Flow
				for range k {
					f := check.Must(w.AddChunks("f", flows.Options{Lanes: lanes.Config{Lanes: n, Repair: repair}}))
					all = append(all, f.Flow)
				}
				start := time.Now()
				w.Run(60 * second)
				f := w.Figures(flows.Down, 10*second, 60*second, all...)
				t.Logf("%v %d %d: use %.2f jain %.2f resent %.2f lost %.2f wait %v total %+v %v", repair, n, k, f.Use, f.Jain, f.Resent, f.LostQueue, f.Wait, f.Total, time.Since(start))
			}
		}
	}
}
