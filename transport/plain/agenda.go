package plain

import (
	"container/heap"

	"github.com/chunkwire/chunkwire/machine"
)

// agenda holds the active connections, ordered by when they next have something
// to do.
type agenda struct{ list agendaHeap }

// next returns when the first connection is due, or Never.
func (a *agenda) next() machine.Micros {
	if len(a.list) == 0 {
		return machine.Never
	}
	return a.list[0].due
}

// first returns the connection that is due first. There must be one.
func (a *agenda) first() *Conn { return a.list[0] }

func (a *agenda) add(c *Conn) { heap.Push(&a.list, c) }

func (a *agenda) remove(c *Conn) { heap.Remove(&a.list, c.place) }

// move gives a connection a new time.
func (a *agenda) move(c *Conn, due machine.Micros) {
	if c.due != due {
		c.due = due
		heap.Fix(&a.list, c.place)
	}
}

// agendaHeap is what container/heap needs. Each Conn knows its place in it.
type agendaHeap []*Conn

func (h agendaHeap) Len() int           { return len(h) }
func (h agendaHeap) Less(i, j int) bool { return h[i].due < h[j].due }

func (h agendaHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *agendaHeap) Push(x any) {
	c := x.(*Conn)
	c.place = len(*h)
	*h = append(*h, c)
}

func (h *agendaHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return c
}
