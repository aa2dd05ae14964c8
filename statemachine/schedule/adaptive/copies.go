package adaptive

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// Figures of section 16 (REC-10).
const (
	mostSent = 4 // CPY-2: transmissions of a slice until it is found lost again
	silence  = 4 // CPY-3: delays without a newly acked slice after which there are no copies
)

// chooseCopy returns the flying slice to send once more, or none (CPY-1).
func (s *Scheduler) chooseCopy(now core.Micros) int {
	worthy := s.worthy()
	if worthy.Empty() || s.path.RTT.Known == rtt.Unknown || !s.profile.has(ruleCopies) {
		return none
	}
	each := min(mostSent, s.copyBudget()/s.unacked.Count())
	if delay, _ := s.path.RTT.Delay(); each < 2 || now-s.newsAt > silence*delay && s.profile.has(ruleQuiet) {
		return none
	}
	best := none
	for id := range worthy.All() {
		t := &s.slices[id]
		if 1+int(t.copies) < min(each, s.worth(t)) && now-t.mainAt < s.path.RTT.Smoothed/2 &&
			(best < 0 || older(t, &s.slices[best])) {
			best = id
		}
	}
	return best
}

// copyBudget is how many transmissions can be on the way, for all slices that are left (CPY-2, PRO-3).
func (s *Scheduler) copyBudget() int {
	if s.profile.spread {
		return s.window() / 2 // and 2 * MAX_SLICES at most, which it is
	}
	return min(codec.MaxSlices/mostSent, s.window()/2)
}

// worthy returns the flying slices that are worth more than one transmission:
// mostly none, which is checked first.
func (s *Scheduler) worthy() core.Set {
	switch {
	case s.profile.spread:
		return s.flying()
	case s.resent.Empty():
		return core.Set{}
	}
	return s.flying().Intersect(s.resent)
}

// worth is how often a slice is sent at once: the more often it was lost, the
// more its next loss would cost (CPY-2).
func (s *Scheduler) worth(t *transmissions) int {
	if s.profile.spread {
		return 2 + int(t.resends)
	}
	return 1 + int(t.resends)
}
