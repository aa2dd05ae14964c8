package adaptive

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
)

const ms = core.Millisecond

// Scheduler is the recommended scheduler of a sender. Each method
// does what section 2 says of its event, in that order (REC-1).
type Scheduler struct {
	statemachine.NoPath // wants slices that were never sent

	profile Profile
	log     eventlog.Log
	stats   statemachine.ScheduleStats

	// Kept across chunks (REC-8).
	path     *control.Controller
	share    control.Share // of the path
	patience core.Micros   // how old an overtaken slice is before it is lost (LOS-3)

	// Per chunk.
	chunkID    uint16
	numSlices  int
	now        core.Micros // of the latest Acked or Next
	slices     []transmissions
	unacked    core.Set    // slices not known to have arrived
	fresh      int         // the first that was never sent; numSlices when all were
	lost       core.Set    // unacked, sent before, and waiting to be sent again
	resent     core.Set    // sent again at least once, as no copy
	byTimer    core.Set    // found lost by the timer, the last time
	oldest     int         // of the flying slices, the one sent first; or none
	count      uint32      // transmissions so far
	newest     uint32      // the highest number known to have arrived
	gapAt      core.Micros // when an overtaken slice is lost
	lastSentAt core.Micros
	newsAt     core.Micros
	held       bool        // the peer cannot take the chunk yet; until the next newly acked slice
	heldAt     core.Micros // since when
	refused    uint32      // up to this number the peer can have refused transmissions (SUS-5)
	moved      uint32      // up to this number they were sent on another path (REC-12)
}

var _ statemachine.Scheduler = (*Scheduler)(nil)

// New returns a scheduler with the profile's pace that knows nothing of the path
// (REC-8). It fails with core.ErrConfig.
func New(p Profile) (*Scheduler, error) {
	pace := p.pace()
	if err := pace.Check(); err != nil {
		return nil, err
	}
	return &Scheduler{profile: p, path: control.New(pace)}, nil
}

// Begin starts a chunk (REC-2).
func (s *Scheduler) Begin(f statemachine.Flight) {
	s.log, s.chunkID, s.numSlices = f.Log, f.ChunkID, f.NumSlices
	if len(s.slices) < f.NumSlices {
		s.slices = make([]transmissions, f.NumSlices)
	}
	clear(s.slices)
	s.unacked, s.lost, s.resent = core.FirstN(f.NumSlices), core.Set{}, core.Set{}
	s.fresh, s.oldest, s.count, s.newest, s.refused, s.moved = 0, none, 0, 0, 0, 0
	s.gapAt = core.Never
	s.lastSentAt, s.newsAt, s.held = f.Now, f.Now, false
	s.path.Begin(f.Now, &s.share)
	s.patience -= s.patience / 16
}

// Acked takes newly acked slices (REC-3).
func (s *Scheduler) Acked(now core.Micros, p statemachine.Progress) {
	news := p.News
	s.now = now
	s.sampleRTT(now, news)
	arrived := 0
	for id := range news.All() {
		number := s.arrivedAs(now, id)
		s.newest = max(s.newest, number)
		if number > s.moved {
			arrived++
		}
	}
	s.unacked, s.lost = s.unacked.Minus(news), s.lost.Minus(news)
	if s.held {
		s.refused = s.count
	}
	s.newsAt, s.held = now, false
	lost := s.findLost(now)
	s.noteFlight()
	s.path.Arrived(now, arrived, lost)
	s.path.Report(now, s.log)
}

// Held stops everything but a probe now and then (REC-4).
func (s *Scheduler) Held(now core.Micros) {
	if !s.held {
		s.held, s.heldAt = true, now
	}
	s.lost = core.Set{}
	s.noteFlight()
}

// Next returns the slice to send at now, if any (REC-5).
func (s *Scheduler) Next(now core.Micros) (int, bool) {
	s.now = now
	s.runTimers(now)
	id, isCopy := s.upNext(now)
	if !s.path.Go(now, &s.share, id >= 0, id == s.fresh) {
		return none, false
	}
	s.sent(now, id, isCopy)
	s.noteFlight()
	s.path.Report(now, s.log)
	return id, true
}

// Deadline returns when the pace or a timer lets a slice go (REC-7).
func (s *Scheduler) Deadline() core.Micros {
	if s.unacked.Empty() {
		return core.Never
	}
	if id, _ := s.upNext(s.now); id >= 0 {
		return s.path.Next()
	}
	at := min(s.timerAt(), s.gapAt)
	if !s.lost.Intersect(s.byTimer).Empty() {
		at = min(at, s.path.SilentAt())
	}
	return at
}

// Rest releases what only a chunk in flight needs; there must be none.
func (s *Scheduler) Rest() { s.slices = nil }

// Stats returns what the scheduler knows of the path.
func (s *Scheduler) Stats() statemachine.ScheduleStats {
	st := s.stats
	st.SmoothedRTT, st.MinRTT = s.path.RTT.Smoothed, s.path.MinRTT()
	return st
}

// runTimers finds what time alone makes lost. The resend timer matters only
// while nothing else can be sent (PTO-1).
func (s *Scheduler) runTimers(now core.Micros) {
	if now >= s.gapAt {
		lost := s.findLost(now)
		s.noteFlight()
		s.path.Arrived(now, 0, lost)
	}
	if s.due() < 0 && now >= s.timerAt() {
		s.expire(now)
	}
}

// upNext returns the next slice to send, if the pace allows, and whether
// it is a copy; or none (REC-5, REC-9).
func (s *Scheduler) upNext(now core.Micros) (id int, isCopy bool) {
	if id := s.due(); id >= 0 || s.fresh < s.numSlices || s.held || !s.path.HasRoom() {
		return id, false
	}
	return s.chooseCopy(now), true
}

// due returns a lost slice, or else a fresh one if there is room, or none; in a silence what a timer
// found lost without room (ROOM-7). A peer that holds gets no fresh one (REC-9).
func (s *Scheduler) due() int {
	if id := s.lost.Next(0); id >= 0 {
		if s.path.HasRoom() {
			return id
		}
		if id = s.lost.Intersect(s.byTimer).Next(0); id >= 0 && (s.held || s.now >= s.path.SilentAt()) {
			return id
		}
		return none
	}
	if s.fresh == s.numSlices || s.held || !s.path.HasRoom() {
		return none
	}
	return s.fresh
}

// Why returns why a slice was sent again.
func (s *Scheduler) Why(id int) string {
	switch {
	case s.slices[id].copies > 0:
		return eventlog.Extra
	case !s.byTimer.Has(id):
		return eventlog.Lost
	case s.held:
		return eventlog.Probe
	}
	return eventlog.Timeout
}

func (s *Scheduler) report(kind eventlog.Kind, now core.Micros, id int, rtt core.Micros) {
	if s.log != nil {
		s.log(eventlog.Event{Kind: kind, At: now, ChunkID: s.chunkID, SliceID: id, RTT: rtt})
	}
}

// noteFlight notes how many slices are in flight.
func (s *Scheduler) noteFlight() {
	s.path.Flight(&s.share, s.flying().Count())
	if s.unacked.Empty() {
		s.path.Leave(&s.share)
	}
}
