package driver

import (
	"container/heap"

	"github.com/chunkwire/chunkwire/core"
)

// Slot is a connection's place in its driver. The zero value is in none.
type Slot struct {
	conn  Polled
	due   core.Micros // when the driver looks again
	place int         // in the agenda
}

// agenda holds the active connections, ordered by when they next have something
// to do.
type agenda struct{ list agendaHeap }

// next returns when the first connection is due, or Never.
func (a *agenda) next() core.Micros {
	if len(a.list) == 0 {
		return core.Never
	}
	return a.list[0].due
}

// first returns the connection that is due first. There must be one.
func (a *agenda) first() *Slot { return a.list[0].Slot }

func (a *agenda) add(s *Slot) { heap.Push(&a.list, entry{s.due, s}) }

func (a *agenda) remove(s *Slot) { heap.Remove(&a.list, s.place) }

// move gives a connection a new time.
func (a *agenda) move(s *Slot, due core.Micros) {
	if s.due != due {
		s.due, a.list[s.place].due = due, due
		heap.Fix(&a.list, s.place)
	}
}

// entry has the time beside the connection, since to look at thousands of these costs more than to order them.
type entry struct {
	due core.Micros
	*Slot
}

// agendaHeap is what container/heap needs. Each Slot knows its place in it.
type agendaHeap []entry

func (h agendaHeap) Len() int           { return len(h) }
func (h agendaHeap) Less(i, j int) bool { return h[i].due < h[j].due }

func (h agendaHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *agendaHeap) Push(x any) {
	e := x.(entry)
	e.place = len(*h)
	*h = append(*h, e)
}

func (h *agendaHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = entry{}
	*h = (*h)[:last]
	return e
}
