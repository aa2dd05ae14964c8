package check

import (
	"runtime"
	"slices"
	"time"
)

// B is what is used of a benchmark.
type B interface {
	Loop() bool
	ReportMetric(n float64, unit string)
}

// Events measures what one event of a machine costs: prepare brings machines to where
// the events begin, and returns what makes n of them. The figure is the median over
// many machines; allocations are of the events alone.
func Events(b B, n int, prepare func() func()) {
	var costs []float64
	var allocs uint64
	for b.Loop() {
		run := prepare()
		before := mallocs()
		start := time.Now()
		run()
		costs = append(costs, float64(time.Since(start))/float64(n))
		allocs += mallocs() - before
	}
	slices.Sort(costs)
	b.ReportMetric(costs[len(costs)/2], "ns/event")
	b.ReportMetric(float64(allocs)/float64(len(costs)*n), "allocs/event")
	b.ReportMetric(0, "ns/op") // holds the preparation, too
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
