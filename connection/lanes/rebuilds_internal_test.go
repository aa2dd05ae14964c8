package lanes

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// Whoever completes chunks of nothing but repair slices all the time has the whole share, and
// leaves room for those that miss less: a chunk of which half arrived as it was has it at most of
// its tries, and one that misses a quarter at nearly all (RPH-3).
func TestAttackersLeaveRoom(t *testing.T) {
	var bound Rebuilds
	taken, tries := map[int]int{}, map[int]int{}
	try := func(now core.Micros, missing int) {
		if tries[missing]++; bound.take(now, missing) {
			taken[missing]++
		}
	}
	for now := core.Micros(0); now < 100*core.Second; now += core.Millisecond {
		try(now, 256)
		switch {
		case now%(53*core.Millisecond) == 0:
			try(now, 128)
		case now%(59*core.Millisecond) == 0:
			try(now, 80)
		}
	}
	for missing, n := range tries {
		t.Logf("%d missing: %d of %d tries", missing, taken[missing], n)
	}
	check.That(t, taken[128]*2 > tries[128] && taken[80]*10 > tries[80]*8, "others have room")
	work := core.Micros(0)
	for missing, n := range taken {
		work += core.Micros((missing-rebuiltFree)*n) * rebuiltSlice
	}
	check.That(t, work <= 100*core.Second/rebuildsShare+rebuildsAtOnce, "the share is kept")
}
