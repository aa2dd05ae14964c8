package connection

import (
	"flag"
	"testing"
)

var (
	worlds    = flag.Int("worlds", 150, "random worlds of TestWorlds")
	firstSeed = flag.Uint64("worlds.first", 1, "seed of the first")
	logWorld  = flag.Uint64("worlds.log", 0, "a seed whose world is told")
)

// Whatever happens to datagrams, addresses and ends, and whatever is forged: what was accepted
// is read once, in order and whole, or the connection ends for a reason at both ends.
func TestWorlds(t *testing.T) {
	if *logWorld != 0 {
		counts, err := RunWorld(*logWorld, t.Logf)
		t.Fatalf("%+v %v", counts, err)
	}
	var all WorldCounts
	failed := 0
	for i := range uint64(*worlds) {
		counts, err := RunWorld(*firstSeed+i, nil)
		if err != nil {
			t.Error(err)
			if failed++; failed == 10 {
				break
			}
		}
		all.Add(counts)
	}
	t.Logf("%+v", all)
}
