package channelsim_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
)

// In random worlds the properties of section 10 hold at every event, and all is delivered or
// skipped, and released, once the path is good.
func TestWorlds(t *testing.T) {
	t.Parallel()
	t.Logf("%+v", channelsim.Worlds.Test(t, 200))
}

// A seed is one world, and a log does not change it.
func TestAWorldIsItsSeed(t *testing.T) {
	t.Parallel()
	channelsim.Worlds.TestSeed(t, 7)
}
