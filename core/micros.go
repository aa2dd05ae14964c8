package core

import (
	"math"
	"time"
)

// Micros is a time or a duration in microseconds. The caller chooses which instant is
// 0; no time is negative, and all except Never are below 2^62 (TIM-3).
type Micros int64

// Never is the deadline of a machine that waits for no time.
const Never Micros = math.MaxInt64

// Common durations.
const (
	Millisecond Micros = 1000
	Second      Micros = 1000 * Millisecond
)

// FromDuration returns d in whole microseconds, rounded down.
func FromDuration(d time.Duration) Micros { return Micros(d.Microseconds()) }

// Duration returns m as a time.Duration. Never becomes the longest one.
func (m Micros) Duration() time.Duration {
	if m > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return time.Duration(m) * time.Microsecond
}
