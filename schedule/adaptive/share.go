package adaptive

import (
	"math"

	"github.com/chunkwire/chunkwire/statemachine"
)

// Adopt takes over what another Scheduler knows of the path, before a chunk
// begins. Lanes of one connection take turns, so the one whose chunk began last
// knows most. Of the round trip it may have heard nothing yet, so from then on
// both learn into one estimate (LAN-9). Schedulers of another kind have nothing to
// share.
func (s *Scheduler) Adopt(from statemachine.Scheduler) {
	if known, ok := from.(*Scheduler); ok {
		s.rtt, s.rate, s.pace, s.patience = known.rtt, known.rate, known.pace, known.patience
	}
}

// PathSlices returns how many slices may be in flight on all lanes when a chunk
// begins: the window, for a chunk without end (LAN-10).
func (s *Scheduler) PathSlices() int {
	perSlice := s.perSlice()
	if perSlice == 0 {
		return s.first()
	}
	if s.drains() {
		return drainSlots // WIN-4
	}
	inPath := int64(s.rtt.min()+ackDelay) * 1000 / perSlice
	if !s.yields {
		inPath = inPath * 3 / 2 // WIN-2
	}
	return int(min(inPath+leastWindow, math.MaxInt32))
}
