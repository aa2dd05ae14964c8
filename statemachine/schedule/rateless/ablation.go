package rateless

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// WithoutPace returns the profile without some rules of the pace, to measure what they are
// worth.
func (p Profile) WithoutPace(rules control.Rule) Profile {
	p.paceWithout = rules
	return p
}
