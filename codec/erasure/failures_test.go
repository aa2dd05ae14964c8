package erasure_test

import (
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
)

// failures counts, over a number of chunks of m slices of which only repair slices arrive,
// how many are not rebuilt by m of them, by one more and by two more.
func failures(chunks, m int) (count [3]int) {
	rng := rand.New(rand.NewPCG(13, uint64(m)))
	var p heap
	var d erasure.Decoder
	for range chunks {
		d.Begin(m, erasure.SliceSize, &p)
		ids := map[int]bool{}
		for len(ids) < m+2 {
			id := m + rng.IntN(erasure.MaxIDs-m)
			if ids[id] {
				continue
			}
			ids[id] = true
			d.Add(id, nil)
			if extra := len(ids) - m; extra >= 0 && d.Rank() < m {
				count[extra]++
			}
		}
	}
	d.Release()
	return count
}

// How often repair slices that should be enough are not.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		missing, chunks int
		most            [3]int // in chunks
	}{
		{1, 2_000, [3]int{0, 0, 0}},
		{2, 20_000, [3]int{900, 60, 6}}, // 4.2 %, 0.2 %, 0.01 %
		{3, 20_000, [3]int{340, 15, 4}}, // 1.5 %, 0.03 %
		{4, 20_000, [3]int{130, 5, 2}},  // 0.5 %, 0.005 %
		{8, 10_000, [3]int{55, 2, 0}},   // 0.4 %
		{51, 1_000, [3]int{10, 1, 0}},
	} {
		got := failures(c.chunks, c.missing)
		t.Logf("%d missing: of %d chunks %d, %d and %d are not rebuilt with 0, 1 and 2 repair slices more", c.missing, c.chunks, got[0], got[1], got[2])
		for extra, most := range c.most {
			check.That(t, got[extra] <= most, "no more than these fail")
		}
		check.That(t, c.missing == 1 || got[0] > 0, "some fail")
	}
}

// Coefficients out of a generator that is linear over GF(2) are dependent as soon as there
// are as many rows as bits of its state. These are not: from wherever repair slices come in
// a row, 256 have rank 254 at least.
func TestRowsInARowAreIndependent(t *testing.T) {
	var p heap
	var d erasure.Decoder
	for from := 256; from+256 <= erasure.MaxIDs; from += 333 {
		d.Begin(256, erasure.SliceSize, &p)
		for id := range 256 {
			d.Add(from+id, nil)
		}
		check.That(t, d.Rank() >= 254, "256 rows are independent but for two")
	}
	d.Release()
}
