package chunk

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Plain is the simplest rule that a sender can have, for tests of what does not depend
// on the rule: as many ids are under way as slices are missing, and after 250 ms
// without an ack or a slice all of them count as lost.
type Plain struct {
	statemachine.NoPath

	numSlices, have int
	sent, top, gone int // numbers; what is below gone counts as lost
	latest          core.Micros
	held            bool
	timeouts        int64
}

const plainDelay = 250 * core.Millisecond

// PlainPace is what a judge allows to it.
var PlainPace = Pace{Longest: plainDelay, AtOnce: 256}

// Begin implements statemachine.Scheduler, as all that follows.
func (s *Plain) Begin(f statemachine.Flight) {
	*s = Plain{numSlices: f.NumSlices, latest: f.Now, timeouts: s.timeouts}
}

// Acked counts.
func (s *Plain) Acked(now core.Micros, p statemachine.Progress) {
	s.have, s.top, s.latest, s.held = p.Have, p.Top, now, false
}

// Held lets only the timer send.
func (s *Plain) Held(now core.Micros) { s.latest, s.held = now, true }

func (s *Plain) wanted() bool {
	return !s.held && s.sent-max(s.top, s.gone) < s.numSlices-s.have
}

// Next sends what is wanted, and when the timer runs out.
func (s *Plain) Next(now core.Micros) (number int, ok bool) {
	if !s.wanted() {
		if now < s.latest+plainDelay {
			return 0, false
		}
		s.gone = s.sent
		s.timeouts++
	}
	s.sent++
	s.latest = now
	return s.sent - 1, true
}

// Deadline is at once, or that of the timer.
func (s *Plain) Deadline() core.Micros {
	if s.wanted() {
		return s.latest
	}
	return s.latest + plainDelay
}

// Stats counts how often the timer ran out.
func (s *Plain) Stats() statemachine.ScheduleStats {
	return statemachine.ScheduleStats{Timeouts: s.timeouts}
}
