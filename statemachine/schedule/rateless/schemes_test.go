package rateless_test

import (
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

const ms = core.Millisecond

// with returns the scheme of a profile.
func with(p rateless.Profile) measure.Scheme {
	return measure.Repaired(func() (*rateless.Scheduler, error) { return rateless.New(p) })
}

// named is the scheme of the chunk protocol, for comparison.
var named = measure.Named(func() (*adaptive.Scheduler, error) { return adaptive.New(adaptive.Adaptive()) })

// scheme is a profile on a connection that has sent so many chunks before.
type scheme struct {
	name    string
	before  int
	profile func(measure.Cell) rateless.Profile
}

// schemes are those of the tables, in their order.
var schemes = []scheme{
	{"cold", 0, func(measure.Cell) rateless.Profile { return rateless.Default() }},
	{"warm", 1, func(measure.Cell) rateless.Profile { return rateless.Default() }},
	{"fifth", 4, func(measure.Cell) rateless.Profile { return rateless.Default() }},
	{"redundant warm", 1, func(measure.Cell) rateless.Profile { return rateless.Redundant() }},
	{"burst cold", 0, func(measure.Cell) rateless.Profile { return rateless.Burst() }},
	{"fixed cold", 0, func(c measure.Cell) rateless.Profile {
		return rateless.Fixed(measure.Networks[c.Network].Rate)
	}},
}

// cells are those of the tables, in their order.
var cells = func() (all []measure.Cell) {
	for _, network := range []string{"S1", "S2", "S3", "S4"} {
		for _, loss := range []int{0, 1, 5, 20, 50} {
			all = append(all, measure.Cell{Network: network, Loss: loss})
		}
	}
	return all
}()
