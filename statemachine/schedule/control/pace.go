package control

import "github.com/chunkwire/chunkwire/core"

// Figures of section 12 (REC-10).
const (
	fastest      = 7 * 1000      // nanoseconds a slice; 1.2 Gbit/s. A receiver's socket may hold 90 datagrams
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

// spend moves on by what a slice takes; a late caller makes up for some (PAC-4).
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

// interval returns nanoseconds from a slice to the next one (PRO-1, PRO-2, PRO-4).
func (c *Controller) interval(fresh bool) int64 {
	switch {
	case fresh && c.config.Burst:
		return max(burstSpacing, c.config.limit())
	case c.config.Fixed:
		return max(c.config.limit(), fastest)
	}
	return max(c.paceInterval(), fastest, c.config.limit())
}

// paceInterval spreads the limit over a round trip, a little faster, and twice as fast while opening
// (PAC-8); before there is a sample a slice takes 85 us (PAC-9).
func (c *Controller) paceInterval() int64 {
	l := &c.limit
	s := int64(c.RTT.Smoothed)
	if c.base.value == 0 {
		return burstSpacing
	}
	ns := s * 1000 * whole / l.size
	switch {
	case l.opening:
		ns /= 2
	case l.size >= twoSlices:
		ns = ns * 15 / 16
	}
	return min(ns, slowest) // PAC-3
}
