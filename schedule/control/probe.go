package control

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/rtt"
)

const slowestProbe = 250 * ms // PTO-3

// longestProbe is the longest wait between two pairs of probes (PTO-3).
const longestProbe = machine.Second

// TimedOut notes that a timer ran out without news, and returns when the next probes may
// go: at first an eighth of the delay later, and twice as long each time (PTO-3). A second
// time without news between, or the first while no round trip is measured, halves the limit.
func (c *Controller) TimedOut(now machine.Micros) {
	c.EndTrain()
	delay, _ := c.RTT.Delay()
	if c.RTT.Known == rtt.Measured {
		delay /= 8
	}
	c.probeAt = now + min(delay<<min(c.timeouts, 10), longestProbe)
	c.timeouts++
	l := &c.limit
	if c.config.has(Limit) && (c.RTT.Known != rtt.Measured || c.timeouts >= 3 && !c.cutForSilence && c.isTooSilent()) {
		c.cutForSilence = true
		l.eighths = max(l.eighths/2, floor)
		if c.RTT.Known != rtt.Measured {
			l.eighths = max(min(l.eighths, l.most/2), floor)
		}
		l.step = max(l.eighths/4, 1)
	}
}

// ProbeAt returns when the next probes may go, of whatever lane.
func (c *Controller) ProbeAt() machine.Micros { return c.probeAt }

// isTooSilent reports whether it is not the loss that is known which explains why nothing
// came back: eight acks were to be expected.
func (c *Controller) isTooSilent() bool {
	sent, a := int64(c.unanswered), c.losses.Arrived
	return sent*a/(a+c.losses.Lost)*a/(a+c.losses.Lost) >= 8
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
