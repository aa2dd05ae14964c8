package lanes_test

import (
	"math"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// What a test asks of the schedulers of both variants, and counts of them.
type asked struct {
	fit            int // slices that fit into the path; 0: any number
	adopted, rests int // so often
}

func (a *asked) Rest() { a.rests++ }

func (a *asked) PathSlices() int {
	if a.fit == 0 {
		return math.MaxInt
	}
	return a.fit
}

// allAtOnce makes lanes send all slices of a chunk at once, and the missing ones again when a
// timer has run out.
func (a *asked) allAtOnce(cfg *lanes.Config) {
	cfg.NewScheduler = func() (statemachine.Scheduler, error) {
		return &namedAtOnce{check.Must(base.New(base.Fixed(0))), a}, nil
	}
	cfg.NewRepairScheduler = func() (statemachine.Scheduler, error) { return &repairAtOnce{asked: a}, nil }
}

func allAtOnce(cfg *lanes.Config) { new(asked).allAtOnce(cfg) }

type namedAtOnce struct {
	*base.Scheduler
	*asked
}

func (s *namedAtOnce) Adopt(statemachine.Scheduler) { s.adopted++ }

func (s *namedAtOnce) Rest()           { s.asked.Rest() }
func (s *namedAtOnce) PathSlices() int { return s.asked.PathSlices() }

// repairAtOnce sends as many slices as are missing.
type repairAtOnce struct {
	statemachine.NoPath
	*asked
	numSlices, have, left, sent int
	at                          core.Micros // the latest that was sent
}

const timer = 250 * ms

func (s *repairAtOnce) Begin(f statemachine.Flight) {
	s.numSlices, s.have, s.left, s.sent, s.at = f.NumSlices, 0, f.NumSlices, 0, f.Now
}

func (s *repairAtOnce) Acked(_ core.Micros, p statemachine.Progress) { s.have = p.Have }

func (s *repairAtOnce) Held(core.Micros) {}

func (s *repairAtOnce) Next(now core.Micros) (number int, ok bool) {
	if s.left == 0 && now >= s.at+timer {
		s.left = s.numSlices - s.have
	}
	if s.left == 0 {
		return 0, false
	}
	s.left--
	s.sent++
	s.at = now
	return s.sent - 1, true
}

func (s *repairAtOnce) Deadline() core.Micros {
	if s.left > 0 {
		return s.at
	}
	return s.at + timer
}

func (s *repairAtOnce) Stats() statemachine.ScheduleStats { return statemachine.ScheduleStats{} }

func (s *repairAtOnce) Adopt(statemachine.Scheduler) { s.adopted++ }
func (s *repairAtOnce) Rest()                        { s.asked.Rest() }
func (s *repairAtOnce) PathSlices() int              { return s.asked.PathSlices() }

// fixedAt makes lanes of schedulers that send at a rate, each by itself.
func fixedAt(rate int64) func(*lanes.Config) {
	return func(cfg *lanes.Config) {
		cfg.NewScheduler = func() (statemachine.Scheduler, error) { return adaptive.New(adaptive.Fixed(rate)) }
		cfg.NewRepairScheduler = func() (statemachine.Scheduler, error) { return rateless.New(rateless.Fixed(rate)) }
	}
}

// makers makes lanes of schedulers that are made only if made returns nil.
func makers(made func() error) func(*lanes.Config) {
	return func(cfg *lanes.Config) {
		cfg.NewScheduler = func() (statemachine.Scheduler, error) {
			if err := made(); err != nil {
				return nil, err
			}
			return base.New(base.Burst())
		}
		cfg.NewRepairScheduler = func() (statemachine.Scheduler, error) {
			if err := made(); err != nil {
				return nil, err
			}
			return rateless.New(rateless.Default())
		}
	}
}
