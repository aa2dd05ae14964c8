package main

import (
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// pace is how a sender is set up, and what its judge allows.
type pace struct {
	chunk.Pace
	rate      int64                         // bytes a second; 0: no limit
	scheduler func() statemachine.Scheduler // a new one for each sender
}

// slowest is the lowest rate that is drawn, in bytes a second: so slow that a slice
// takes a quarter of a second, but less than any GIVE_UP.
const slowest = 4_000

// paces is every way to schedule that worlds draw from. Another scheduler takes
// part by another line.
var paces = []func(d sim.Draw) pace{
	func(sim.Draw) pace { return basePace(base.Burst()) },
	func(sim.Draw) pace { return basePace(base.Burst()) }, // the default comes twice as often, as that of adaptive does
	func(d sim.Draw) pace { return basePace(base.Fixed(drawRate(d))) },
	func(d sim.Draw) pace { return basePace(base.Article(drawRate(d))) },
	func(d sim.Draw) pace { // any figures that BUD-1 allows
		p := base.Profile{
			Name: "drawn", Rate: drawRate(d), Cap: d.Spread(1_066, 300_000), AckPays: d.OneIn(2),
			Spacing: core.Micros(d.Spread(1, 2_000)),
		}
		p.Burst = int64(d.Between(0, int(p.Cap)))
		return basePace(p)
	},
	func(d sim.Draw) pace { return adaptivePace(limited(adaptive.Adaptive(), d)) },
	func(d sim.Draw) pace { return adaptivePace(limited(adaptive.Adaptive(), d)) },
	func(d sim.Draw) pace { return adaptivePace(limited(adaptive.Burst(), d)) },
	func(d sim.Draw) pace { return adaptivePace(limited(adaptive.Redundant(), d)) },
	func(d sim.Draw) pace { return adaptivePace(adaptive.Fixed(max(drawRate(d), 8*slowest))) },
}

// repairPaces are those of senders with repair slices.
var repairPaces = []func(d sim.Draw) pace{
	func(d sim.Draw) pace { return ratelessPace(rateless.Default(), d) },
	func(d sim.Draw) pace { return ratelessPace(rateless.Default(), d) },
	func(d sim.Draw) pace { return ratelessPace(rateless.Redundant(), d) },
	func(d sim.Draw) pace { return ratelessPace(rateless.Burst(), d) },
	func(d sim.Draw) pace { return ratelessPace(rateless.Fixed(max(drawRate(d), 8*slowest)), d) },
}

// ratelessPace gives half of the profiles without a rate a limit.
func ratelessPace(p rateless.Profile, d sim.Draw) pace {
	if p.MaxRate == 0 && d.OneIn(2) {
		p.MaxRate = drawRate(d)
	}
	return pace{Pace: chunk.RatelessPace(p), rate: p.MaxRate / 8, scheduler: func() statemachine.Scheduler {
		s, err := rateless.New(p)
		mustBe(err)
		return s
	}}
}

// drawRate draws a rate in bits a second, or 0.
func drawRate(d sim.Draw) int64 {
	if d.OneIn(6) {
		return 0
	}
	return 8 * d.Spread(slowest, 20_000_000)
}

func basePace(p base.Profile) pace {
	return pace{Pace: chunk.BasePace(p), rate: p.Rate / 8, scheduler: func() statemachine.Scheduler {
		s, err := base.New(p)
		mustBe(err)
		return s
	}}
}

// limited gives half of the profiles a limit.
func limited(p adaptive.Profile, d sim.Draw) adaptive.Profile {
	if d.OneIn(2) {
		p.MaxRate = drawRate(d)
	}
	return p
}

func adaptivePace(p adaptive.Profile) pace {
	return pace{Pace: chunk.AdaptivePace(p), rate: p.MaxRate / 8, scheduler: func() statemachine.Scheduler {
		s, err := adaptive.New(p)
		mustBe(err)
		return s
	}}
}
