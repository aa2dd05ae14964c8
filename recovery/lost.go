package recovery

import "github.com/chunkwire/chunkwire/statemachine"

// gapThreshold is by how many later transmissions a lost one is overtaken (LOS-2).
const gapThreshold = 2

// arrivedAs returns the number of the transmission of a newly acked slice that
// is taken to have arrived (LOS-1).
func (s *Scheduler) arrivedAs(now Micros, id int) uint32 {
	t := &s.slices[id]
	switch {
	case t.resends == 0:
		return t.main
	case s.rtt.known != measured:
		return uint32(t.first) // it can be either: this one claims less
	case !s.lost.Has(id) && now-s.at(t.mainAt) >= s.least():
		return t.main
	}
	s.wasSpurious(now, id)
	return uint32(t.first)
}

// wasSpurious learns from a slice that was given up too soon (LOS-4).
func (s *Scheduler) wasSpurious(now Micros, id int) {
	t := &s.slices[id]
	s.stats.Spurious++
	s.tell(statemachine.Spurious, now, id, 0)
	if !s.byTimer.Has(id) && t.resends == 1 && s.profile.has(rulePatience) {
		s.patience = max(s.patience, min((now-s.at(t.firstAt))*9/8, s.rtt.smoothed*3/2))
	}
}

// findLost finds the slices that were overtaken (LOS-2), and notes when the
// next one is lost that is given some time (LOS-3).
func (s *Scheduler) findLost(now Micros) {
	s.gapAt = statemachine.Never
	flying := s.flying()
	for id := flying.Next(0); id >= 0; id = flying.Next(id + 1) {
		t := &s.slices[id]
		switch lostAt := s.at(t.lastAt) + s.patience; {
		case t.last+gapThreshold > s.newest:
		case lostAt > now:
			s.gapAt = min(s.gapAt, lostAt)
		default:
			s.stats.Lost++
			s.lose(id, false)
		}
	}
	s.findOldest()
}

func (s *Scheduler) lose(id int, byTimer bool) {
	s.byTimer.Clear(id)
	if byTimer {
		s.byTimer.Set(id)
	}
	s.lost.Set(id)
}
