//go:build linux

package main

import (
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The profiles by name.
const (
	paceUnlimited = "unlimited"
	paceBurst     = "base"
	paceNamed     = "named slices"
	paceRepair    = "repair slices"
)

// pace is how a server sends: a scheduler of named slices, or repair slices.
type pace struct {
	scheduler func() (statemachine.Scheduler, error)
	repair    bool
}

var paces = map[string]pace{
	paceUnlimited: {scheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }},
	paceBurst:     {scheduler: func() (statemachine.Scheduler, error) { return base.New(base.Burst()) }},
	paceNamed:     {scheduler: func() (statemachine.Scheduler, error) { return adaptive.New(adaptive.Adaptive()) }},
	paceRepair:    {repair: true},
}
