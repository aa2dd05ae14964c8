package plain

import (
	"time"

	"github.com/chunkwire/chunkwire/machine"
)

// clock gives the machines their time: microseconds since the endpoint began,
// on the monotonic clock (TIM-2).
type clock struct{ start time.Time }

func startClock() clock { return clock{time.Now()} }

// now returns the time, rounded down, so that no timer runs early.
func (c clock) now() machine.Micros {
	return machine.FromDuration(time.Since(c.start))
}

// until returns how long it is from now to t.
func (c clock) until(t machine.Micros) time.Duration {
	return t.Duration() - time.Since(c.start)
}
