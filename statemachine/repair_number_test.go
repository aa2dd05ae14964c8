package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
)

// The ids of the first 40,000 transmissions: from 8,191 on those of the repair slices come
// again, each once a round (RPN-2).
func TestIDsOfTransmissions(t *testing.T) {
	for _, k := range []int{1, 2, 3, 255, 256} {
		for n, id := 0, 0; n < 40_000; n++ {
			check.Same(t, "id", idOf(n, k), id)
			if id++; id == 8192 {
				id = k
			}
		}
	}
}

// The examples of section 2.3 (RPN-3 to RPN-5): three slices, so that 8,189 ids come again.
func TestNumbersOfThreeSlices(t *testing.T) {
	const k = 3
	for _, c := range []struct{ top, id, number, after, field int }{
		{0, 0, 0, 1, 1},
		{0, 5, 5, 6, 6},
		{6, 1, 1, 6, 6},
		{3, 8191, 8191, 8192, 3},
		{8191, 8191, 8191, 8192, 3},
		{8192, 3, 8192, 8193, 4},
		{8192, 8190, 8190, 8192, 3},
		{8192, 4096, 12285, 12286, 4097},
		{8192, 4097, 4097, 8192, 3},
		{8192, 2, 2, 8192, 3},
		{0, 4096, 4096, 4097, 4097}, // the last that is ahead of nothing
		{0, 4097, 4097, 4098, 4098}, // a round behind is before the first
		{20_000, 3622, 20_000, 20_001, 3623},
		{4096, 8190, 8190, 8191, 8191}, // half a round back would be 1, which is a source slice
	} {
		number := arrivedAs(c.id, c.top, k)
		top := max(c.top, number+1)
		check.Equal(t, "number, top, field", []int{number, top, idOf(top, k)}, []int{c.number, c.after, c.field})
	}
	for _, c := range []struct {
		sent, field, number int
		ok                  bool
	}{
		{0, 0, 0, true}, {0, 1, 0, false}, {2, 2, 2, true}, {2, 3, 0, false},
		{300, 300, 300, true}, {300, 301, 0, false}, {8191, 3, 3, true}, {8192, 3, 8192, true}, {8191, 8191, 8191, true},
		{20_000, 3622, 20_000, true}, {20_000, 3623, 11_812, true}, {20_000, 2, 2, true}, {20_000, 0, 0, true},
	} {
		number, ok := latestWith(c.field, c.sent, k)
		check.Equal(t, "number of the field", []any{number, ok}, []any{c.number, c.ok})
	}
}

// A sender takes the largest number that it has reached and that has the id (RPN-5), for
// any number of transmissions: found here by looking at all.
func TestTheLatestNumberWithAnID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.OneOf(rapid.IntRange(1, 256), rapid.SampledFrom([]int{1, 256})).Draw(t, "slices")
		sent := rapid.OneOf(rapid.IntRange(0, 50_000), rapid.SampledFrom([]int{0, 8191, 8192, 8193, 16384 - 256})).Draw(t, "sent")
		field := rapid.OneOf(rapid.IntRange(0, 8191), rapid.SampledFrom([]int{0, k - 1, k, 8191, idOf(sent, k)})).Draw(t, "field")
		want := -1
		for n := sent; n >= 0 && want < 0; n-- {
			if idOf(n, k) == field {
				want = n
			}
		}
		number, ok := latestWith(field, sent, k)
		check.Same(t, "there is one", ok, want >= 0)
		check.Same(t, "number", number, max(want, 0))
	})
}

// A receiver knows the number of each transmission that is ahead of top by less than half a
// round, or behind it by at most as much (RPN-3).
func TestNumbersNearTopAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.OneOf(rapid.IntRange(1, 256), rapid.SampledFrom([]int{1, 2, 255, 256})).Draw(t, "slices")
		round := 8192 - k
		top := rapid.OneOf(rapid.IntRange(k, 60_000), rapid.SampledFrom([]int{k, 8191, 8192, 8193})).Draw(t, "top")
		ahead := rapid.OneOf(rapid.IntRange(-(round-round/2), round/2-1), rapid.SampledFrom([]int{-(round - round/2), -1, 0, round/2 - 1})).Draw(t, "ahead")
		if n := top + ahead; n >= k {
			check.Same(t, "number", arrivedAs(idOf(n, k), top, k), n)
		}
	})
}

// Source slices are sent once, so their number is their id, whatever top is.
func TestNumbersOfSourceSlices(t *testing.T) {
	for _, top := range []int{0, 1, 256, 8192, 50_000} {
		check.Same(t, "number", arrivedAs(255, top, 256), 255)
	}
}

// The number of a slice, and so top, is never below its id, and never more than half a
// round beyond top: a forged id cannot make it run away.
func TestNumbersStayNearTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 256).Draw(t, "slices")
		top := rapid.IntRange(0, 100_000).Draw(t, "top")
		id := rapid.IntRange(0, 8191).Draw(t, "id")
		n := arrivedAs(id, top, k)
		check.Same(t, "its id", idOf(n, k), id)
		check.That(t, n >= id && n < max(top+(8192-k)/2, 8192), "it is near")
	})
}
