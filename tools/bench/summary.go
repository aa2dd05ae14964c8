package bench

import (
	"slices"
	"time"
)

// Summary is what many runs of one plan took.
type Summary struct {
	Runs, Failed     int
	Median, P95, Max time.Duration
	Bytes            float64 // median of the bytes both ways over the block's size
}

// summarize sums up runs of blocks of size bytes. A run that failed is counted
// and has no time.
func summarize(runs []Run, size int) Summary {
	s := Summary{Runs: len(runs)}
	var times []time.Duration
	var sent []int64
	for _, r := range runs {
		if r.Err != nil {
			s.Failed++
			continue
		}
		times, sent = append(times, r.Took), append(sent, r.Bytes)
	}
	if len(times) == 0 {
		return s
	}
	s.times(times)
	slices.Sort(sent)
	s.Bytes = float64(quantile(sent, 50)) / float64(size)
	return s
}

// times sums up times, if there are any.
func (s *Summary) times(times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	s.Median, s.P95, s.Max = quantile(times, 50), quantile(times, 95), times[len(times)-1]
}

// quantile returns the smallest value that percent of the sorted values do not
// exceed.
func quantile[T any](sorted []T, percent int) T {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
