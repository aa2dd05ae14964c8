package lanes

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// Whoever sends 20,000 repair slices a second has the whole share, and leaves room for those that need less: a chunk that
// misses a twentieth is complete at nearly all of its tries, and one that misses half at most of them, whatever chunks
// the attacker completes (RPH-3).
func TestAttackersLeaveRoom(t *testing.T) {
	for _, attackers := range []int{256, 64, 48, 8, 1} {
		var b Rebuilds
		taken, tries := map[int]int{}, map[int]int{}
		held := 0
		for now := core.Micros(0); now < 100*core.Second; now += core.Millisecond {
			for range 20 {
				if !b.stored.take(now, storing, storedCost) {
					continue
				}
				if held++; held < attackers {
					continue
				}
				if held--; b.rebuilt.take(now, rebuilding, rebuiltCost(attackers)) {
					taken[attackers]++
					held = 0
				}
			}
			switch {
			case now%(53*core.Millisecond) == 0:
				honest(&b, now, 128, taken, tries)
			case now%(59*core.Millisecond) == 0:
				honest(&b, now, 13, taken, tries)
			}
		}
		t.Logf("beside %d chunks of %d: with 128 %d of %d, with 13 %d of %d", taken[attackers], attackers, taken[128], tries[128], taken[13], tries[13])
		check.That(t, taken[128]*2 > tries[128] && taken[13]*10 > tries[13]*9, "others have room")
		work := core.Micros(0)
		for repair, n := range taken {
			work += core.Micros(n) * rebuiltCost(repair)
		}
		check.That(t, work <= 100*core.Second/4+rebuilding.atOnce, "the share is kept")
	}
}

// honest completes a chunk whose other slices are here.
func honest(b *Rebuilds, now core.Micros, repair int, taken, tries map[int]int) {
	if tries[repair]++; b.rebuilt.take(now, rebuilding, rebuiltCost(repair)) {
		taken[repair]++
	}
}
