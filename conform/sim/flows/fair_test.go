package flows_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// FQ-CoDel gives each flow its part and the rest to those that want more; one that sends less than its part waits
// for a datagram or two only (RFC 8290, 1.3 and 5). Nothing is lost that is not counted.
func TestFairQueue(t *testing.T) {
	w := check.Must(flows.NewWorld(flows.Path{Down: simple, Up: simple, Fair: true}, 1)) // 1000 bytes a millisecond
	sends := []core.Micros{ms / 2, ms / 2, 5 * ms}                                       // each sends one in this time
	var all []*flows.Flow
	var ends []*counted
	for i, every := range sends {
		ends = append(ends, &counted{End: &steady{}})
		all = append(all, w.Add(fmt.Sprint(i), &steady{left: math.MaxInt, every: every, next: core.Micros(i)}, ends[i]))
	}
	w.Run(20 * second)
	f := w.Figures(flows.Down, 10*second, 20*second, all...)
	for i, want := range []int64{4e6, 4e6, 2e6} {
		check.That(t, max(f.Shares[i]-want, want-f.Shares[i]) < 50_000, fmt.Sprint("share of ", i, ": ", f.Shares[i]))
		c := all[i].Counts(flows.Down, 0, 20*second)
		check.That(t, c.Sent-c.LostQueue-int64(ends[i].handled) <= 10, fmt.Sprint("counts of ", i, ": ", c, ends[i].handled))
		check.Equal(t, fmt.Sprint(i, " loses"), c.LostQueue > 0, i < 2)
	}
}

// A queue that is full drops from its longest.
func TestFairQueueThatIsFull(t *testing.T) {
	path := simple
	path.Queue = 20_000
	w := check.Must(flows.NewWorld(flows.Path{Down: path, Up: path, Fair: true}, 1))
	burst := w.Add("burst", &steady{left: 100}, &steady{})
	other := w.Add("other", &steady{left: 10, next: ms}, &steady{})
	w.Run(second)
	check.Equal(t, "of the burst", burst.Counts(flows.Down, 0, second).LostQueue, 88)
	check.Equal(t, "of the other", other.Counts(flows.Down, 0, second).LostQueue, 0)
	check.That(t, w.Wait(flows.Down, 0, second).P95 < 25, "it is short")
}
