package channel

import (
	"github.com/chunkwire/chunkwire/core"
)

// death is when the lifetime of a message ends. The message is named by its last sequence,
// because the others can be released before.
type death struct {
	at   core.Micros
	last core.Number
}

// deaths is a heap, the earliest first. Each entry of the sender knows its place in it, so
// that what is released leaves it: it never holds more than the sender.
type deaths []death

// earliest returns when the next lifetime ends, or Never (CHS-5).
func (d deaths) earliest() core.Micros {
	if len(d) == 0 {
		return core.Never
	}
	return d[0].at
}

func (s *Sender) addDeath(at core.Micros, last core.Number) {
	s.deaths = append(s.deaths, death{})
	s.rise(len(s.deaths)-1, death{at, last})
}

// dropDeath takes the death at a place of the heap out of it.
func (s *Sender) dropDeath(i int) {
	h := s.deaths
	end := len(h) - 1
	moved := h[end]
	s.entries.at(h[i].last).death = noDeath
	s.deaths = h[:end]
	switch {
	case i == end:
	case i > 0 && moved.at < h[(i-1)/2].at:
		s.rise(i, moved)
	default:
		s.sink(i, moved)
	}
}

// rise puts a death at a place of the heap, or above it.
func (s *Sender) rise(i int, x death) {
	h := s.deaths
	for i > 0 && x.at < h[(i-1)/2].at {
		s.put(i, h[(i-1)/2])
		i = (i - 1) / 2
	}
	s.put(i, x)
}

// sink puts a death at a place of the heap, or below it.
func (s *Sender) sink(i int, x death) {
	h := s.deaths
	for {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].at < h[child].at {
			child++
		}
		if child >= len(h) || h[child].at >= x.at {
			break
		}
		s.put(i, h[child])
		i = child
	}
	s.put(i, x)
}

func (s *Sender) put(i int, x death) {
	s.deaths[i] = x
	s.entries.at(x.last).death = int32(i)
}
