package netsim

import (
	"net"
	"time"
)

// packet is a datagram under way.
type packet struct {
	data []byte         // never written to, so copies may share it
	peer net.Addr       // in a Conn: who sent it; in a Relay: who gets it
	out  net.PacketConn // in a Relay: the socket to send it on
}

// schedule is a heap of items under way, the earliest first. Items due at the same
// instant keep the order in which they were pushed.
type schedule[T any] struct {
	heap []scheduled[T]
	seq  uint64 // pushes so far
}

type scheduled[T any] struct {
	at   time.Duration
	seq  uint64
	item T
}

func (s *scheduled[T]) before(t *scheduled[T]) bool {
	return s.at < t.at || s.at == t.at && s.seq < t.seq
}

// next returns when the first item is due, or never.
func (s *schedule[T]) next() time.Duration {
	if len(s.heap) == 0 {
		return never
	}
	return s.heap[0].at
}

func (s *schedule[T]) push(at time.Duration, item T) {
	s.heap = append(s.heap, scheduled[T]{at, s.seq, item})
	s.seq++
	h := s.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// pop removes and returns the first item. There must be one.
func (s *schedule[T]) pop() T {
	h, last := s.heap, len(s.heap)-1
	first := h[0].item
	h[0], h[last] = h[last], scheduled[T]{} // let go of what it points to
	h = h[:last]
	s.heap = h
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
