package control

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/rtt"
)

const slowestProbe = 250 * ms // PTO-3

// ProbeDelay returns how long after a probe the next one follows: a part of the
// time since there was news, which was so long ago (PTO-3).
func (c *Controller) ProbeDelay(silence machine.Micros, part machine.Micros) machine.Micros {
	delay, _ := c.RTT.Delay()
	return min(max(delay, silence)/part, slowestProbe)
}

// HoldDelay returns how long after a probe the next one follows while the peer
// cannot take the chunk: a quarter of the time since the hold began (PTO-5).
func (c *Controller) HoldDelay(since machine.Micros) machine.Micros {
	least := slowestProbe
	if c.RTT.Known != rtt.Unknown {
		least = max(c.RTT.Smoothed, ackDelay)
	}
	return min(max(least, since/4), slowestProbe)
}
