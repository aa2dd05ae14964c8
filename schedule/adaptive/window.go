package adaptive

import "github.com/chunkwire/chunkwire/codec"

// Figures of section 5 (REC-10).
const (
	firstWindow = 64     // WIN-1
	yieldWindow = 16     // WIN-5
	leastWindow = 8      // WIN-2
	ackDelay    = 2 * ms // WIN-2: how long the receiver may wait with an ack (AKT-2)
)

// window returns how many slices may be in flight when a fresh one goes out.
func (s *Scheduler) window() int {
	switch {
	case s.perSlice() != 0:
		return min(s.PathSlices(), codec.MaxSlices) // WIN-2
	case s.profile.has(ruleFirst):
		return s.first() + s.numSlices - s.unacked.Count() // WIN-1
	}
	return codec.MaxSlices
}

// first returns the window of a path of which nothing is known.
func (s *Scheduler) first() int {
	if s.yields {
		return yieldWindow // WIN-5
	}
	return firstWindow
}

// Yield says whether other packets on the path must not wait for slices: then the window is no
// larger than the path (WIN-5).
func (s *Scheduler) Yield(yields bool) { s.yields = yields }

// drains reports whether the window is small, to see the path without a queue
// (WIN-4).
func (s *Scheduler) drains() bool { return s.rtt.lowest.drains() && s.profile.has(ruleDrain) }

// hasRoom reports whether a fresh slice may go out (WIN-3).
func (s *Scheduler) hasRoom() bool {
	return s.profile.burst || s.profile.fixed || s.flying().Count() < s.window()
}
