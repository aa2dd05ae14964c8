package measure_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/chunkwire/chunkwire/conform/measure"
)

// What came of each seed stands in its place, and no run begins any more when that is said.
func TestSeeds(t *testing.T) {
	square := func(seed uint64) uint64 { return seed * seed }
	if got := measure.Seeds(3, 4, nil, square); !slices.Equal(got, []uint64{9, 16, 25, 36}) {
		t.Error(got)
	}
	if got := measure.Seeds(3, 0, nil, square); len(got) > 0 {
		t.Error(got)
	}
	var runs, asked atomic.Int64
	measure.Seeds(1, 1000, func() bool { return asked.Add(1) <= 5 }, func(uint64) int64 { return runs.Add(1) })
	if runs.Load() != 5 {
		t.Errorf("%d runs", runs.Load())
	}
}

func TestQuantiles(t *testing.T) {
	if q := measure.Quantiles[int](nil); q != nil || q.OrZero() != (measure.Quantile[int]{}) {
		t.Error("nothing has figures")
	}
	var values []int
	for n := range 100 {
		values = append(values, 100-n)
	}
	if got, want := measure.Quantiles(values).OrZero(), (measure.Quantile[int]{Median: 50, P95: 95, Max: 100}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := *measure.Quantiles([]string{"b", "a"}); got.Median != "a" || got.Max != "b" {
		t.Errorf("%+v", got)
	}
}
