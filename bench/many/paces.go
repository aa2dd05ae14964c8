//go:build linux

package main

import (
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
)

// The profiles by name.
const (
	paceUnlimited = "unlimited"
	paceBurst     = "base"
	paceAdaptive  = "adaptive"
)

var paces = map[string]func() (statemachine.Scheduler, error){
	paceUnlimited: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) },
	paceBurst:     func() (statemachine.Scheduler, error) { return base.New(base.Burst()) },
	paceAdaptive:  func() (statemachine.Scheduler, error) { return adaptive.New(adaptive.Adaptive()) },
}
