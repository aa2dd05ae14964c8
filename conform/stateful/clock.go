package stateful

import "github.com/chunkwire/chunkwire/core"

// Clock is the time of a system.
type Clock struct{ Now core.Micros }

// Advance lets time pass: one of the waits, a step back, or else to a deadline.
func (c *Clock) Advance(waits []core.Micros, arg int, deadline core.Micros) {
	switch {
	case arg < len(waits):
		c.Now += waits[arg]
	case arg == len(waits):
		c.Now = max(0, c.Now-core.Millisecond)
	case deadline != core.Never:
		c.Now = max(c.Now, deadline)
	}
}
