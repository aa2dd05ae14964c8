package flows

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// The sender hears of each mark, once, whatever acks are lost; and of none where nothing is
// marked.
func TestMarksComeBack(t *testing.T) {
	for _, above := range []int{0, 2000} {
		down := netsim.Path{Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, MarkAbove: above, Overhead: 28}
		up := down
		up.Loss, up.MarkAbove = 30, 0
		w := check.Must(NewWorld(Path{Down: down, Up: up}, 1))
		c := check.Must(w.AddChunks("marked", Options{Lanes: lanes.Config{Lanes: 2, Repair: true}, Chunks: 20}))
		w.Run(60 * core.Second)
		marked := c.Counts(Down, 0, 60*core.Second).Marked
		check.Equal(t, "marks that came", c.b.marks, marked)
		check.That(t, marked > 0 == (above > 0) && c.a.told <= marked && c.a.told >= marked-marked/10, "marks that are known")
		check.Equal(t, "marks back", c.a.marks, 0)
	}
}
