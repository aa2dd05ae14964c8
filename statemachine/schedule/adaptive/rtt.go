package adaptive

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// least returns the shortest time in which an ack can come back. A
// little less than the smallest sample, since a sample can hold the receiver's
// delay (EST-5).
func (s *Scheduler) least() core.Micros {
	if !s.profile.has(ruleSlack) {
		return s.path.MinRTT()
	}
	return s.path.MinRTT() * 15 / 16
}

// sampleRTT takes at most one sample from an ack: of the newest slice that was
// sent once, or else of the newest resent one that says something, or else,
// while nothing was measured, a bound (EST-1 to EST-4). A slice that was first sent on another path says
// nothing (REC-12).
func (s *Scheduler) sampleRTT(now core.Micros, news core.Set) {
	once, again, bound := none, none, none
	for id := range news.All() {
		switch t := &s.slices[id]; {
		case uint32(t.first) <= s.moved:
		case t.once():
			once = s.newer(once, id)
		case s.path.RTT.Known == rtt.Measured && s.isSample(t, now-t.mainAt):
			again = s.newer(again, id)
		default:
			bound = s.newer(bound, id)
		}
	}
	switch {
	case once >= 0:
		r := now - s.slices[once].lastAt
		s.path.Clean(now, r)
		s.report(eventlog.RTTSampled, now, once, r)
	case again >= 0 && s.profile.has(ruleResentRTT):
		r := now - s.slices[again].mainAt
		s.path.Resent(r)
		s.report(eventlog.RTTSampled, now, again, r)
	case bound >= 0: // nothing asks for it once the round trip is measured (RTT-6)
		s.path.RTT.Bound(now - s.slices[bound].firstAt)
	}
}

// isSample reports whether r, the time since a slice was resent, is a sample of the
// round trip: it can be one, and if there were copies, of which any can have
// arrived first, it is a bound that lowers the estimate (EST-3).
func (s *Scheduler) isSample(t *transmissions, r core.Micros) bool {
	return r >= s.least() && (t.copies == 0 || r < s.path.RTT.Smoothed)
}

// newer returns which of two slices was sent later, of which the first can be none.
func (s *Scheduler) newer(a, id int) int {
	if a >= 0 && older(&s.slices[id], &s.slices[a]) {
		return a
	}
	return id
}
