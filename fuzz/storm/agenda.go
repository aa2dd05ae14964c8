package main

import "math"

// micros is a time or a duration in microseconds of virtual time.
type micros = int64

const (
	millisecond micros = 1000
	second             = 1000 * millisecond
	never       micros = math.MaxInt64
)

// class orders events of the same time: machines are given what arrived before
// they are asked what to send (SND-4, RCV-2).
type class uint8

const (
	arriving class = iota
	acting         // applications and troubles
	polling
)

type event struct {
	at    micros
	class class
	seq   uint64
	do    func()
}

func (e *event) before(f *event) bool {
	if e.at != f.at {
		return e.at < f.at
	}
	if e.class != f.class {
		return e.class < f.class
	}
	return e.seq < f.seq
}

// agenda is a heap of events, the earliest first.
type agenda struct {
	heap []event
	seq  uint64
}

func (a *agenda) add(at micros, c class, do func()) {
	a.seq++
	a.heap = append(a.heap, event{at, c, a.seq, do})
	h := a.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// next removes and returns the first event; there must be one.
func (a *agenda) next() event {
	h, last := a.heap, len(a.heap)-1
	first := h[0]
	h[0], h[last] = h[last], event{}
	h = h[:last]
	a.heap = h
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
