package main

import (
	"math"
	"slices"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// outcome is a situation that has run.
type outcome struct {
	*situation
	world  *flows.World
	chunks []*flows.Chunks
	others []*flows.Flow // of other protocols
	all    []*flows.Flow
}

// column is a figure of an outcome; NaN where there is none.
type column struct {
	name   string
	format string // of fmt
	worst  worst
	of     func(o *outcome) float64
}

type worst bool

const (
	highest worst = false
	lowest  worst = true
)

// The figures while all flows are there.
var (
	jain = column{"Jain", "%.2f", lowest, func(o *outcome) float64 {
		if len(o.all) == 1 || !o.endless() {
			return math.NaN()
		}
		return o.shared().Jain
	}}
	use = column{"use", "%.2f", lowest, func(o *outcome) float64 {
		if !o.endless() {
			return math.NaN()
		}
		return o.world.Use(flows.Down, o.from, o.until, o.all...)
	}}
	drops   = column{"dropped %", "%.1f", highest, func(o *outcome) float64 { return 100 * o.shared().LostQueue }}
	resent  = column{"resent %", "%.1f", highest, func(o *outcome) float64 { return 100 * o.shared().Resent }}
	wait    = column{"wait ms", "%.0f", highest, func(o *outcome) float64 { return o.world.Wait(flows.Down, o.from, o.until).Mean }}
	wait95  = column{"95th", "%.0f", highest, func(o *outcome) float64 { return o.world.Wait(flows.Down, o.from, o.until).P95 }}
	gaveUp  = column{"gave up", "%.0f", highest, func(o *outcome) float64 { return float64(o.failed()) }}
	missing = column{"missing", "%.0f", highest, func(o *outcome) float64 { return float64(o.missing()) }}
)

// The times of chunks, in ms: of the first flow's first, median and last, of all flows' and of
// the last to end; and what is ideal.
var (
	first = column{"first ms", "%.0f", highest, func(o *outcome) float64 { return rank(o.took(o.chunks[0]), 0) }}
	each  = column{"median", "%.0f", highest, func(o *outcome) float64 {
		var all []float64
		for _, c := range o.chunks {
			all = append(all, o.took(c)...)
		}
		slices.Sort(all)
		return rank(all, (len(all)-1)/2)
	}}
	last = column{"last", "%.0f", highest, func(o *outcome) float64 {
		took := o.took(o.chunks[0])
		return rank(took, len(took)-1)
	}}
	idealEach = column{"ideal", "%.0f", highest, func(o *outcome) float64 { return o.idealEach }}
	whole     = column{"all ms", "%.0f", highest, (*outcome).whole}
	idealAll  = column{"ideal", "%.0f", highest, func(o *outcome) float64 { return o.idealAll }}
	bytesDown = column{"bytes", "%.2f", highest, func(o *outcome) float64 {
		c := o.total()
		if c.News == 0 {
			return math.NaN()
		}
		return float64(c.Data) / float64(c.News)
	}}
	dropsAll = column{"dropped %", "%.1f", highest, func(o *outcome) float64 {
		c := o.total()
		return 100 * float64(c.LostQueue+c.LostPolicer) / float64(max(1, c.Sent))
	}}
)

// shared returns the figures of the link down while all flows are there.
func (o *outcome) shared() flows.Figures {
	return o.world.Figures(flows.Down, o.from, o.until, o.all...)
}

// total returns the counts of all flows on the link down, from the beginning.
func (o *outcome) total() (sum flows.Counts) {
	for _, f := range o.all {
		sum.Add(f.Counts(flows.Down, 0, o.until))
	}
	return sum
}

func (o *outcome) failed() (n int) {
	for _, c := range o.chunks {
		if c.Err() != nil {
			n++
		}
	}
	return n
}

// endless reports whether the flows are those that have no end.
func (s *situation) endless() bool { return s.flows[0].Chunks == 0 }

// missing counts the flows that have not delivered all of their chunks, or have failed.
func (o *outcome) missing() (n int) {
	for _, c := range o.chunks {
		if c.Err() != nil || !o.endless() && c.Done() == core.Never {
			n++
		}
	}
	return n
}

// whole returns when the last flow was done.
func (o *outcome) whole() float64 {
	var at core.Micros
	for _, c := range o.chunks {
		at = max(at, c.Done())
	}
	if at == core.Never {
		return math.NaN()
	}
	return float64(at) / 1000
}

// took returns how long each chunk took that was delivered, in ms.
func (o *outcome) took(c *flows.Chunks) (ms []float64) {
	for _, one := range c.Delivered(flows.Down) {
		ms = append(ms, float64(one.Delivered-one.Submitted)/1000)
	}
	return ms
}

func rank(values []float64, i int) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[i]
}
