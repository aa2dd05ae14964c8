package adaptive_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// Every packet arrives after 25 ms, but for two or three that meet trouble. Every way
// to place the troubles is tried, and whatever they were, once they are over all is
// delivered within a bounded time (LIVE-2). Most take a few round trips. But an outage
// in the first chunk can leave a bound of 6 s for the round trip (EST-4), and so a
// timer of 3 s for the next chunk, if all of its slices are lost and none is left to
// overtake them. After an outage the next probe may take a second (PTO-3). 4,000 bytes a second are 266 ms a slice.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		profile adaptive.Profile
		slices  []int // of each chunk
		most    int   // troubles
		within  core.Micros
	}{
		{adaptive.Adaptive(), []int{1, 3}, 2, 1200 * ms},
		{adaptive.Adaptive(), []int{3, 2}, 3, 3200 * ms},
		{adaptive.Adaptive(), []int{2, 1, 1}, 2, 3200 * ms},
		{adaptive.Burst(), []int{3, 2}, 2, 1200 * ms},
		{adaptive.Redundant(), []int{3, 2}, 2, 1200 * ms},
		{adaptive.Fixed(32_000), []int{3, 2}, 2, 1800 * ms},
	} {
		var chunks [][]byte
		for i, n := range c.slices {
			chunks = append(chunks, chunktest.Chunk(n*codec.SliceSize, uint32(i+1)))
		}
		x := explore.Troubles[codec.Packet]{
			Delay: 25 * ms, Late: 120 * ms, Outage: 6 * core.Second, Most: c.most, Within: c.within, Text: chunk.Text,
			Run: chunk.Troubled(codec.Named, func() (statemachine.Scheduler, error) { return adaptive.New(c.profile) }, 0, chunks...),
		}
		r := x.Search()
		if r.Err != nil {
			t.Errorf("%s %v slices: %v\n%s", c.profile.Name, c.slices, r.Err, r.Trace)
		}
		t.Logf("%-9s %v slices: %v", c.profile.Name, c.slices, r)
	}
}
