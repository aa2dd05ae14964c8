package plain

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// pacer spaces the slices of all lanes of a connection by Config.MaxRate (LAN-12).
// It counts in nanoseconds, since at a fast rate the microsecond is too coarse.
type pacer struct {
	at   machine.Micros // when the next slice may go out
	nano int64          // 0..999, beyond at
}

// catchUp is how much time a driver that comes late may make up for, and so what
// the pacer ever lets through at once.
const catchUp = 20 * machine.Millisecond

// moreOfIPv6 is how many bytes longer its header is than that of IPv4, which
// codec.HeaderBytes counts.
const moreOfIPv6 = 20

// restart gives nothing for time in which there was nothing to send.
func (p *pacer) restart(now machine.Micros) {
	if p.at < now {
		p.at, p.nano = now, 0
	}
}

// spend moves on by what so many bytes take.
func (p *pacer) spend(now machine.Micros, bytes, rate int64) {
	p.restart(now - catchUp)
	ns := p.nano + bytes*8_000_000_000/rate
	p.at += machine.Micros(ns / 1000)
	p.nano = ns % 1000
}

// trial bounds what goes to a peer that is not validated, with
// Config.LimitUnvalidated (SEC-4, SEC-7).
type trial struct {
	at   machine.Micros // when the next slice may go out
	wait machine.Micros // before the one after that
}

const firstTrialWait = 250 * machine.Millisecond

// allowedAtLocked returns when the connection may send its next slice.
func (c *Conn) allowedAtLocked() machine.Micros {
	if c.onTrialLocked() {
		return max(c.pacer.at, c.trial.at)
	}
	return c.pacer.at
}

// onTrialLocked reports whether the peer must ack a slice before it gets more than one
// at a time.
func (c *Conn) onTrialLocked() bool {
	return c.begun && !c.validated && c.endpoint.cfg.LimitUnvalidated
}

// spendLocked notes that a slice goes out, in a datagram of so many bytes.
func (c *Conn) spendLocked(now machine.Micros, bytes int) {
	if rate := c.endpoint.cfg.MaxRate; rate > 0 {
		header := codec.HeaderBytes
		if c.peer.IPv6() {
			header += moreOfIPv6
		}
		c.pacer.spend(now, int64(bytes+header), rate)
	}
	if c.onTrialLocked() {
		longest := max(machine.FromDuration(c.endpoint.cfg.GiveUp/2), firstTrialWait)
		c.trial.wait = min(max(2*c.trial.wait, firstTrialWait), longest)
		c.trial.at = now + c.trial.wait
	}
}

// forgetPathLocked makes the schedulers begin anew: what they learned while slices went
// one at a time is not the rate of the path, and the time in which none could go
// is none to make up for.
func (c *Conn) forgetPathLocked(now machine.Micros) {
	fresh, err := c.endpoint.cfg.NewScheduler()
	if err != nil {
		return
	}
	fresh.Begin(statemachine.Flight{Now: now, NumSlices: 1, Bytes: codec.MaxDatagramSize, LastBytes: codec.MaxDatagramSize})
	fresh.Next(now)
	for i := range c.lanes {
		if path, ok := c.lanes[i].scheduler.(pathSharer); ok {
			path.Adopt(fresh)
		}
	}
}
