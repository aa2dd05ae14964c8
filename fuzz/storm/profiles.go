package main

import (
	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
)

// pace is how a sender is set up, and what the judge holds it to: a bucket of
// so many bytes, headers counted, that time fills at a rate (section 9.5; the
// pace of RECOVERY.md, section 6, is one too).
type pace struct {
	name      string
	scheduler func() statemachine.Scheduler // a new one for each sender
	rule      string                        // broken by who overdraws
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
	func(dice) pace { return basePace(statemachine.Burst()) }, // the base algorithm's default comes twice as often, as recovery's does
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
	func(d dice) pace { return recoveryPace(limited(recovery.Adaptive(), d)) },
	func(d dice) pace { return recoveryPace(limited(recovery.Adaptive(), d)) },
	func(d dice) pace { return recoveryPace(limited(recovery.Burst(), d)) },
	func(d dice) pace { return recoveryPace(limited(recovery.Redundant(), d)) },
	func(d dice) pace { return recoveryPace(recovery.Fixed(drawRate(d))) },
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
		rule:      "BUD-2",
		rate:      p.Rate, capacity: p.Cap, burst: p.Burst, acksPay: p.AckPays,
	}
}

// limited gives half of the profiles a limit.
func limited(p recovery.Profile, d dice) recovery.Profile {
	if d.oneIn(2) {
		p.MaxRate = drawRate(d)
	}
	return p
}

// Figures of RECOVERY.md: what a slice counts (PRO-1), the shortest interval
// (PAC-1), and what a late caller may make up for (PAC-4).
const (
	sliceBytes = 1_066
	fastest    = 7_000 // ns
	catchUp    = 20 * millisecond
)

// recoveryPace holds a sender to its limit, or to the shortest interval: a
// bucket for one slice and what 20 ms make.
func recoveryPace(p recovery.Profile) pace {
	interval := int64(fastest)
	if p.MaxRate > 0 {
		interval = max(interval, sliceBytes*1_000_000_000/p.MaxRate)
	}
	rate := (sliceBytes*1_000_000_000 + interval - 1) / interval
	return pace{
		name:      "recovery " + p.Name,
		scheduler: func() statemachine.Scheduler { return recovery.New(p) },
		rule:      "PAC-4",
		rate:      rate, capacity: sliceBytes + (rate*catchUp+second-1)/second,
	}
}
