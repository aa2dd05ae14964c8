package rateless

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/rtt"
	"github.com/chunkwire/chunkwire/schedule/control"
	"github.com/chunkwire/chunkwire/statemachine"
)

// unlimited stands for no quota.
const unlimited = -1

// Scheduler is the recommended scheduler of a sender of repair slices. Transmissions of a
// chunk are numbered from 0 on.
type Scheduler struct {
	profile Profile
	observe func(statemachine.Observation)
	stats   statemachine.ScheduleStats

	// Kept across chunks, one for all lanes.
	path   *control.Controller
	losses *losses

	// Per chunk.
	chunkID   uint16
	numSlices int
	now       machine.Micros             // of the latest event
	sent      int                        // transmissions so far
	have      int                        // of the chunk's slices are known to have arrived
	top       int                        // one above the latest transmission known to have arrived
	gone      int                        // transmissions below it are presumed lost
	sentAt    *[maxFlight]machine.Micros // of the latest
	mainAt    machine.Micros             // the latest that no quota let go
	lastAt    machine.Micros             // the latest
	newsAt    machine.Micros
	probeAt   machine.Micros // no probe before
	quota     int            // how many may go out before there is news
	held      bool           // the peer cannot take the chunk yet; until there is news
	heldAt    machine.Micros // since when
}

var _ repair.Scheduler = (*Scheduler)(nil)

// New returns a scheduler with the profile's pace that knows nothing of the path. It
// fails with machine.ErrConfig.
func New(p Profile) (*Scheduler, error) {
	pace := p.pace()
	if err := pace.Check(); err != nil {
		return nil, err
	}
	return &Scheduler{profile: p, path: control.New(pace), losses: newLosses()}, nil
}

// Begin starts a chunk.
func (s *Scheduler) Begin(f statemachine.Flight) {
	if s.sentAt == nil {
		s.sentAt = new([maxFlight]machine.Micros)
	}
	s.observe, s.chunkID, s.numSlices, s.now = f.Observe, f.ChunkID, f.NumSlices, f.Now
	s.sent, s.have, s.top, s.gone = 0, 0, 0, 0
	s.mainAt, s.lastAt, s.newsAt, s.probeAt = f.Now, f.Now, f.Now, 0
	s.quota, s.held = unlimited, false
	s.path.Begin()
}

// Acked takes news: how many of the chunk's slices have arrived, and one above the latest
// transmission that did.
func (s *Scheduler) Acked(now machine.Micros, have, top int) {
	s.now = now
	passed, arrived := top-s.top, have-s.have
	if passed > 0 && top > s.sent-maxFlight {
		s.sampleRTT(now, have, top)
	}
	s.countLosses(top, passed, arrived)
	s.have, s.top = have, top
	s.path.Arrived(now, arrived, uint32(top))
	s.newsAt, s.probeAt, s.quota, s.held = now, 0, unlimited, false
}

// sampleRTT takes a sample of the round trip: each transmission is the only one of its id.
// But the ack of a whole chunk names none that came later, so what answers a probe gives
// a bound only.
func (s *Scheduler) sampleRTT(now machine.Micros, have, top int) {
	r := now - s.sentAt[(top-1)%maxFlight]
	switch {
	case have < s.numSlices || top > s.gone:
		s.path.RTT.Clean(now, r)
		s.report(statemachine.MeasuredRTT, now, top-1, r)
	case s.path.RTT.Known != rtt.Measured:
		s.path.RTT.Bound(r)
	}
}

// countLosses counts what was passed and did not arrive as lost, but for what the timer
// has given up: that was the path's only for a while.
func (s *Scheduler) countLosses(top, passed, arrived int) {
	if s.top < s.gone && s.gone < top && s.profile.has(ruleGone) {
		passed = top - s.gone
		arrived = min(arrived, passed)
	}
	s.stats.Lost += int64(max(passed-arrived, 0))
	s.losses.count(passed, arrived, s.profile.has(ruleSettle))
}

// Held stops everything but a probe now and then.
func (s *Scheduler) Held(now machine.Micros) {
	s.now = now
	if !s.held {
		s.held, s.heldAt = true, now
	}
	s.gone, s.quota = s.sent, 0
	s.path.EndTrain()
}

// Next reports whether the next id goes out at now, and counts it as sent.
func (s *Scheduler) Next(now machine.Micros) bool {
	s.now = now
	if !s.wants() && now >= s.timerAt() {
		s.expire(now)
	}
	if s.InFlight() >= s.need() {
		s.path.Dry(now)
	}
	if !s.path.Go(now, s.wants(), s.sent < s.numSlices) {
		return false
	}
	s.sentAt[s.sent%maxFlight] = now
	s.sent++
	s.lastAt = now
	if s.quota == unlimited {
		s.mainAt = now
	} else {
		s.quota--
	}
	return true
}

// need returns how many are to be under way.
func (s *Scheduler) need() int {
	squared := int64(deviations)
	if s.profile.spread {
		squared = spread
	}
	return s.losses.need(s.numSlices-s.have, squared, s.profile.has(ruleDoubt))
}

// wants reports whether the next id is to go out as soon as the pace lets it.
func (s *Scheduler) wants() bool { return s.Wants() && s.path.HasRoom(s.InFlight(), s.have) }

// timerAt returns when the timer runs out if nothing is wanted.
func (s *Scheduler) timerAt() machine.Micros {
	if s.held {
		return max(s.lastAt, s.heldAt) + s.path.HoldDelay(s.lastAt-s.heldAt)
	}
	delay, margin := s.path.RTT.Delay()
	return max(s.mainAt+delay, s.newsAt+margin, s.probeAt)
}

// probes go out when the timer has run out.
const probes = 2

// expire gives up all that is under way, and lets probes go.
func (s *Scheduler) expire(now machine.Micros) {
	s.stats.Timeouts++
	s.path.EndTrain()
	s.gone, s.quota = s.sent, probes
	switch part := machine.Micros(8); {
	case s.held:
		s.quota = 1
	default:
		if s.path.RTT.Known == rtt.Unknown {
			part = 4
		}
		s.probeAt = now + s.path.ProbeDelay(now-s.newsAt, part)
	}
}

// Deadline returns when the pace or the timer lets the next id go.
func (s *Scheduler) Deadline() machine.Micros {
	switch {
	case s.have >= s.numSlices:
		return machine.Never
	case s.wants():
		return s.path.Next()
	}
	return s.timerAt()
}

// Rest releases what only a chunk in flight needs; there must be none.
func (s *Scheduler) Rest() { s.sentAt = nil }

// Stats returns what the scheduler knows of the path.
func (s *Scheduler) Stats() statemachine.ScheduleStats {
	st := s.stats
	st.SmoothedRTT, st.MinRTT = s.path.RTT.Smoothed, s.path.RTT.Min()
	return st
}

func (s *Scheduler) report(kind statemachine.ObservationKind, now machine.Micros, number int, rtt machine.Micros) {
	if s.observe != nil {
		s.observe(statemachine.Observation{Kind: kind, At: now, ChunkID: s.chunkID, SliceID: number, RTT: rtt})
	}
}
