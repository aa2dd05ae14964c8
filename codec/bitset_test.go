package codec_test

import (
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"pgregory.net/rapid"
)

// A Bitset does what a map of bools does.
func TestBitsetAgreesWithAMap(t *testing.T) {
	ids := rapid.SliceOf(rapid.IntRange(0, 255))
	rapid.Check(t, func(t *rapid.T) {
		var a, b codec.Bitset
		inA, inB := map[int]bool{}, map[int]bool{}
		for _, id := range ids.Draw(t, "a") {
			a.Set(id)
			inA[id] = true
		}
		for _, id := range ids.Draw(t, "cleared") {
			a.Clear(id)
			delete(inA, id)
		}
		for _, id := range ids.Draw(t, "b") {
			b.Set(id)
			inB[id] = true
		}
		if a.Count() != len(inA) || a.Empty() != (len(inA) == 0) {
			t.Fatalf("count %d, empty %v, of %d", a.Count(), a.Empty(), len(inA))
		}
		minus, both, either := a.Minus(b), a.Intersect(b), a.Union(b)
		next := -1
		for id := 255; id >= 0; id-- {
			if a.Has(id) != inA[id] || minus.Has(id) != (inA[id] && !inB[id]) ||
				both.Has(id) != (inA[id] && inB[id]) || either.Has(id) != (inA[id] || inB[id]) {
				t.Fatalf("id %d is wrong in a set", id)
			}
			if inA[id] {
				next = id
			}
			if got := a.Next(id); got != next {
				t.Fatalf("Next(%d) = %d, want %d", id, got, next)
			}
		}
		if a.Next(256) != -1 || a.Prev(0) != -1 {
			t.Fatal("an id outside")
		}
		prev := -1
		for limit := 1; limit <= 256; limit++ {
			if inA[limit-1] {
				prev = limit - 1
			}
			if got := a.Prev(limit); got != prev {
				t.Fatalf("Prev(%d) = %d, want %d", limit, got, prev)
			}
		}
	})
}

// A number that is no id is never in the set, and bounds may be any number.
func TestBitsetOutside(t *testing.T) {
	all := func() codec.Bitset { return codec.FirstN(codec.MaxSlices) } // a result has the methods too
	for _, id := range []int{math.MinInt, -257, -256, -64, -1, 256, 257, 320, 512, math.MaxInt} {
		if all().Has(id) {
			t.Errorf("Has(%d)", id)
		}
		wantNext, wantPrev := 0, -1
		if id > 0 {
			wantNext, wantPrev = -1, 255
		}
		if got := all().Next(id); got != wantNext {
			t.Errorf("Next(%d) = %d, want %d", id, got, wantNext)
		}
		if got := all().Prev(id); got != wantPrev {
			t.Errorf("Prev(%d) = %d, want %d", id, got, wantPrev)
		}
	}
}

func TestFirstN(t *testing.T) {
	for n := range codec.MaxSlices + 1 {
		b := codec.FirstN(n)
		if b.Count() != n || n < codec.MaxSlices && b.Has(n) {
			t.Errorf("FirstN(%d) has %d ids", n, b.Count())
		}
	}
}
