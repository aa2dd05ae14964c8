package measure

import (
	"runtime"
	"sync"
)

// Seeds runs something with so many seeds, from the first one on, as many at once as there are processors. It
// returns what came of each. When more, unless it is nil, returns false, no other run begins.
func Seeds[R any](first uint64, seeds int, more func() bool, run func(seed uint64) R) []R {
	results := make([]R, seeds)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), seeds) {
		workers.Go(func() {
			for i := range next {
				results[i] = run(first + uint64(i))
			}
		})
	}
	for i := 0; i < seeds && (more == nil || more()); i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}
