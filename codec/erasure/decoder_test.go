package erasure_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
)

// arrivals draws which ids arrive, in their order, of a chunk of k slices.
func arrivals(t *rapid.T, k int) []int {
	all := upTo(0, 3*k+20)
	shuffle := rapid.Permutation(all)
	switch rapid.SampledFrom([]string{"losses", "burst", "all source lost", "only last", "at the limit", "repair first", "any"}).Draw(t, "pattern") {
	case "losses":
		lost := rapid.IntRange(0, 90).Draw(t, "per cent lost")
		rng := seeded(rapid.Uint64().Draw(t, "seed"))
		return slices.DeleteFunc(upTo(0, 8192), func(int) bool { return rng.IntN(100) < lost })
	case "burst":
		from := rapid.IntRange(0, k-1).Draw(t, "from")
		to := rapid.IntRange(from, 2*k).Draw(t, "to")
		return append(upTo(0, from), upTo(to, 4*k+20)...)
	case "all source lost":
		return upTo(k, 3*k+20)
	case "only last":
		return append(upTo(0, k-1), upTo(k, k+20)...)
	case "at the limit":
		ids := upTo(8192-2*k-20, 8192)
		slices.Reverse(ids)
		return ids
	case "repair first":
		return append(upTo(k, k+rapid.IntRange(1, k).Draw(t, "repair slices")), append(upTo(0, k), all...)...)
	}
	return shuffle.Draw(t, "order")
}

// Any k independent ids rebuild the chunk, and Add says which are: those that literal
// elimination finds.
func TestAnyIndependentIDsRebuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 40)).Draw(t, "slices")
		chunk := noise(seeded(rapid.Uint64().Draw(t, "content")), k, rapid.IntRange(1, 1024).Draw(t, "last bytes"))
		e, p := erasure.Encode(chunk), newPool()
		d := receiver(p, e)
		var want rank
		for _, id := range arrivals(t, k) {
			if d.Rank() == k {
				break
			}
			independent := want.add(row(k, id))
			if id%3 > 0 {
				check.Equal(t, fmt.Sprintf("id %d is independent of %d", id, d.Rank()), d.Independent(id), independent)
			}
			check.Equal(t, fmt.Sprintf("id %d adds to %d", id, d.Rank()), d.Add(id, e.Slice(id)), independent)
			check.Equal(t, "rank", d.Rank(), len(want.rows))
			check.Equal(t, fmt.Sprintf("has %d", id), d.Has(id), independent)
			check.That(t, !d.Independent(id) && !d.Add(id, e.Slice(id)), "nothing is added twice")
			if d.Rank() < k {
				check.That(t, d.Rebuild() == nil, "there is no chunk below its rank")
			}
		}
		rebuilds(t, d, p, chunk)
	})
}

// The same of the largest chunks, with as many losses as there may be. Their rank is not
// compared.
func TestLargeChunks(t *testing.T) {
	p := newPool()
	for seed := range uint64(11) {
		rng := seeded(seed)
		k := 256 - int(seed%3)*rng.IntN(100)
		chunk := noise(rng, k, 1+rng.IntN(1024))
		e := erasure.Encode(chunk)
		d := receiver(p, e)
		for id := 0; d.Rank() < k; id++ {
			if rng.IntN(12) > int(seed) {
				d.Add(id%8192, e.Slice(id%8192))
			}
		}
		rebuilds(t, d, p, chunk)
	}
}

// The most there can be: 256 repair slices in the place of 256 source slices.
func TestNothingButRepairSlices(t *testing.T) {
	chunk, p := noise(seeded(1), 256, 1000), newPool()
	e := erasure.Encode(chunk)
	for _, ids := range [][]int{upTo(256, 522), upTo(7900, 8192)} {
		rebuilds(t, receiver(p, e, ids...), p, chunk)
	}
}

// Late source slices: those that are missing come in any order after repair slices, at any
// time, and take away what these were held for.
func TestLateSourceSlices(t *testing.T) {
	p := newPool()
	moved, refused := 0, 0
	for seed := range uint64(1000) {
		rng := seeded(seed)
		k := 2 + rng.IntN(7)
		chunk := noise(rng, k, 1+rng.IntN(1024))
		e := erasure.Encode(chunk)
		d := receiver(p, e)
		var want rank
		order := append(upTo(0, k), 8191-rng.IntN(1000), k+rng.IntN(1000), k+1000+rng.IntN(1000), k+2000+rng.IntN(1000))
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		repairs := 0
		for _, id := range order {
			if d.Rank() == k {
				break
			}
			d.Independent(order[rng.IntN(len(order))]) // changes nothing
			added := d.Add(id, e.Slice(id))
			check.Equal(t, fmt.Sprintf("seed %d: id %d adds", seed, id), added, want.add(row(k, id)))
			switch {
			case id >= k:
				repairs++
			case repairs > 0 && added:
				moved++
			case repairs > 0:
				refused++
			}
		}
		rebuilds(t, d, p, chunk)
	}
	t.Logf("%d source slices came after repair slices, and %d that followed from what was held", moved, refused)
	check.That(t, moved > 1000 && refused > 5, "both happen")
}

// A source slice that follows from the repair slices that are held is refused: here slices
// 0 and 1 are in the same proportion in both, so that their difference is slice 2 alone.
func TestSourceSliceThatFollows(t *testing.T) {
	const k = 3
	chunk := pattern(k * erasure.SliceSize)
	e, p := erasure.Encode(chunk), newPool()
	a, b := proportional(k)
	d := receiver(p, e, k+a, k+b)
	check.Equal(t, "rank", d.Rank(), 2)
	check.That(t, !d.Add(2, e.Slice(2)) && !d.Has(2), "slice 2 follows")
	check.That(t, d.Add(0, e.Slice(0)), "slice 0 does not")
	rebuilds(t, d, p, chunk)
}

// A repair slice that follows is refused: of two slices two repair slices that are in
// proportion, and one more after them is not.
func TestRepairSliceThatFollows(t *testing.T) {
	const k = 2
	chunk := pattern(k * erasure.SliceSize)
	e, p := erasure.Encode(chunk), newPool()
	a, b := proportional(k)
	d := receiver(p, e, k+a)
	check.That(t, !d.Add(k+b, e.Slice(k+b)) && !d.Has(k+b), "it follows")
	check.Equal(t, "blocks", len(p.taken), 3)
	check.That(t, d.Add(1, e.Slice(1)), "a source slice does not")
	rebuilds(t, d, p, chunk)
}

// proportional returns the first two repair slices in which the coefficients of slices 0
// and 1 have the same quotient, but not those of 0 and 2, if there are three.
func proportional(k int) (a, b int) {
	difference := func(j, i int) int { return erasure.Exponent(j, 0) - erasure.Exponent(j, i) }
	for b := 1; ; b++ {
		for a := range b {
			if difference(a, 1) == difference(b, 1) && (k == 2 || difference(a, 2) != difference(b, 2)) {
				return a, b
			}
		}
	}
}

// What a decoder cannot use changes nothing: no ids, other numbers of a chunk, calls before
// Begin and after Release.
func TestRefused(t *testing.T) {
	var d erasure.Decoder
	nothing := func(what string) {
		t.Helper()
		for _, id := range []int{-1, 0, 1, 256, 8191, 8192} {
			check.That(t, !d.Independent(id) && !d.Add(id, []byte{1}) && !d.Has(id) && !d.Matches(id, nil), what+fmt.Sprint(": id ", id))
		}
		check.That(t, d.Rank() == 0 && d.Rebuild() == nil, what)
	}
	nothing("before Begin")
	d.Release()
	p := newPool()
	for _, bad := range [][2]int{{0, 1}, {257, 1}, {-1, 1}, {1, 0}, {1, 1025}} {
		d.Begin(3, 9, p)
		d.Add(0, []byte{1})
		d.Add(5, []byte{1})
		d.Begin(bad[0], bad[1], p)
		nothing(fmt.Sprint("begun with ", bad))
		check.Equal(t, "blocks", len(p.taken), 0)
	}
	d.Begin(256, 1024, p)
	for _, id := range []int{-1, 8192, math.MaxInt} {
		check.That(t, !d.Independent(id) && !d.Add(id, nil) && !d.Has(id) && len(p.taken) == 0, fmt.Sprint("no id ", id))
	}
	check.That(t, d.Add(8191, nil) && d.Has(8191) && !d.Has(8190), "the last id")
	d.Release()
	nothing("after Release")
}

// Add copies data, cuts what is too long and fills up what is too short; k slices of anything
// are a chunk.
func TestForgedData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPool()
		k := rapid.IntRange(1, 30).Draw(t, "slices")
		var d erasure.Decoder
		d.Begin(k, rapid.IntRange(1, 1024).Draw(t, "last bytes"), p)
		rng := seeded(rapid.Uint64().Draw(t, "seed"))
		for d.Rank() < k {
			data := make([]byte, rng.IntN(2000))
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			d.Add(rng.IntN(8192), data)
		}
		check.Equal(t, "slices", len(d.Rebuild()), k)
		d.Release()
		check.Equal(t, "blocks taken after Release", len(p.taken), 0)
	})
	for _, last := range []int{5, 1024} {
		d := receiver(newPool(), erasure.Encode(make([]byte, 1024+last)))
		data := []byte{1, 2, 3}
		d.Add(0, data)
		data[0] = 9
		d.Add(1, bytes.Repeat([]byte{7}, 3000))
		check.Equal(t, "data that are too short", *d.Rebuild()[0], [1024]byte{1, 2, 3})
		check.Bytes(t, "data that are too long", d.Rebuild()[1][:], append(bytes.Repeat([]byte{7}, last), make([]byte, 1024-last)...))
	}
}

// Matches finds each change of a slice that the chunk determines, wherever the chunk came from.
func TestMatches(t *testing.T) {
	for k := 1; k <= 5; k++ {
		for _, last := range []int{1, 500, 1024} {
			chunk := noise(seeded(uint64(k)), k, last)
			e, p := erasure.Encode(chunk), newPool()
			for _, ids := range [][]int{upTo(0, k), upTo(1, k+30), upTo(k, k+30)} {
				d := receiver(p, e, ids...)
				check.That(t, !d.Matches(0, e.Slice(0)), "nothing matches before Rebuild")
				d.Rebuild()
				for _, id := range append(upTo(0, k+3), 8191) {
					s := slices.Clone(e.Slice(id))
					check.That(t, d.Matches(id, s), fmt.Sprintf("slice %d of %d matches", id, k))
					check.That(t, !d.Matches(id, s[:len(s)-1]) && !d.Matches(id, append(s, 0)), "another length does not")
					s[len(s)-1] ^= 1
					check.That(t, !d.Matches(id, s), "a change does not")
				}
				check.That(t, !d.Matches(-1, nil) && !d.Matches(8192, plainRepair(chunk, 8192-k)), "what is no id does not")
				d.Release()
				check.Equal(t, "blocks taken after Release", len(p.taken), 0)
			}
		}
	}
}
