package control

import "github.com/chunkwire/chunkwire/core"

// Figures of section 9 (REC-10).
const (
	catchUp      = 20 * ms       // PAC-4: how much a late caller may make up for
	slowest      = 1_000_000_000 // PAC-3: nanoseconds a slice, so that a wrong estimate cannot stall
	burstSpacing = 85 * 1000     // PRO-2: nanoseconds
)

// pacer says when the next slice may go out. It counts in nanoseconds, since at
// a fast rate the microsecond is too coarse.
type pacer struct {
	at   core.Micros
	nano int64 // 0..999, beyond at
}

// wait earns nothing for time without a slice to send (PAC-5).
func (p *pacer) wait(now core.Micros) {
	if p.at < now {
		p.at, p.nano = now, 0
	}
}

// isLate reports whether the caller comes too late to make up for it: then it is
// the caller who sets the rate, not the path (PAC-4).
func (p *pacer) isLate(now core.Micros) bool { return p.at < now-catchUp }

// spend moves on by what a slice takes (PAC-4).
func (p *pacer) spend(now core.Micros, ns int64) {
	p.wait(now - catchUp)
	ns += p.nano
	p.at += core.Micros(ns / 1000)
	p.nano = ns % 1000
}

// when returns when the next slice may go out, in whole microseconds.
func (p *pacer) when() core.Micros {
	if p.nano > 0 {
		return p.at + 1
	}
	return p.at
}

// interval returns nanoseconds from a slice to the next one.
func (c *Controller) interval(fresh bool) int64 {
	switch {
	case fresh && c.config.Burst:
		return max(burstSpacing, c.config.limit())
	case c.config.Fixed:
		return c.PerSlice() // PRO-4: the limit is all
	}
	return max(c.paceInterval(), fastest, c.config.limit())
}

// paceInterval is what the path, the cap and the limit allow (PAC-2, PAC-6, PAC-7).
func (c *Controller) paceInterval() int64 {
	l, ns := &c.limit, c.pathInterval()
	round := int64(l.latest) * 1000 * whole / l.size // the interval at a limit a round trip
	switch {
	case !c.config.has(Limit):
	case l.contested:
		ns = min(ns, round*3/4)
	case l.size < twoSlices:
		ns = max(ns, round)
		l.full, l.blocked = true, true
	case !l.opening:
		ns = max(ns, round/2)
	}
	return min(max(ns, c.cap.least()), slowest)
}

// pathInterval is what the path is estimated to allow; 0 while nothing is known
// of it (PAC-1).
func (c *Controller) pathInterval() int64 {
	ns := c.rate.perSlice()
	if c.config.has(Headroom) {
		ns = ns * 7 / 8 // PAC-2
	}
	return min(ns, slowest) // PAC-3
}
