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

// lines counts ordered triples of repair slices, repetitions included, that are dependent at three places. A row
// (x^a, x^b, x^c) is x^a times (1, x^(b-a), x^(c-a)), so that three rows are dependent if these points lie on
// one line. rows has how many repair slices have the differences b - a and c - a, each plus 15.
func lines(rows *[31][31]int) (dependent, all int) {
	var power [255]byte
	var log [256]int
	for e, v := 0, 1; e < 255; e++ {
		power[e], log[v] = byte(v), e
		if v *= 2; v > 255 {
			v ^= 0x11D
		}
	}
	type point struct {
		x, y byte
		n    int
	}
	var points []point
	for u := range rows {
		for w, n := range rows[u] {
			if n > 0 {
				points = append(points, point{power[(u+240)%255], power[(w+240)%255], n})
				all += n
			}
		}
	}
	for _, p := range points {
		var slopes [257]int // how many rows lie in each direction from p; 255: dy is 0, 256: dx is 0
		for _, q := range points {
			switch dx, dy := p.x^q.x, p.y^q.y; {
			case dx == 0 && dy == 0:
			case dx == 0:
				slopes[256] += q.n
			case dy == 0:
				slopes[255] += q.n
			default:
				slopes[(log[dy]-log[dx]+255)%255] += q.n
			}
		}
		on := p.n * all // the second row is at p, too: any third is dependent
		for _, n := range slopes {
			on += n * (p.n + n)
		}
		dependent += p.n * on
	}
	return dependent, all * all * all
}

// Three missing: with exponents drawn evenly 939,387,412 of 2^36 triples of repair slices are dependent, 1.3670 %,
// and of the code as it is as many, at each of some triples of places, all triples of repair slices counted.
func TestThreeMissing(t *testing.T) {
	var even [31][31]int
	for a := range 16 {
		for b := range 16 {
			for c := range 16 {
				even[b-a+15][c-a+15]++
			}
		}
	}
	dependent, all := lines(&even)
	check.That(t, dependent == 939_387_412 && all == 1<<36, "the share of exponents drawn evenly")
	const repairs, triples = erasure.MaxIDs - 3, 50
	rng := rand.New(rand.NewPCG(3, 3))
	least, most, sum := 1.0, 0.0, 0.0
	for range triples {
		places := rng.Perm(erasure.MaxSlices)
		var rows [31][31]int
		for j := range repairs {
			a := erasure.Exponent(j, places[0])
			rows[erasure.Exponent(j, places[1])-a+15][erasure.Exponent(j, places[2])-a+15]++
		}
		dependent, all := lines(&rows)
		const distinct = repairs * (repairs - 1) * (repairs - 2)
		share := float64(dependent-(all-distinct)) / distinct // a slice is always dependent on itself
		least, most, sum = min(least, share), max(most, share), sum+share
	}
	t.Logf("three missing: %.3f %% to %.3f %%, mean %.4f %%", 100*least, 100*most, 100*sum/triples)
	check.That(t, least > 0.0130 && most < 0.0145, "no triple of places is much worse than another")
	check.That(t, math.Abs(sum/triples-float64(dependent)/float64(all)) < 0.0001, "the mean is the share of exponents drawn evenly")
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
