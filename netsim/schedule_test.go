package netsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestScheduleAgainstSorting pushes and pops at random and compares with a
// stable sort of all that is pending.
func TestScheduleAgainstSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s schedule[packet]
	type entry struct {
		at time.Duration
		id byte
	}
	var pending []entry
	for i := range 20_000 {
		if len(pending) == 0 || random.IntN(200) >= len(pending) {
			e := entry{time.Duration(random.IntN(50)), byte(i)}
			s.push(e.at, packet{data: []byte{e.id}})
			pending = append(pending, e)
			slices.SortStableFunc(pending, func(a, b entry) int { return int(a.at - b.at) })
			continue
		}
		if s.next() != pending[0].at {
			t.Fatalf("step %d: next is %d, want %d", i, s.next(), pending[0].at)
		}
		if got := s.pop().data[0]; got != pending[0].id {
			t.Fatalf("step %d: popped %d, want %d", i, got, pending[0].id)
		}
		pending = pending[1:]
	}
}

func TestEmptyScheduleIsNeverDue(t *testing.T) {
	var s schedule[packet]
	s.push(5, packet{})
	s.pop()
	if s.next() != never {
		t.Errorf("next is %v", s.next())
	}
}
