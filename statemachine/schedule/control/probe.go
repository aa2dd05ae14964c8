package control

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// Figures of section 13 (REC-10).
const (
	slowestProbe = 250 * ms                    // PTO-5
	longestProbe = core.Micros(slowest / 1000) // PTO-3, BRK-2: as long as a slice waits for the pace
	mostDoubled  = 10                          // PTO-3: more makes no difference
	silentDelays = 3                           // PTO-7: RFC 9002's persistent congestion
	silentAcks   = 8                           // PTO-7
	ackDelay     = acktimer.Interval           // TMR-6
)

// TimedOut notes that a timer ran out without news: the next probes wait, twice as long each
// time from the delay on (PTO-3), and the limit is halved for a silence that loss does not explain, or for
// each while no round trip is measured (PTO-7).
func (c *Controller) TimedOut(now core.Micros, lost int) {
	c.suspects += int64(lost) // SUS-1
	delay, _ := c.RTT.Delay()
	measured := c.RTT.Known == rtt.Measured
	c.probeAt = now + min(delay<<min(c.timeouts, mostDoubled), max(delay, longestProbe))
	c.timeouts++
	l := &c.limit
	switch {
	case !measured:
		l.size = max(min(l.size, l.most)/2, twoSlices)
	case !c.silenced && now-c.newsAt >= silentDelays*delay && c.isTooSilent():
		l.ceiling, l.size = l.size, max(l.size/2, min(l.size, twoSlices))
	default:
		return
	}
	c.silenced = true
	l.step, l.quiet, l.opening = step, 0, !c.breaker.open // BRK-5
}

// Late notes that so many of what a timer gave up have arrived; fewer than none are none (SUS-2).
func (c *Controller) Late(n int) { c.suspects = max(c.suspects-int64(max(n, 0)), 0) }

// SilentAt returns when there has been no news for as long as an ack may take: from then on
// what a timer found lost goes whatever the limit says (ROOM-7).
func (c *Controller) SilentAt() core.Micros {
	delay, _ := c.RTT.Delay()
	return c.newsAt + delay
}

// ProbeAt returns when the next probes may go, of whatever lane (PTO-2).
func (c *Controller) ProbeAt() core.Micros { return c.probeAt }

// isTooSilent reports whether it is not the loss that is known which explains why nothing
// came back: eight acks were to be expected (PTO-7).
func (c *Controller) isTooSilent() bool {
	sent, a := int64(c.unanswered), c.losses.Arrived
	return sent*a/(a+c.losses.Lost)*a/(a+c.losses.Lost) >= silentAcks
}

// HoldDelay returns how long after a probe the next one follows while the peer
// cannot take the chunk: a quarter of the time since the hold began (PTO-5).
func (c *Controller) HoldDelay(since core.Micros) core.Micros {
	least := slowestProbe
	if c.RTT.Known != rtt.Unknown {
		least = max(c.RTT.Smoothed, ackDelay)
	}
	return min(max(least, since/4), slowestProbe)
}
