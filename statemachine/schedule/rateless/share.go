package rateless

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Adopt takes over what another Scheduler knows of the path, before a chunk begins: limit
// and pace as they are, the round trip and the losses as one estimate from then on
// (RPL-15). Schedulers of another kind have nothing to share.
func (s *Scheduler) Adopt(from statemachine.Scheduler) {
	if known, ok := from.(*Scheduler); ok {
		known.path.Take(&s.share, s.path)
		s.path = known.path
		s.noteFlight()
	}
}

// Moved takes all slices so far for none that this path has carried (RPL-16).
func (s *Scheduler) Moved() { s.moved = s.sent }

// PathSlices returns how many slices can be in flight on all lanes when a chunk begins
// (LAN-10).
func (s *Scheduler) PathSlices() int { return s.path.PathSlices() }

// Yield says whether other packets on the path must not wait for slices (ROOM-3).
func (s *Scheduler) Yield(yields bool) { s.path.Yield(yields) }

// Marked takes so many new marks of congestion (ECN-1).
func (s *Scheduler) Marked(_ core.Micros, n int) { s.path.Marked(n) }
