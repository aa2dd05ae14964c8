package connection

import (
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// Constants of section 8.4.
const (
	// ClockInterval is the least time between two records of an end's clock.
	ClockInterval = 200 * core.Millisecond

	driftPart = 5000 // of a time is how much two clocks can differ more after it
	smoothing = 8
	noEcho    = 1<<32 - 1
	sentMask  = 1<<48 - 1
)

// Clock is what an end says of the time (CXR-10), in microseconds.
type Clock struct {
	Sent uint64 // by its clock, modulo 2^48
	Echo uint32 // Sent of the newest record of the other end, modulo 2^32
	Wait uint32 // how long ago that one came; 2^32 - 1: none came
}

// Remote is what an end knows of the other end's clock: at Known that clock showed between Low and High more than
// the own one. Each is right if no clock runs more than 100 millionths too fast or too slow.
type Remote struct {
	Low, High, Known core.Micros
}

// At returns the bounds at a later time (CXM-31).
func (r Remote) At(now core.Micros) (low, high core.Micros) {
	drift := max(now-r.Known, 0) / driftPart
	return r.Low - drift, r.High + drift
}

// clocks is what an end knows of the round trip and of the other end's clock (section 8.4). Nil: the ends did not
// agree on that.
type clocks struct {
	saidAt core.Micros // the latest record; never
	heard  bool        // a record came: of a packet, with a time, at a time
	number core.Number
	sent   uint64
	heardAt,
	rtt core.Micros // smoothed
	measured bool // rtt and remote are known
	remote   Remote
}

func newClocks(agreed session.Agreed) *clocks {
	if agreed.Extensions&session.ExtensionClock == 0 {
		return nil
	}
	return &clocks{saidAt: never}
}

// due reports whether a record belongs into a payload (CXM-29).
func (k *clocks) due(now core.Micros) bool {
	return k != nil && (k.saidAt == never || now-k.saidAt >= ClockInterval)
}

// say returns the record of this time.
func (k *clocks) say(now core.Micros) Clock {
	k.saidAt = now
	c := Clock{Sent: uint64(now) & sentMask, Wait: noEcho}
	if k.heard {
		c.Echo, c.Wait = uint32(k.sent), uint32(min(now-k.heardAt, noEcho-1))
	}
	return c
}

// hear takes a record of a packet of the other end (CXM-30).
func (k *clocks) hear(now core.Micros, number core.Number, c Clock) {
	if k.heard && number <= k.number {
		return
	}
	k.heard, k.number, k.sent, k.heardAt = true, number, c.Sent, now
	r := core.Micros(uint32(now) - c.Echo - c.Wait)
	if c.Wait == noEcho || r >= 1<<31 {
		return
	}
	low := core.Micros(c.Sent) - now
	high := low + r
	if !k.measured {
		k.measured, k.rtt, k.remote = true, r, Remote{low, high, now}
		return
	}
	k.rtt += (r - k.rtt) / smoothing
	if l, h := k.remote.At(now); l <= high && low <= h {
		low, high = max(l, low), min(h, high)
	}
	k.remote = Remote{low, high, now}
}

// RTT returns the smoothed round trip, without the time for which the other end waited before it answered; false
// while none is known, or if the ends did not agree on session.ExtensionClock.
func (c *Conn) RTT() (core.Micros, bool) {
	if c.clocks == nil || !c.clocks.measured {
		return 0, false
	}
	return c.clocks.rtt, true
}

// Remote returns what is known of the other end's clock; false where RTT is.
func (c *Conn) Remote() (Remote, bool) {
	if c.clocks == nil || !c.clocks.measured {
		return Remote{}, false
	}
	return c.clocks.remote, true
}
