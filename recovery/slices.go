package recovery

import (
	"math"

	"github.com/chunkwire/chunkwire/codec"
)

// transmissions is what is remembered of a slice. It is sent, resent each time
// that it was found lost, and each of these may be followed by copies.
// Transmissions of a chunk are numbered from 1 on. There are up to 256 of these
// to a connection that sends, so they are small: 24 bytes.
type transmissions struct {
	resends, copies         uint8  // at most 255; copies since the latest resend
	first                   uint16 // number of the first, or 65535 if that is less
	main, last              uint32 // of the latest that is no copy, and of the latest
	firstAt, mainAt, lastAt stamp
}

// once reports whether the slice was sent once (EST-1).
func (t *transmissions) once() bool { return t.resends == 0 && t.copies == 0 }

// stamp is a time since the chunk began, in microseconds modulo 2^32.
type stamp uint32

func (s *Scheduler) stampOf(now Micros) stamp { return stamp(now - s.begunAt) }

// at returns the time of a stamp that is no older than 71 minutes.
func (s *Scheduler) at(t stamp) Micros { return s.now - Micros(s.stampOf(s.now)-t) }

// flying returns the slices that were sent and are neither acked nor lost.
func (s *Scheduler) flying() codec.Bitset {
	return codec.FirstN(s.fresh).Intersect(s.unacked).Minus(s.lost)
}

// best returns the flying slice that comes first by the order given, or -1.
func (s *Scheduler) best(before func(a, b *transmissions) bool) int {
	flying, best := s.flying(), -1
	for id := flying.Next(0); id >= 0; id = flying.Next(id + 1) {
		if best < 0 || before(&s.slices[id], &s.slices[best]) {
			best = id
		}
	}
	return best
}

func older(a, b *transmissions) bool { return a.last < b.last }

// sent counts a transmission (REC-6).
func (s *Scheduler) sent(now Micros, id int, isCopy bool) {
	s.count++
	t := &s.slices[id]
	at := s.stampOf(now)
	t.last, t.lastAt = s.count, at
	switch {
	case isCopy:
		t.copies = min(t.copies, 254) + 1
	case id == s.fresh:
		s.fresh++
		t.first, t.firstAt = uint16(min(s.count, math.MaxUint16)), at
		t.main, t.mainAt = s.count, at
	default:
		t.resends = min(t.resends, 254) + 1
		s.resent.Set(id)
		t.copies = 0
		t.main, t.mainAt = s.count, at
	}
	s.lost.Clear(id)
	s.lastSentAt = now
	if s.oldest < 0 || s.oldest == id {
		s.findOldest()
	}
}
