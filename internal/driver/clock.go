package driver

import (
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// Clock gives the machines their time: microseconds since it was started, on the
// monotonic clock (TIM-2).
type Clock struct{ start time.Time }

// StartClock returns a clock at 0.
func StartClock() Clock { return Clock{time.Now()} }

// Now returns the time, rounded down, so that no timer runs early.
func (c Clock) Now() core.Micros {
	return core.FromDuration(time.Since(c.start))
}

// Time returns t as a time of day.
func (c Clock) Time(t core.Micros) time.Time { return c.start.Add(t.Duration()) }

// Until returns how long it is from now to t.
func (c Clock) Until(t core.Micros) time.Duration {
	return t.Duration() - time.Since(c.start)
}
