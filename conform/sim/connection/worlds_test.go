package connection

import (
	"flag"
	"runtime"
	"sync"
	"testing"
)

var (
	worldsFlag = flag.Int("connection.worlds", 25, "how many random worlds TestWorlds runs")
	fromFlag   = flag.Uint64("connection.from", 1, "the seed of the first of them")
	replayFlag = flag.Uint64("connection.replay", 0, "run this world alone, and log what happens")
)

// Whatever happens to datagrams, addresses and ends, and whatever is forged: what was accepted
// is read once, in order and whole, or the connection ends for a reason at both ends (CXT-SAFE-4,
// CXT-SAFE-6, CXT-LIVE-1, CXT-LIVE-2, CXT-LIVE-4). No address that has not answered a challenge
// gets as many bytes as came from it (CXT-BND-1).
func TestWorlds(t *testing.T) {
	t.Parallel()
	if *replayFlag > 0 {
		counts, err := RunWorld(*replayFlag, t.Logf)
		t.Logf("%+v", counts)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var all WorldCounts
	var mu sync.Mutex
	var workers sync.WaitGroup
	next, end := *fromFlag, *fromFlag+uint64(*worldsFlag)
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= end && !t.Failed()
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				counts, err := RunWorld(seed, nil)
				mu.Lock()
				all.Add(counts)
				mu.Unlock()
				if err != nil {
					t.Errorf("%v\n    -connection.replay=%d", err, seed)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%+v", all)
}
