package channel_test

import (
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/channel"
)

var (
	worldsFlag = flag.Int("channel.worlds", 200, "how many random worlds TestWorlds runs")
	fromFlag   = flag.Uint64("channel.from", 1, "the seed of the first of them")
	replayFlag = flag.Uint64("channel.replay", 0, "run this world alone, and log what happens")
)

// In random worlds the properties of section 10 hold at every event, and all is delivered or
// skipped, and released, once the path is good.
func TestWorlds(t *testing.T) {
	t.Parallel()
	if *replayFlag > 0 {
		counts, err := channel.RunWorld(*replayFlag, t.Logf)
		t.Logf("%+v", counts)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	start := time.Now()
	var all channel.WorldCounts
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := *fromFlag
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				mu.Unlock()
				if seed >= *fromFlag+uint64(*worldsFlag) || t.Failed() {
					return
				}
				counts, err := channel.RunWorld(seed, nil)
				mu.Lock()
				all.Add(counts)
				mu.Unlock()
				if err != nil {
					t.Errorf("%v (run it alone: -channel.replay %d -v)", err, seed)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%+v in %v", all, time.Since(start).Round(time.Second))
}

// A seed is one world.
func TestAWorldIsItsSeed(t *testing.T) {
	t.Parallel()
	first, err := channel.RunWorld(7, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	again, err := channel.RunWorld(7, func(string, ...any) { lines++ })
	if err != nil || again != first || lines == 0 || first.Messages == 0 {
		t.Errorf("%+v and then %+v, %v", first, again, err)
	}
}
