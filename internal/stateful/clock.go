package stateful

import "github.com/chunkwire/chunkwire/machine"

// Clock is the time of a system.
type Clock struct{ Now machine.Micros }

// Advance lets time pass: one of the waits, a step back, or else to a deadline.
func (c *Clock) Advance(waits []machine.Micros, arg int, deadline machine.Micros) {
	switch {
	case arg < len(waits):
		c.Now += waits[arg]
	case arg == len(waits):
		c.Now = max(0, c.Now-machine.Millisecond)
	case deadline != machine.Never:
		c.Now = max(c.Now, deadline)
	}
}
