package adaptive

import "github.com/chunkwire/chunkwire/codec"

// Figures of section 5 (REC-10).
const (
	firstWindow = 64     // WIN-1
	leastWindow = 8      // WIN-2
	ackDelay    = 2 * ms // WIN-2: how long the receiver may wait with an ack (AKT-2)
)

// window returns how many slices may be in flight when a fresh one goes out.
func (s *Scheduler) window() int {
	switch {
	case s.perSlice() != 0:
		return min(s.PathSlices(), codec.MaxSlices) // WIN-2
	case s.profile.has(ruleFirst):
		return firstWindow + s.numSlices - s.unacked.Count() // WIN-1
	}
	return codec.MaxSlices
}

// drains reports whether the window is small, to see the path without a queue
// (WIN-4).
func (s *Scheduler) drains() bool { return s.rtt.lowest.drains() && s.profile.has(ruleDrain) }

// hasRoom reports whether a fresh slice may go out (WIN-3).
func (s *Scheduler) hasRoom() bool {
	return s.profile.burst || s.profile.fixed || s.flying().Count() < s.window()
}
