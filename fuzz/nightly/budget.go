package main

import (
	"math"
	"time"
)

// plan is one target's part of the night.
type plan struct {
	target
	speed  float64       // executions a second, in its last slice
	took   time.Duration // of its last slice, without the warm-up
	budget int64         // executions that it shall have
	before int64         // executions of those that are on record from before
	done   int64         // executions of this night
	warmup int64         // inputs that each slice runs through first, not counted
	fresh  int           // new entries of the corpus
	finds  int
	rests  bool // a target that found something, or cannot go on
}

func (p *plan) sum() int64 { return p.before + p.done }

// share gives each target its budget: the total goes by a power of speed. With 1
// nearly all executions would be of the fastest targets, with 0 nearly all the time
// would go to the slowest; a half is between. No budget is below what was done.
func share(plans []*plan, total int64, power float64) {
	weight := func(p *plan) float64 { return math.Pow(max(p.speed, 1), power) }
	open := plans
	for {
		var weights float64
		left := total
		for _, p := range plans {
			left -= p.sum()
		}
		for _, p := range open {
			weights += weight(p)
			left += p.sum()
		}
		var rest []*plan
		for _, p := range open {
			if p.budget = int64(float64(max(left, 0)) * weight(p) / weights); p.budget >= p.sum() {
				rest = append(rest, p)
			}
		}
		if len(rest) == len(open) {
			break
		}
		for _, p := range open {
			p.budget = p.sum()
		}
		if open = rest; len(open) == 0 {
			break
		}
	}
	// What rounding left over.
	left := total
	for _, p := range plans {
		left -= p.budget
	}
	for i := 0; left > 0 && len(open) > 0; i, left = i+1, left-1 {
		open[i%len(open)].budget++
	}
}

// next returns the target that is furthest behind, or none when all are done.
func next(plans []*plan) *plan {
	var behind *plan
	for _, p := range plans {
		if p.rests || p.sum() >= p.budget {
			continue
		}
		if behind == nil || p.sum()*behind.budget < behind.sum()*p.budget {
			behind = p
		}
	}
	return behind
}

// smallest is the fewest executions that a slice is started for.
const smallest = 1000

// sliceOf is how many executions a target gets next: what takes about as long as a
// slice shall, or what is left, but never so few that the start costs more.
func sliceOf(p *plan, length time.Duration) int64 {
	n := int64(p.speed * length.Seconds())
	return max(min(n, p.budget-p.sum()), smallest)
}

// minimizing is how many executions of the target one input is worth to be made
// small: those of two seconds.
func minimizing(p *plan) int64 { return max(int64(2*p.speed), 200) }
