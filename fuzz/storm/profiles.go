package main

import "github.com/chunkwire/chunkwire/statemachine"

// pace is how a sender is set up, and what the judge holds it to: a bucket of
// so many bytes, headers counted, that time fills at a rate (section 9.5).
type pace struct {
	name      string
	scheduler func() statemachine.Scheduler // a new one for each sender
	rate      int64                         // bytes a second; 0 is unlimited, and then nothing is held
	capacity  int64                         // bytes
	burst     int64                         // what a new chunk finds in the bucket at least
	acksPay   bool
}

// slowest is the lowest rate that is drawn, in bytes a second: so slow that a
// slice takes a quarter of a second, but not as long as anyone's patience.
const slowest = 4_000

// paces is every way to schedule that worlds draw from. Another scheduler takes
// part by another line.
var paces = []func(d dice) pace{
	func(dice) pace { return basePace(statemachine.Burst()) },
	func(dice) pace { return basePace(statemachine.Burst()) }, // the default comes twice as often
	func(d dice) pace { return basePace(statemachine.Fixed(drawRate(d))) },
	func(d dice) pace { return basePace(statemachine.Article(drawRate(d))) },
	func(d dice) pace { // any figures that BUD-1 allows
		p := statemachine.Profile{
			Name: "drawn", Rate: drawRate(d), Cap: d.spread(1_066, 300_000), AckPays: d.oneIn(2),
			Spacing: statemachine.Micros(d.spread(1, 2_000)),
		}
		p.Burst = d.between(0, p.Cap)
		return basePace(p)
	},
}

func drawRate(d dice) int64 {
	if d.oneIn(6) {
		return 0
	}
	return d.spread(slowest, 20_000_000)
}

func basePace(p statemachine.Profile) pace {
	return pace{
		name:      p.Name,
		scheduler: func() statemachine.Scheduler { return statemachine.NewBase(p) },
		rate:      p.Rate, capacity: p.Cap, burst: p.Burst, acksPay: p.AckPays,
	}
}
