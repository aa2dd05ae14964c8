package netsim

import (
	"math/rand/v2"
	"testing"
)

func TestRingKeepsOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var r ring[int]
	in, out := 0, 0
	for range 20_000 {
		// Long runs of either kind, so that it grows, wraps and runs empty.
		for range random.IntN(50) {
			r.push(in)
			in++
		}
		for range min(random.IntN(50), r.len()) {
			if r.front() != out {
				t.Fatalf("front is %d, want %d", r.front(), out)
			}
			if got := r.pop(); got != out {
				t.Fatalf("popped %d, want %d", got, out)
			}
			out++
		}
		if r.len() != in-out {
			t.Fatalf("len is %d, want %d", r.len(), in-out)
		}
	}
}
