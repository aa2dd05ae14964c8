package adaptive

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Adopt takes over what another Scheduler knows of the path, before a chunk
// begins. Lanes of one connection take turns, so the one whose chunk began last
// knows most (LAN-9). Schedulers of another kind have nothing to share.
func (s *Scheduler) Adopt(from statemachine.Scheduler) {
	if known, ok := from.(*Scheduler); ok {
		s.path.Leave(&s.share)
		s.path = known.path
		s.noteFlight()
		s.patience = known.patience
	}
}

// PathSlices returns how many slices may be in flight on all lanes when a chunk
// begins (LAN-10).
func (s *Scheduler) PathSlices() int { return s.path.PathSlices() }

// Yield says whether other packets on the path must not wait for slices (WIN-5).
func (s *Scheduler) Yield(yields bool) { s.path.Yield(yields) }

// window returns how many slices may be in flight when a fresh one goes out (WIN-1,
// WIN-2).
func (s *Scheduler) window() int { return min(s.path.PathSlices(), codec.MaxSlices) }

// hasRoom reports whether a fresh slice may go out (WIN-3).
func (s *Scheduler) hasRoom() bool {
	return s.path.HasRoom()
}

// Marked takes so many new marks of congestion (ECN-1).
func (s *Scheduler) Marked(_ core.Micros, n int) { s.path.Marked(n) }
