package rateless

import "github.com/chunkwire/chunkwire/repair"

// Adopt takes over what another Scheduler knows of the path, before a chunk begins: rate
// and pace as they are, the round trip and the loss as one estimate from then on.
// Schedulers of another kind have nothing to share.
func (s *Scheduler) Adopt(from repair.Scheduler) {
	if known, ok := from.(*Scheduler); ok {
		s.path.Adopt(known.path)
		s.losses = known.losses
	}
}

// PathSlices returns how many slices may be in flight on all lanes when a chunk
// begins.
func (s *Scheduler) PathSlices() int { return s.path.PathSlices() }

// InFlight returns how many transmissions are under way.
func (s *Scheduler) InFlight() int { return s.sent - max(s.top, s.gone) }

// Wants reports whether more of the chunk is to go out as soon as the path has room for
// it: a chunk of another lane waits until then.
func (s *Scheduler) Wants() bool {
	return s.have < s.numSlices && s.quota != 0 && s.InFlight() < s.need()
}

// Yield says whether other packets on the path must not wait for slices.
func (s *Scheduler) Yield(yields bool) { s.path.Yield(yields) }
