package adaptive_test

import (
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

const ms = core.Millisecond

// with returns the scheme of a profile.
func with(p adaptive.Profile) measure.Scheme {
	return measure.Named(func() (*adaptive.Scheduler, error) { return adaptive.New(p) })
}

// scheme is a profile on a connection that is new (cold) or has sent a chunk
// before (warm).
type scheme struct {
	name    string
	before  int
	profile func(measure.Cell) adaptive.Profile
}

// schemes are those of the tables, in their order.
var schemes = []scheme{
	{"adaptive cold", 0, func(measure.Cell) adaptive.Profile { return adaptive.Adaptive() }},
	{"adaptive warm", 1, func(measure.Cell) adaptive.Profile { return adaptive.Adaptive() }},
	{"burst cold", 0, func(measure.Cell) adaptive.Profile { return adaptive.Burst() }},
	{"redundant warm", 1, func(measure.Cell) adaptive.Profile { return adaptive.Redundant() }},
	{"fixed cold", 0, func(c measure.Cell) adaptive.Profile {
		return adaptive.Fixed(measure.Networks[c.Network].Rate)
	}},
}

// measure transfers a full chunk in a cell, for so many seeds.
func (s scheme) measure(c measure.Cell, seeds int) measure.Figures {
	return c.Scenario(s.before).Run(seeds, with(s.profile(c)))
}
