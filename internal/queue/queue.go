// Package queue is a queue of events in order of time.
package queue

import (
	"math"
	"time"
)

// Never is a time that does not come.
const Never = time.Duration(math.MaxInt64)

// Queue is a heap of items, the earliest first. Items for the same instant keep
// the order in which they were pushed. The zero value is empty.
type Queue[T any] struct {
	heap []entry[T]
	seq  uint64 // pushes so far
}

type entry[T any] struct {
	at   time.Duration
	seq  uint64
	item T
}

func (s *entry[T]) before(t *entry[T]) bool {
	return s.at < t.at || s.at == t.at && s.seq < t.seq
}

// Len returns the number of items.
func (q *Queue[T]) Len() int { return len(q.heap) }

// Next returns the time of the first item, or Never.
func (q *Queue[T]) Next() time.Duration {
	if len(q.heap) == 0 {
		return Never
	}
	return q.heap[0].at
}

// Push adds an item.
func (q *Queue[T]) Push(at time.Duration, item T) {
	q.heap = append(q.heap, entry[T]{at, q.seq, item})
	q.seq++
	h := q.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// Pop removes and returns the first item. There must be one.
func (q *Queue[T]) Pop() T {
	h, last := q.heap, len(q.heap)-1
	first := h[0].item
	h[0], h[last] = h[last], entry[T]{} // release what it points to
	h = h[:last]
	q.heap = h
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
