package soak

import (
	"runtime"
	"sync"
)

// T is what is used of a test.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Failed() bool
}

// Test runs the first worlds, as many at once as there are processors, and returns their counts. The
// command fuzz/storm runs more of them.
func (k *Kind) Test(t T, worlds uint64) (all Counts) {
	t.Helper()
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := uint64(1)
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= worlds+1 && !t.Failed()
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				counts, err := k.Run(seed, NewLog(false))
				mu.Lock()
				all.Add(&counts)
				mu.Unlock()
				if err != nil {
					t.Errorf("seed %d: %v\nalone: go run ./fuzz/storm --only %s --seed %d --verbose", seed, err, k.Name, seed)
				}
			}
		})
	}
	workers.Wait()
	return all
}
