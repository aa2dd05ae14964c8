package core_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/core"
)

// A Set does what a map of bools does.
func TestSetAgreesWithAMap(t *testing.T) {
	ids := rapid.SliceOf(rapid.IntRange(0, 255))
	rapid.Check(t, func(t *rapid.T) {
		var a, b core.Set
		inA, inB := map[int]bool{}, map[int]bool{}
		for _, id := range ids.Draw(t, "a") {
			a.Add(id)
			inA[id] = true
		}
		for _, id := range ids.Draw(t, "removed") {
			a.Remove(id)
			delete(inA, id)
		}
		for _, id := range ids.Draw(t, "b") {
			b.Add(id)
			inB[id] = true
		}
		if a.Count() != len(inA) || a.Empty() != (len(inA) == 0) {
			t.Fatalf("count %d, empty %v, of %d", a.Count(), a.Empty(), len(inA))
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(inA)), slices.Collect(a.All())); diff != "" {
			t.Fatalf("All (-want +got):\n%s", diff)
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
		prev := -1
		for id := range 256 {
			if inA[id] {
				prev = id
			}
			if got := a.Prev(id); got != prev {
				t.Fatalf("Prev(%d) = %d, want %d", id, got, prev)
			}
		}
	})
}

// A number outside is never in a set, to add or remove it does nothing, and the
// bounds of a search may be any number.
func TestNumbersOutside(t *testing.T) {
	all := core.FirstN(core.SetSize)
	for _, id := range []int{math.MinInt, -257, -256, -64, -1, 256, 257, 320, 512, math.MaxInt} {
		b := all
		b.Remove(id)
		if b.Has(id) || b != all {
			t.Errorf("Has or Remove(%d)", id)
		}
		b = core.Set{}
		b.Add(id)
		if !b.Empty() {
			t.Errorf("Add(%d) added something", id)
		}
		wantNext, wantPrev := 0, -1
		if id > 0 {
			wantNext, wantPrev = -1, 255
		}
		if got := all.Next(id); got != wantNext {
			t.Errorf("Next(%d) = %d, want %d", id, got, wantNext)
		}
		if got := all.Prev(id); got != wantPrev {
			t.Errorf("Prev(%d) = %d, want %d", id, got, wantPrev)
		}
	}
}

func TestFirstN(t *testing.T) {
	for n := -1; n <= 257; n++ {
		if got, want := core.FirstN(n).Count(), min(max(n, 0), 256); got != want {
			t.Errorf("FirstN(%d) has %d members", n, got)
		}
	}
	if b := core.FirstN(65); !b.Has(64) || b.Has(65) {
		t.Errorf("FirstN(65) = %v", b)
	}
}

// A caller may stop early, and may change the set on the way: it goes over a copy.
func TestAllStops(t *testing.T) {
	b := core.FirstN(200)
	seen := 0
	for id := range b.All() {
		b.Remove(id + 1)
		if seen++; id == 70 {
			break
		}
	}
	if seen != 71 {
		t.Errorf("saw %d members", seen)
	}
}

func TestOf(t *testing.T) {
	if b := core.SetOf(3, 255, 3, 64, -1, 256); slices.Compare(slices.Collect(b.All()), []int{3, 64, 255}) != 0 {
		t.Errorf("Of = %v", b)
	}
	if !core.SetOf().Empty() {
		t.Error("Of() is not empty")
	}
}
