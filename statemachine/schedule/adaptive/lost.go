package adaptive

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// gapThreshold is by how many later transmissions a lost one is overtaken (LOS-2).
const gapThreshold = 2

// arrivedAs returns the number of the transmission of a newly acked slice that
// is taken to have arrived (LOS-1).
func (s *Scheduler) arrivedAs(now core.Micros, id int) uint32 {
	t := &s.slices[id]
	switch {
	case t.resends == 0:
		return t.main
	case s.path.RTT.Known != rtt.Measured:
		return uint32(t.first) // it can be either: this one claims less
	case !s.lost.Has(id) && now-t.mainAt >= s.least():
		return t.main
	}
	s.wasSpurious(now, id)
	return uint32(t.first)
}

// wasSpurious learns from a slice that was given up too soon (LOS-4).
func (s *Scheduler) wasSpurious(now core.Micros, id int) {
	t := &s.slices[id]
	s.stats.Spurious++
	if s.byTimer.Has(id) {
		s.path.Late(1) // SUS-2
	}
	s.report(eventlog.SliceSpurious, now, id, 0)
	if !s.byTimer.Has(id) && t.resends == 1 && s.profile.has(rulePatience) {
		s.patience = max(s.patience, min(rtt.Clip(now-t.firstAt)*9/8, s.path.RTT.Smoothed*3/2))
	}
}

// findLost finds the slices that were overtaken (LOS-2), and notes when the
// next one is lost that is given some time (LOS-3). It returns how many of them the path has lost: a peer
// that held can have refused slices that were sent before the news that ended the hold (SUS-5), and another path
// slices that were sent on it (REC-12).
func (s *Scheduler) findLost(now core.Micros) (byPath int) {
	s.gapAt = core.Never
	flying := s.flying()
	for id := range flying.All() {
		t := &s.slices[id]
		switch lostAt := t.lastAt + s.patience; {
		case t.last+gapThreshold > s.newest:
		case lostAt > now:
			s.gapAt = min(s.gapAt, lostAt)
		default:
			s.stats.Lost++
			if t.last > max(s.refused, s.moved) {
				byPath++
			}
			s.lose(now, id, false)
		}
	}
	s.findOldest()
	return byPath
}

func (s *Scheduler) lose(now core.Micros, id int, byTimer bool) {
	why := eventlog.Overtaken
	s.byTimer.Remove(id)
	if byTimer {
		why = eventlog.Timeout
		s.byTimer.Add(id)
	}
	if s.log != nil {
		s.log(eventlog.Event{Kind: eventlog.SliceLost, At: now, ChunkID: s.chunkID, SliceID: id, Why: why})
	}
	s.lost.Add(id)
}
