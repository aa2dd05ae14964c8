package queue_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/internal/queue"
)

// TestAgainstSorting pushes and pops at random and compares with a
// stable sort of all that is pending.
func TestAgainstSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s queue.Queue[byte]
	type entry struct {
		at time.Duration
		id byte
	}
	var pending []entry
	for i := range 20_000 {
		if len(pending) == 0 || random.IntN(200) >= len(pending) {
			e := entry{time.Duration(random.IntN(50)), byte(i)}
			s.Push(e.at, e.id)
			pending = append(pending, e)
			slices.SortStableFunc(pending, func(a, b entry) int { return int(a.at - b.at) })
			continue
		}
		if s.Next() != pending[0].at {
			t.Fatalf("step %d: next is %d, want %d", i, s.Next(), pending[0].at)
		}
		if got := s.Pop(); got != pending[0].id {
			t.Fatalf("step %d: popped %d, want %d", i, got, pending[0].id)
		}
		pending = pending[1:]
	}
}

func TestEmptyQueueIsNeverDue(t *testing.T) {
	var s queue.Queue[byte]
	s.Push(5, 0)
	s.Pop()
	if s.Next() != queue.Never || s.Len() != 0 {
		t.Errorf("next is %v", s.Next())
	}
}
