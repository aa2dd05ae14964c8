package rateless

import (
	"github.com/chunkwire/chunkwire/core"
)

// probes are sent when the timer has expired (RPL-11).
const probes = 2

// timerAt returns when the timer runs out; it matters only while nothing is wanted
// (RPL-10).
func (s *Scheduler) timerAt() core.Micros {
	if s.held {
		return max(s.lastAt, s.heldAt) + s.path.HoldDelay(s.lastAt-s.heldAt)
	}
	delay, margin := s.path.RTT.Delay()
	return max(s.mainAt+delay, s.newsAt+margin, s.path.ProbeAt())
}

// expire gives up what is under way, and lets probes go (RPL-11).
func (s *Scheduler) expire(now core.Micros) {
	s.stats.Timeouts++
	given := min(s.sent-max(s.top, s.gone, s.moved), probes) // SUS-1, REC-12
	s.gone, s.quota = s.sent, 1
	s.noteFlight()
	if !s.held {
		s.quota = probes
		s.path.TimedOut(now, given)
	}
}
