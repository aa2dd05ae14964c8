package erasure_test

import (
	"math"
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

// How often repair slices that should be enough are not: with e more than are missing less often than the
// bound of RPV-LIVE-4, 16^-e / 15, however many are missing.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ missing, chunks int }{{1, 2_000}, {2, 20_000}, {3, 20_000}, {4, 20_000}, {8, 10_000}, {51, 1_000}} {
		got := failures(c.chunks, c.missing)
		t.Logf("%d missing: of %d chunks %d, %d and %d are not rebuilt with 0, 1 and 2 repair slices more", c.missing, c.chunks, got[0], got[1], got[2])
		bound := float64(c.chunks) / 15
		for _, n := range got {
			check.That(t, float64(n) <= bound, "no more than the bound fail")
			bound /= 16
		}
		check.That(t, c.missing == 1 && got[0] == 0 || c.missing > 1 && got[0] > 0, "some fail, of one never any")
	}
}

// Of two missing slices, two repair slices are dependent where their exponents differ by the same at both
// places. These are all pairs of places and of repair slices: as many as if exponents were drawn evenly
// (171 of 4,096, 4.1748 %), at each pair of places.
func TestTwoMissing(t *testing.T) {
	const repairs = erasure.MaxIDs - 2
	var at [erasure.MaxSlices][repairs]int8
	for i := range at {
		for j := range at[i] {
			at[i][j] = int8(erasure.Exponent(j, i))
		}
	}
	least, most, sum, pairs := 1.0, 0.0, 0.0, 0
	for p := range at {
		for q := range p {
			var differ [31]int
			for j := range repairs {
				differ[at[p][j]-at[q][j]+15]++
			}
			dependent := 0
			for _, n := range differ {
				dependent += n * (n - 1) / 2
			}
			share := float64(dependent) / (repairs * (repairs - 1) / 2)
			least, most, sum, pairs = min(least, share), max(most, share), sum+share, pairs+1
		}
	}
	t.Logf("two missing: %.3f %% to %.3f %%, mean %.4f %%", 100*least, 100*most, 100*sum/float64(pairs))
	check.That(t, least > 0.040 && most < 0.0435, "no pair of places is much worse than another")
	check.That(t, math.Abs(sum/float64(pairs)-171.0/4096) < 0.0001, "the mean is that of exponents drawn evenly")
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
