package fuzz

import (
	"errors"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// scheduling is a scheduler, its model if it has one, and what its judge allows.
type scheduling struct {
	statemachine.Scheduler
	model statemachine.Scheduler
	pace  chunk.Pace
}

// readSchedulerOf reads a scheduler for a kind of slices.
func readSchedulerOf(t T, kind codec.Kind, s *script, bound func(*base.Profile)) scheduling {
	t.Helper()
	if kind == codec.Repair {
		return readRepairScheduler(t, s)
	}
	return readScheduler(t, s, bound)
}

// readScheduler reads a scheduler: a byte that says which, and its figures. Those of
// any base profile are bounded as the caller wants it.
func readScheduler(t T, s *script, bound func(*base.Profile)) scheduling {
	t.Helper()
	switch s.byte() % 9 {
	case 0:
		return baseScheduling(t, base.Burst())
	case 1:
		return baseScheduling(t, base.Fixed(readRate(s)))
	case 2:
		return baseScheduling(t, base.Article(readRate(s)))
	case 3:
		return baseScheduling(t, base.Fixed(0)) // unlimited
	case 4:
		p := readFigures(t, s)
		bound(&p)
		return baseScheduling(t, p)
	case 5:
		return adaptiveScheduling(t, adaptive.Adaptive(), readLimit(s))
	case 6:
		return adaptiveScheduling(t, adaptive.Burst(), readLimit(s))
	case 7:
		return adaptiveScheduling(t, adaptive.Redundant(), readLimit(s))
	}
	limit := readLimit(s)
	if limit == 0 {
		limit = mostRate // the profile fixed has no rate of its own
	}
	return adaptiveScheduling(t, adaptive.Fixed(0), limit)
}

func baseScheduling(t T, p base.Profile) scheduling {
	t.Helper()
	b, err := base.New(p)
	if err != nil {
		t.Fatalf("refused %+v: %v", p, err)
	}
	return scheduling{b, chunk.NewBaseModel(p), chunk.BasePace(p)}
}

// adaptiveScheduling has no model.
func adaptiveScheduling(t T, p adaptive.Profile, limit int64) scheduling {
	t.Helper()
	a, limit := limited(t, limit, func(limit int64) (*adaptive.Scheduler, error) {
		p.MaxRate = limit
		return adaptive.New(p)
	})
	p.MaxRate = limit
	return scheduling{a, nil, chunk.AdaptivePace(p)}
}

// limited returns a new scheduler with a limit. One that PRO-1 does not allow must be
// refused, and then the nearest one is taken.
func limited[S any](t T, limit int64, newScheduler func(limit int64) (S, error)) (S, int64) {
	t.Helper()
	scheduler, err := newScheduler(limit)
	if allowed := limit == 0 || limit >= leastRate && limit <= mostRate; allowed != (err == nil) {
		t.Fatalf("a limit of %d bit/s: %v", limit, err)
	}
	if err != nil {
		limit = min(max(limit, leastRate), mostRate)
		if scheduler, err = newScheduler(limit); err != nil {
			t.Fatalf("refused %d bit/s: %v", limit, err)
		}
	}
	return scheduler, limit
}

// Figures of BUD-1, rates in bits a second.
const (
	leastRate = 8 * 1066
	mostRate  = 8 * 1_000_000_000
	leastCap  = 1066
	mostCap   = 1_000_000_000
)

// readFigures reads any profile of the base algorithm. What BUD-1 does not allow must
// be refused, and then the nearest that it allows is taken.
func readFigures(t T, s *script) base.Profile {
	t.Helper()
	p := base.Profile{
		Name: "any", Rate: 8 * int64(s.uint32()), Cap: int64(s.uint32()), Burst: int64(s.uint32()), AckPays: s.byte()&1 == 1,
		Spacing: core.Micros(s.uint32() % 1_000_000_001), ResendDelay: core.Micros(s.uint32() % 1_000_000_001),
	}
	within := p
	if p.Rate != 0 {
		within.Rate = min(max(p.Rate, leastRate), mostRate)
	}
	within.Cap = min(max(p.Cap, leastCap), mostCap)
	within.Burst = min(p.Burst, within.Cap)
	if _, err := base.New(p); (err == nil) != (p == within) || err != nil && !errors.Is(err, core.ErrConfig) {
		t.Fatalf("%+v: %v", p, err)
	}
	return within
}

// readLimit reads a limit in bits a second: for half of the bytes none, some rates
// beyond what a profile allows, or one of readRate.
func readLimit(s *script) int64 {
	switch b := s.byte(); {
	case b < 128:
		return 0
	case b < 140:
		return 8 << (b - 128) // below the least, and a little above
	case b < 150:
		return 8 << (b - 110) // above the most
	}
	return readRate(s)
}

// readRate reads a rate in steps of the smallest, of 1 Mbit/s or of 80 Mbit/s.
func readRate(s *script) int64 {
	step := pick(s, []int64{leastRate, 1_000_000, 80_000_000})
	return step * (1 + int64(s.byte()%100))
}

// profileSeed is the inverse of readScheduler, for a profile of the contract.
func profileSeed(p *contract.Profile) []byte {
	if p == nil {
		return []byte{0}
	}
	out := []byte{4}
	for _, v := range []int64{p.Rate, p.Cap, p.Burst} {
		out = appendUint32(out, uint32(v))
	}
	out = append(out, byte(asBit(p.AcksPay)))
	return appendUint32(appendUint32(out, uint32(p.SpacingUS)), uint32(p.ResendDelayUS))
}

// schedulerSeeds are a scheduler of each kind but that of any figures, and adaptive
// ones without a limit, with one of 41 Mbit/s, and with one of ten slices a second.
func schedulerSeeds() [][]byte {
	seeds := [][]byte{{0}, {1, 1, 40}, {2, 1, 40}, {3}}
	for kind := byte(5); kind <= 8; kind++ {
		seeds = append(seeds, []byte{kind, 0}, []byte{kind, 255, 1, 40}, []byte{kind, 255, 0, 9})
	}
	return seeds
}

// readGiveUp reads a GIVE_UP: mostly a usual one.
func readGiveUp(s *script) core.Micros {
	return pick(s, []core.Micros{0, 10_000_000, 2_000_000, 1_000_000, 60_000_000, 100_000, 1000, 1, 2, 3, 1 << 61})
}

// giveUpOf is GIVE_UP for what was configured (7.2).
func giveUpOf(configured core.Micros) core.Micros {
	if configured == 0 {
		return 10_000_000
	}
	return configured
}

// giveUpByte is the byte for which readGiveUp returns the nearest that it has.
func giveUpByte(us int64) byte {
	switch {
	case us >= 1<<60:
		return 10
	case us >= 30_000_000:
		return 4
	case us >= 5_000_000:
		return 1
	case us >= 1_500_000:
		return 2
	case us >= 500_000:
		return 3
	case us >= 10_000:
		return 5
	}
	return 6
}
