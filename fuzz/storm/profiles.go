package main

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine"
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
var paces = []func(d random) pace{
	func(random) pace { return basePace(base.Burst()) },
	func(random) pace { return basePace(base.Burst()) }, // the default comes twice as often, as that of adaptive does
	func(d random) pace { return basePace(base.Fixed(drawRate(d))) },
	func(d random) pace { return basePace(base.Article(drawRate(d))) },
	func(d random) pace { // any figures that BUD-1 allows
		p := base.Profile{
			Name: "drawn", Rate: drawRate(d), Cap: d.spread(1_066, 300_000), AckPays: d.oneIn(2),
			Spacing: machine.Micros(d.spread(1, 2_000)),
		}
		p.Burst = d.between(0, p.Cap)
		return basePace(p)
	},
	func(d random) pace { return adaptivePace(limited(adaptive.Adaptive(), d)) },
	func(d random) pace { return adaptivePace(limited(adaptive.Adaptive(), d)) },
	func(d random) pace { return adaptivePace(limited(adaptive.Burst(), d)) },
	func(d random) pace { return adaptivePace(limited(adaptive.Redundant(), d)) },
	func(d random) pace { return adaptivePace(adaptive.Fixed(max(drawRate(d), 8*slowest))) },
}

// drawRate draws a rate in bits a second, or 0.
func drawRate(d random) int64 {
	if d.oneIn(6) {
		return 0
	}
	return 8 * d.spread(slowest, 20_000_000)
}

func basePace(p base.Profile) pace {
	return pace{chunk.BasePace(p), p.Rate / 8, func() statemachine.Scheduler {
		s, err := base.New(p)
		return mustMake(s, err)
	}}
}

// limited gives half of the profiles a limit.
func limited(p adaptive.Profile, d random) adaptive.Profile {
	if d.oneIn(2) {
		p.MaxRate = drawRate(d)
	}
	return p
}

func adaptivePace(p adaptive.Profile) pace {
	return pace{chunk.AdaptivePace(p), p.MaxRate / 8, func() statemachine.Scheduler {
		s, err := adaptive.New(p)
		return mustMake(s, err)
	}}
}

// mustMake returns a scheduler of a profile that was drawn, and so is valid.
func mustMake(s statemachine.Scheduler, err error) statemachine.Scheduler {
	if err != nil {
		panic(err)
	}
	return s
}
