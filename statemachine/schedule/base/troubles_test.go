package base_test

import (
	"flag"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

var (
	exploreOnly    = flag.String("explore.only", "", "the one scenario that TestExploreBase visits")
	exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreBase place one trouble more")
)

// Stalls of timers, which the explorer of package statemachine leaves to the
// scheduler: here both machines run in their real time, and all ways to place a few
// troubles among their packets are tried (LIVE-2). A second is enough, but for one
// case: an outage in the first chunk can leave a bound of 6 s for the round trip
// (RTT-4), and so a timer of 3 s for the next one that is needed (TMR-2), before or
// after a hold.
func TestExploreBase(t *testing.T) {
	for _, c := range []struct {
		name     string
		profile  base.Profile
		slices   []int // of each chunk
		most     int   // troubles
		readTime core.Micros
		within   core.Micros
	}{
		{"burst", base.Burst(), []int{3, 2}, 3, 0, 4 * core.Second},
		{"burst, one chunk", base.Burst(), []int{8}, 2, 0, core.Second},
		{"burst, slow reader", base.Burst(), []int{1, 3}, 2, 700 * ms, 5 * core.Second},
		{"article", base.Article(1_000_000), []int{3, 2}, 3, 0, core.Second},
		{"thin", base.Profile{Rate: 32_000, Cap: 1066}, []int{3, 1}, 2, 0, 4 * core.Second},
	} {
		if *exploreOnly != "" && c.name != *exploreOnly {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var chunks [][]byte
			for i, n := range c.slices {
				chunks = append(chunks, chunktest.Chunk((n-1)*1024+2+n, uint32(i+1)))
			}
			if *exploreNightly {
				c.most++
			}
			x := explore.Troubles[codec.Packet]{
				Delay: 25 * ms, Late: 120 * ms, Outage: 6 * core.Second, Most: c.most, Within: c.within, Text: chunk.Text,
				Run: chunk.Troubled(codec.Named, func() (statemachine.Scheduler, error) { return base.New(c.profile) }, c.readTime, chunks...),
			}
			r := x.Search()
			if r.Err != nil {
				t.Fatalf("%v\n%s", r.Err, r.Trace)
			}
			t.Logf("%-22s up to %d troubles: %v", c.name, c.most, r)
		})
	}
}
