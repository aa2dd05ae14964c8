package trace

import (
	"math"

	"github.com/chunkwire/chunkwire/conform/oracle/recoveryoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// NewRecovery returns the recommended scheduler with a trace's profile (RVO-1). It fails with
// ErrBadRequest.
func NewRecovery(p contract.RecoveryProfile) (*adaptive.Scheduler, error) {
	profile, ok := map[string]adaptive.Profile{
		"adaptive": adaptive.Adaptive(), "redundant": adaptive.Redundant(), "burst": adaptive.Burst(), "fixed": adaptive.Fixed(p.Rate),
	}[p.Recovery]
	profile.MaxRate = p.Rate
	s, err := adaptive.New(profile)
	if !ok || err != nil {
		return nil, ErrBadRequest
	}
	return s, nil
}

// hosts returns those of the schedulers that a host tells of marks, and whether other packets must
// not wait (RVO-3).
func hosts(list ...statemachine.Scheduler) (told []statemachine.Scheduler) {
	for _, s := range list {
		switch s.(type) {
		case *adaptive.Scheduler, *rateless.Scheduler, RecoveryModel:
			told = append(told, s)
		}
	}
	return told
}

// Tell takes an event that a host tells a scheduler. It fails as RunSender.
func Tell(s statemachine.Scheduler, e contract.Event) error { return hostEvent(hosts(s), e) }

// mostMarks is the most marks of an event (RVO-3).
const mostMarks = math.MaxUint16

// hostEvent takes an event that the host tells the schedulers: it is none of the sender's, which
// takes no row and no time by it (RVO-4). It fails with ErrUnsupported for all others.
func hostEvent(list []statemachine.Scheduler, e contract.Event) error {
	isMarks := e.Event == "marks"
	switch {
	case len(list) == 0 || !isMarks && e.Event != "yield":
		return ErrUnsupported
	case e.At < 0 || e.At >= maxTime, isMarks && (e.Count == nil || *e.Count < 0 || *e.Count > mostMarks), !isMarks && e.Yields == nil:
		return ErrBadRequest
	}
	for _, s := range list {
		if isMarks {
			s.Marked(core.Micros(e.At), *e.Count)
		} else {
			s.Yield(*e.Yields)
		}
		if at := s.Deadline(); at != list[0].Deadline() {
			fail("after %s: deadline %d, want %d", e.Event, list[0].Deadline(), at)
		}
	}
	return nil
}

// RecoveryModel is the oracle of the recommended scheduler, as a scheduler.
type RecoveryModel struct {
	statemachine.NoPath
	*recoveryoracle.Scheduler
}

var _ statemachine.Scheduler = RecoveryModel{}

// NewRecoveryModel returns the oracle with a valid profile.
func NewRecoveryModel(p contract.RecoveryProfile) RecoveryModel {
	return RecoveryModel{Scheduler: recoveryoracle.NewScheduler(recoveryoracle.Profile{
		Rate: p.Rate, Burst: p.Recovery == "burst", Fixed: p.Recovery == "fixed", Redundant: p.Recovery == "redundant",
	})}
}

// Begin is statemachine.Scheduler's, as all that follow.
func (m RecoveryModel) Begin(f statemachine.Flight) {
	m.Scheduler.Begin(int64(f.Now), int64(f.NumSlices))
}

// Acked takes newly acked slices.
func (m RecoveryModel) Acked(now core.Micros, p statemachine.Progress) {
	var list []int
	for id := range p.News.All() {
		list = append(list, id)
	}
	m.Scheduler.Acked(int64(now), list)
}

// Held takes a hold.
func (m RecoveryModel) Held(now core.Micros) { m.Scheduler.Held(int64(now)) }

// Next returns what goes out.
func (m RecoveryModel) Next(now core.Micros) (int, bool) { return m.Scheduler.Next(int64(now)) }

// Deadline returns when something is to be done.
func (m RecoveryModel) Deadline() core.Micros { return core.Micros(m.Scheduler.Deadline()) }

// Marked takes new marks.
func (m RecoveryModel) Marked(_ core.Micros, n int) { m.Path().OnMarks(int64(n)) }

// Yield says whether other packets must not wait.
func (m RecoveryModel) Yield(yields bool) { m.Path().Yield(yields) }

// InFlight returns how many slices are under way.
func (m RecoveryModel) InFlight(unacked int) int { return unacked }

// Stats returns what it knows of the path.
func (m RecoveryModel) Stats() (s statemachine.ScheduleStats) {
	s.Lost, s.Timeouts, s.Spurious = m.Found()
	s.SmoothedRTT, s.MinRTT = core.Micros(m.Path().SRTT()), core.Micros(m.Path().MinRTT())
	return s
}
