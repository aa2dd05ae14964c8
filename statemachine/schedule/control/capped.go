package control

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// Figures of section 8 (REC-10). Losses are in 1024ths.
const (
	accountSlices = 128 // CAP-1
	lookSlices    = 64  // CAP-3
	capSlices     = 32  // CAP-5
	accountRounds = 8   // CAP-1
	capRounds     = 4   // CAP-5
	muchLost      = 128 // CAP-2: an eighth
	leastLost     = 16  // CAP-2: slices
	mostLost      = 768 // CAP-2: three quarters
	firstWait     = 24  // CAP-4: round trips
	longestWait   = 384 // CAP-4
	capBad        = 4   // CAP-6
)

// rateCap finds out whether slices are lost because of the rate, though there is no queue to
// be seen: a policer drops what is above its rate, and a short queue overflows. It sends
// slower for a while, and looks whether less is lost. If so, the cap holds the rate.
type rateCap struct {
	interval int64 // the shortest, in nanoseconds; 0: no cap
	seeking  bool  // the cap was not found to be too fast yet
	bad      int   // accounts in a row with loss under the cap
	raisedAt core.Micros

	look   int64 // the interval of the look; 0: there is none
	before int64 // the loss before it

	calm   int64       // loss that does not depend on the rate
	lookAt core.Micros // no look before
	wait   core.Micros // round trips to the next one

	since         core.Micros // the account counts from then on
	arrived, lost int64
}

// start begins an account.
func (k *rateCap) start(at core.Micros) { k.since, k.arrived, k.lost = at, 0, 0 }

// least returns the shortest interval, in nanoseconds.
func (k *rateCap) least() int64 { return max(k.interval, k.look) }

// account takes what arrived and was lost (CAP-1).
func (c *Controller) account(now core.Micros, arrived, lost int64) {
	k, s := &c.cap, c.RTT.Smoothed
	if !c.config.has(Look) || s == 0 || now < k.since {
		return
	}
	k.arrived += arrived
	k.lost = max(k.lost+lost, 0)
	c.raise(now)
	slices, rounds := int64(accountSlices), core.Micros(accountRounds)
	switch {
	case k.look > 0:
		slices = lookSlices
	case k.interval > 0:
		slices, rounds = capSlices, capRounds
	}
	n, took := k.arrived+k.lost, now-k.since
	if n == 0 || took < s || n < slices && took < rounds*s {
		return
	}
	interval := int64(rtt.Clip(took)) * 1000 / max(k.arrived, 1)
	switch p := k.lost * 1024 / n; {
	case k.look > 0:
		c.judgeLook(now, n, p, interval)
	case k.interval > 0:
		c.judgeCap(now, n, p, interval)
	default:
		c.suspect(now, p, interval)
	}
}

// suspect begins a look if much is lost (CAP-2).
func (c *Controller) suspect(now core.Micros, p, interval int64) {
	k := &c.cap
	if p < muchLost || k.lost < leastLost || p <= k.calm*5/4+16 || now < k.lookAt {
		k.start(now)
		return
	}
	delivered := c.delivered(now)
	k.look, k.before = max(delivered, c.pathInterval()), p
	if p >= mostLost || delivered == 0 {
		k.look = min(max(k.look, interval), slowest)
	}
	k.start(now + c.limit.latest)
}

// judgeLook ends a look, or makes it slower (CAP-3, CAP-4).
func (c *Controller) judgeLook(now core.Micros, n, p, interval int64) {
	k := &c.cap
	expected := k.before * n / 1024
	switch {
	case 4*k.lost < 3*expected && k.lost+3*Isqrt(k.lost+1) < expected:
		k.interval, k.seeking, k.bad = min(max(k.look, interval), slowest), true, 0
		c.losses.forget(k.calm)
		k.look = 0
	case p >= mostLost && interval >= 2*k.look && interval < slowest:
		k.look = interval
	default:
		k.calm, k.look = p, 0
		k.wait = min(max(2*k.wait, firstWait), longestWait)
		k.lookAt = now + k.wait*c.RTT.Smoothed
	}
	k.start(now + c.limit.latest)
}

// judgeCap moves the cap (CAP-5, CAP-6).
func (c *Controller) judgeCap(now core.Micros, n, p, interval int64) {
	k := &c.cap
	expected := 5 * k.calm * n / 4096
	if k.lost <= expected+2+2*Isqrt(expected) {
		k.bad = 0
		if k.seeking {
			k.interval = k.interval * 3 / 4
		}
		if k.interval < c.PerSlice()*5/8 {
			k.interval = 0
		}
		k.start(now)
		return
	}
	if k.bad++; k.bad >= capBad && 2*p > k.before {
		k.interval, k.calm = 0, p
	} else {
		k.interval, k.seeking = min(max(k.interval*8/7, min(interval, 2*k.interval)), slowest), false
	}
	k.start(now + c.limit.latest)
}

// raise makes the cap faster by a quarter of a slice a round trip, each round trip (CAP-7).
func (c *Controller) raise(now core.Micros) {
	k, s := &c.cap, int64(c.RTT.Smoothed)*1000
	if k.interval == 0 || k.look > 0 || k.seeking || now-k.raisedAt < c.RTT.Smoothed {
		return
	}
	k.raisedAt = now
	d := 4*s + k.interval // in place of interval * 4s / d, which may not fit
	k.interval = max(k.interval-(k.interval*k.interval+d-1)/d, 1)
}
