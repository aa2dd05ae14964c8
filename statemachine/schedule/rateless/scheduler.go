package rateless

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
)

// unlimited is the quota of a sender that needs none.
const unlimited = -1

// Scheduler is the recommended scheduler of a sender of repair slices. Transmissions of
// a chunk are numbered from 0 on.
type Scheduler struct {
	profile Profile
	log     eventlog.Log
	stats   statemachine.ScheduleStats

	// Kept across chunks (RPL-1).
	path    *control.Controller // limit and pace (RPL-6 to RPL-8)
	share   control.Share       // of the path
	wasHeld bool                // the peer could not take the chunk for two round trips

	// Per chunk (RPL-2).
	chunkID   uint16
	numSlices int
	sent      int                     // transmissions so far
	have      int                     // slices that are known to have arrived
	top       int                     // the highest number that arrived, and one
	gone      int                     // what has a number below is not under way, by the timer
	moved     int                     // what has a number below was sent on another path (REC-12)
	sentAt    *[keptTimes]core.Micros // of the latest transmissions
	mainAt    core.Micros             // the latest that was sent without a quota
	lastAt    core.Micros             // the latest
	newsAt    core.Micros
	limited   bool        // the latest transmission had a quota
	quota     int         // how many can still be sent without news
	held      bool        // the peer cannot take the chunk yet; until there is news
	heldAt    core.Micros // since when
	needed    needed
}

// needed is what need found out, and of what.
type needed struct {
	lost, arrived int32
	d, n          int16
}

// keptTimes is how many transmissions have their times kept (RPL-2).
const keptTimes = 1024

var _ statemachine.Scheduler = (*Scheduler)(nil)

// New returns a scheduler with the profile's pace that knows nothing of the path
// (RPL-1). It fails with core.ErrConfig.
func New(p Profile) (*Scheduler, error) {
	pace := p.pace()
	if err := pace.Check(); err != nil {
		return nil, err
	}
	return &Scheduler{profile: p, path: control.New(pace)}, nil
}

// Begin starts a chunk (RPL-2). If the peer could not take the one before for long, a
// single slice asks whether it takes this one.
func (s *Scheduler) Begin(f statemachine.Flight) {
	if s.sentAt == nil {
		s.sentAt = new([keptTimes]core.Micros)
	}
	s.log, s.chunkID, s.numSlices = f.Log, f.ChunkID, f.NumSlices
	s.sent, s.have, s.top, s.gone, s.moved = 0, 0, 0, 0, 0
	s.mainAt, s.lastAt, s.newsAt = f.Now, f.Now, f.Now
	s.quota = unlimited
	if s.wasHeld && s.profile.has(ruleAsk) {
		s.quota = 1
	}
	s.held, s.wasHeld = false, false
	s.path.Begin(f.Now, &s.share)
}

// Acked takes news (RPL-5).
func (s *Scheduler) Acked(now core.Micros, p statemachine.Progress) {
	have, top := p.Have, p.Top
	s.sampleRTT(now, have, top)
	if s.held {
		s.release(now)
	}
	n, lost := s.news(have, top)
	if s.top < s.gone {
		s.path.Late(n - max(top-s.gone, 0)) // RPL-5, step 3 (SUS-2)
	}
	s.have, s.top = have, top
	s.noteFlight()
	s.path.Arrived(now, n, lost)
	s.held = false
	if n == 0 && top-have > mostNeed {
		s.quota = 0 // a peer that denies everything draws probes only
	} else {
		s.newsAt, s.quota = now, unlimited
	}
	s.path.Report(now, s.log)
}

// release notes that the peer takes the chunk: also what is under way, above the news
// (RPL-5, step 2).
func (s *Scheduler) release(now core.Micros) {
	s.gone = 0
	s.noteFlight()
	if now-s.heldAt > 2*s.path.RTT.Smoothed {
		s.wasHeld = true
	}
}

// sampleRTT takes a sample of the round trip if a later transmission arrived. Each is
// the only one of its number; but the ack of a complete chunk says the same however
// late a probe draws it (RPL-5, step 1).
func (s *Scheduler) sampleRTT(now core.Micros, have, top int) {
	if top == s.top || top <= max(s.sent-keptTimes, s.moved) {
		return
	}
	r := now - s.sentAt[(top-1)%keptTimes]
	switch {
	case have < s.numSlices || top > s.gone:
		s.path.Clean(now, r)
		s.report(eventlog.RTTSampled, now, top-1, r)
	default: // nothing asks for it once the round trip is measured (RTT-6)
		s.path.RTT.Bound(r)
	}
}

// news counts what arrived, and as lost what has a number below and did not; but
// not what the peer could not take, nor what the timer has given up: that can have been an
// outage (RPL-5, step 2); nor slices of another path (REC-12).
func (s *Scheduler) news(have, top int) (arrived, lost int) {
	passed, arrived := top-s.top, have-s.have
	if s.top < s.moved {
		passed = max(top-s.moved, 0)
		arrived = min(arrived, passed)
	}
	switch {
	case s.held:
		return arrived, 0
	case s.top < s.gone && s.gone < top && s.profile.has(ruleOutage):
		passed = top - max(s.gone, s.moved)
		lost = passed - min(arrived, passed)
	default:
		lost = passed - arrived
	}
	s.stats.Lost += int64(max(lost, 0))
	return arrived, lost
}

// Held stops everything but a probe now and then (RPL-12).
func (s *Scheduler) Held(now core.Micros) {
	if !s.held {
		s.held, s.heldAt = true, now
	}
	s.gone, s.quota = s.sent, 0
	s.noteFlight()
}

// noteFlight notes how many slices are in flight.
func (s *Scheduler) noteFlight() {
	if s.have >= s.numSlices {
		s.path.Leave(&s.share)
		return
	}
	s.path.Flight(&s.share, s.inFlight())
}

// Next reports whether the next slice is sent at now, and counts it as sent (RPL-9). It
// returns its number.
func (s *Scheduler) Next(now core.Micros) (number int, ok bool) {
	if !s.wanted() && now >= s.timerAt() {
		s.expire(now)
	}
	if !s.path.Go(now, &s.share, s.wanted(), s.sent < s.numSlices) {
		return 0, false
	}
	s.sentAt[s.sent%keptTimes], s.lastAt = now, now
	s.sent++
	s.noteFlight()
	s.limited = s.quota != unlimited
	if s.limited {
		s.quota--
	} else {
		s.mainAt = now
	}
	s.path.Report(now, s.log)
	return s.sent - 1, true
}

// Why returns for what the latest transmission was sent.
func (s *Scheduler) Why(int) string {
	switch {
	case s.limited && (s.held || s.sent == 1):
		return eventlog.Probe
	case s.limited:
		return eventlog.Timeout
	case s.sent <= s.numSlices:
		return eventlog.First
	}
	return eventlog.Repair
}

// InFlight returns how many transmissions are under way, those not counted that are presumed
// lost (RPL-3).
func (s *Scheduler) InFlight(int) int { return s.inFlight() }

func (s *Scheduler) inFlight() int { return s.sent - max(s.top, s.gone) }

// Wants reports whether fewer are under way than the rest of the chunk needs. Pace, limit
// and timer can still hold the next one back.
func (s *Scheduler) Wants(bool) bool { return s.wants() }

func (s *Scheduler) wants() bool {
	return s.have < s.numSlices && s.inFlight() < s.need()
}

// need returns what need does, and finds it out only when its inputs have changed.
func (s *Scheduler) need() int {
	l, d := s.path.Losses(), s.numSlices-s.have
	of := needed{int32(l.Lost), int32(l.Arrived), int16(d), s.needed.n} // which have room for each (CAP-8, RPL-4)
	if of != s.needed {
		of.n = int16(need(l, d, &s.profile))
		s.needed = of
	}
	return int(of.n)
}

// wanted reports whether the next slice is sent as soon as the pace permits it (RPL-3).
func (s *Scheduler) wanted() bool {
	return s.wants() && (s.quota > 0 || s.quota == unlimited && s.path.HasRoom())
}

// Deadline returns when the pace or the timer lets a slice go (RPL-13).
func (s *Scheduler) Deadline() core.Micros {
	switch {
	case s.have >= s.numSlices:
		return core.Never
	case s.wanted():
		return s.path.Next()
	}
	return s.timerAt()
}

// Rest releases what only a chunk in flight needs; there must be none.
func (s *Scheduler) Rest() { s.sentAt = nil }

// Stats returns what the scheduler knows of the path.
func (s *Scheduler) Stats() statemachine.ScheduleStats {
	st := s.stats
	st.SmoothedRTT, st.MinRTT = s.path.RTT.Smoothed, s.path.MinRTT()
	return st
}

func (s *Scheduler) report(kind eventlog.Kind, now core.Micros, id int, rtt core.Micros) {
	if s.log != nil {
		s.log(eventlog.Event{Kind: kind, At: now, ChunkID: s.chunkID, SliceID: id, RTT: rtt})
	}
}
