//go:build linux

package main

import (
	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
)

// The profiles by name.
const (
	paceUnlimited = "unlimited"
	paceBurst     = "base"
	paceAdaptive  = "adaptive"
)

var paces = map[string]func() statemachine.Scheduler{
	paceUnlimited: func() statemachine.Scheduler { return statemachine.NewBase(statemachine.Fixed(0)) },
	paceBurst:     func() statemachine.Scheduler { return statemachine.NewBase(statemachine.Burst()) },
	paceAdaptive:  func() statemachine.Scheduler { return recovery.New(recovery.Adaptive()) },
}
