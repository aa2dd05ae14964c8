package crowd

import (
	"flag"
	"testing"
)

var worlds = flag.Int("crowd.worlds", 16, "worlds of several flows")

// Random worlds; the command fuzz/storm runs more of them.
func TestWorlds(t *testing.T) {
	var all WorldCounts
	for seed := range uint64(*worlds) {
		counts, err := RunWorld(seed, nil)
		if all.Add(counts); err != nil {
			t.Errorf("%v\nrepeat: go run ./fuzz/storm --only flows --seed %d --verbose", err, seed)
		}
	}
	t.Logf("%+v", all)
}
