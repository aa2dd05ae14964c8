package adaptive

import "github.com/chunkwire/chunkwire/core"

const probes = 2 // PTO-4

// findOldest notes which flying slice has waited the longest.
func (s *Scheduler) findOldest() { s.oldest = s.best(older) }

// timerAt returns when the resend timer runs out (PTO-1, PTO-2).
func (s *Scheduler) timerAt() core.Micros {
	if s.held {
		return max(s.lastSentAt, s.heldAt) + s.path.HoldDelay(s.lastSentAt-s.heldAt)
	}
	delay, margin := s.path.RTT.Delay()
	since := s.lastSentAt
	if s.profile.has(ruleEachTimer) {
		if s.oldest < 0 {
			return core.Never
		}
		since = s.slices[s.oldest].lastAt
	}
	at := max(since+delay, s.path.ProbeAt())
	if s.profile.has(ruleSettle) {
		at = max(at, s.newsAt+margin)
	}
	return at
}

// expire gives up two slices, and waits before the next two (PTO-3, PTO-4).
func (s *Scheduler) expire(now core.Micros) {
	s.stats.Timeouts++
	defer s.noteFlight()
	if s.held {
		// One probe for a peer that cannot take the chunk (PTO-5).
		s.lose(now, s.unacked.Prev(s.fresh-1), true)
		return
	}
	given := 0
	for range probes {
		if id := s.best(s.probeFirst()); id >= 0 {
			s.lose(now, id, true)
			if s.slices[id].last > s.moved {
				given++
			}
		}
	}
	s.path.TimedOut(now, given) // SUS-1
}

// probeFirst orders by transmissions, the fewest first, then the newest first:
// the oldest can have arrived long ago (PTO-4).
func (s *Scheduler) probeFirst() func(a, b *transmissions) bool {
	if !s.profile.has(ruleNewest) {
		return older
	}
	return func(a, b *transmissions) bool {
		return a.resends < b.resends || a.resends == b.resends && a.last > b.last
	}
}
