package rateless_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	protocol "github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/schedule/rateless"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/sim/explore"
	"github.com/chunkwire/chunkwire/sim/repair"
)

// Every packet arrives after 25 ms, but for two that meet trouble. Every way to place the
// troubles is tried, and whatever they were, once they are over all is delivered within a
// bounded time (RPV-LIVE-2, RPX-9). Most take a few round trips. But after an outage in the first chunk
// the first ack can be one of a long time ago, which leaves a bound of 6 s for the round trip,
// and so a timer of 3 s for the next chunk. 32,000 bits a second are 266 ms a slice.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		profile  rateless.Profile
		slices   []int // of each chunk
		readTime machine.Micros
		within   machine.Micros
	}{
		{rateless.Default(), []int{1, 3}, 0, 400 * machine.Millisecond},
		{rateless.Default(), []int{3, 2}, 0, 400 * machine.Millisecond},
		{rateless.Default(), []int{2, 1, 1}, 0, 3200 * machine.Millisecond},
		{rateless.Default(), []int{2, 3}, 300 * machine.Millisecond, 1200 * machine.Millisecond}, // held
		{rateless.Burst(), []int{3, 2}, 0, 400 * machine.Millisecond},
		{rateless.Redundant(), []int{2, 2}, 0, 400 * machine.Millisecond},
		{rateless.Fixed(32_000), []int{3, 2}, 0, 3000 * machine.Millisecond},
	} {
		var chunks [][]byte
		for i, n := range c.slices {
			chunks = append(chunks, chunktest.Chunk(n*codec.SliceSize, uint32(i+1)))
		}
		x := explore.Troubles[protocol.Packet]{
			Delay: 25 * machine.Millisecond, Late: 120 * machine.Millisecond, Outage: 6 * machine.Second, Most: 2, Within: c.within, Text: repair.Text,
			Run: repair.Troubled(func() (protocol.Scheduler, error) { return rateless.New(c.profile) }, repair.RatelessPace(c.profile), c.readTime, chunks...),
		}
		r := x.Search()
		if r.Err != nil {
			t.Errorf("%s %v slices: %v\n%s", c.profile.Name, c.slices, r.Err, r.Trace)
		}
		t.Logf("%-9s %v slices: %v", c.profile.Name, c.slices, r)
	}
}
