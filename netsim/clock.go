package netsim

import (
	"time"

	"github.com/chunkwire/chunkwire/internal/queue"
)

// never is a time that does not come.
const never = queue.Never

// clock turns the time of day into the times that a Link uses.
type clock struct{ start time.Time }

func startClock() clock { return clock{time.Now()} }

// now returns the time since the start. It does not go back.
func (c clock) now() time.Duration { return time.Since(c.start) }

// at returns t on this clock. The zero Time is never, as with deadlines.
func (c clock) at(t time.Time) time.Duration {
	if t.IsZero() {
		return never
	}
	now, left := c.now(), time.Until(t)
	if left > never-now {
		return never
	}
	return now + left
}
