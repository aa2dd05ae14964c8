package adaptive

import (
	"math"

	"github.com/chunkwire/chunkwire/core"
)

// none stands for no slice.
const none = -1

// transmissions is what is remembered of a slice. It is sent, resent each time
// that it was found lost, and each of these can be followed by copies.
// Transmissions of a chunk are numbered from 1 on. There are up to 256 of these
// to a connection that sends: 40 bytes each.
type transmissions struct {
	resends, copies         uint8  // at most 255; copies since the latest resend
	first                   uint16 // number of the first, or 65535 if that is less
	main, last              uint32 // of the latest that is no copy, and of the latest
	firstAt, mainAt, lastAt core.Micros
}

// once reports whether the slice was sent once (EST-1).
func (t *transmissions) once() bool { return t.resends == 0 && t.copies == 0 }

// flying returns the slices that were sent and are neither acked nor lost.
func (s *Scheduler) flying() core.Set {
	return core.FirstN(s.fresh).Intersect(s.unacked).Minus(s.lost)
}

// best returns the flying slice that comes first by the order given, or none.
func (s *Scheduler) best(before func(a, b *transmissions) bool) int {
	flying, best := s.flying(), none
	for id := range flying.All() {
		if best < 0 || before(&s.slices[id], &s.slices[best]) {
			best = id
		}
	}
	return best
}

func older(a, b *transmissions) bool { return a.last < b.last }

// sent counts a transmission (REC-6).
func (s *Scheduler) sent(now core.Micros, id int, isCopy bool) {
	s.count++
	t := &s.slices[id]
	t.last, t.lastAt = s.count, now
	switch {
	case isCopy:
		t.copies++ // below mostSent
	case id == s.fresh:
		s.fresh++
		t.first, t.firstAt = uint16(min(s.count, math.MaxUint16)), now
		t.main, t.mainAt = s.count, now
	default:
		t.resends = min(t.resends, 254) + 1
		s.resent.Add(id)
		t.copies = 0
		t.main, t.mainAt = s.count, now
	}
	s.lost.Remove(id)
	s.lastSentAt = now
	switch s.oldest {
	case none, id:
		s.findOldest()
	}
}
