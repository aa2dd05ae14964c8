package recovery

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Figures of section 8.
const (
	initialDelay = statemachine.InitialResendDelay
	longestDelay = statemachine.LongestResendDelay
	slowestProbe = 250 * ms // PTO-3
	probes       = 2        // PTO-4
)

// delay returns after how long an ack is missed, and how much of that is margin
// (PTO-1).
func (s *Scheduler) delay() (delay, margin Micros) {
	if s.rtt.known == nothing {
		return initialDelay, 0
	}
	margin = s.rtt.margin()
	delay = min(s.rtt.smoothed+margin, longestDelay)
	return delay, min(margin, delay)
}

// findOldest notes which flying slice has waited the longest.
func (s *Scheduler) findOldest() { s.oldest = s.best(older) }

// timerAt returns when the resend timer runs out (PTO-1, PTO-2).
func (s *Scheduler) timerAt() Micros {
	delay, margin := s.delay()
	since := s.lastSentAt
	if !s.held && s.profile.has(ruleEachTimer) {
		if s.oldest < 0 {
			return statemachine.Never
		}
		since = s.at(s.slices[s.oldest].lastAt)
	}
	at := max(since+delay, s.probeAt)
	if s.profile.has(ruleSettle) {
		at = max(at, s.newsAt+margin)
	}
	return at
}

// expire gives up two slices, and waits before the next two (PTO-3, PTO-4).
func (s *Scheduler) expire(now Micros) {
	s.stats.Timeouts++
	s.rate.endTrain()
	delay, _ := s.delay()
	s.probeAt = now + min(max(delay, now-s.newsAt)/8, slowestProbe)
	if s.held {
		// One probe for a peer that cannot take the chunk (PTO-5).
		s.probeAt = now + slowestProbe
		s.lose(s.unacked.Intersect(codec.FirstN(s.fresh)).Prev(codec.MaxSlices), true)
		return
	}
	for range probes {
		if id := s.best(s.probeFirst()); id >= 0 {
			s.lose(id, true)
		}
	}
	s.findOldest()
}

// probeFirst orders by transmissions, the fewest first, then the newest first:
// the oldest may have arrived long ago (PTO-4).
func (s *Scheduler) probeFirst() func(a, b *transmissions) bool {
	if !s.profile.has(ruleNewest) {
		return older
	}
	return func(a, b *transmissions) bool {
		return a.resends < b.resends || a.resends == b.resends && a.last > b.last
	}
}
