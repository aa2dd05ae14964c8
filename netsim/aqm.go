package netsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// AQM is how a queue tells its senders that it grows, before it is full. Both kinds stand here with the
// figures of their RFCs.
type AQM uint8

const (
	NoAQM    AQM = iota
	UseCoDel     // RFC 8289: what has waited for 5 ms, for 100 ms on end, is dropped as it leaves the queue
	UsePIE       // RFC 8033: drops by chance, for a wait of 15 ms
)

const (
	// Target is the wait above which CoDel drops; interval is for how long.
	codelTarget   = 5 * time.Millisecond
	codelInterval = 100 * time.Millisecond
	codelRecent   = 16 * codelInterval

	pieTarget  = 15 * time.Millisecond
	pieUpdate  = 15 * time.Millisecond
	pieBurst   = 150 * time.Millisecond
	pieMean    = 1500 // bytes: as many twice are never dropped
	pieMarks   = 0.1  // the chance above which what allows a mark is dropped
	pieAlpha   = 0.125
	pieBeta    = 1.25
	pieDecay   = 0.98
	pieSteep   = 0.02 // most that a chance above 1/10 grows by at once
	pieNothing = 1e-6
)

// Target returns the wait that the AQM allows on a link of so many bits a second: the wait of its RFC, and for CoDel
// at least the time of a datagram of 1514 bytes. 0 for NoAQM.
func (a AQM) Target(rate int64) time.Duration {
	switch {
	case a == UsePIE:
		return pieTarget
	case a == UseCoDel && rate > 0:
		return max(codelTarget, time.Duration(1514*8*int64(time.Second)/rate))
	case a == UseCoDel:
		return codelTarget
	}
	return 0
}

func (a AQM) validate() error {
	if a > UsePIE {
		return fmt.Errorf("netsim: Path.AQM is %d, allowed is 0 to %d", a, UsePIE)
	}
	return nil
}

// CoDel decides which datagrams are dropped as they leave a queue, or marked (RFC 8289, 5). The zero value
// belongs to an empty queue.
type CoDel struct {
	since    time.Duration // when the wait will have been too long for an interval; 0 if it is not too long
	dropping bool
	next     time.Duration // when the next one is dropped
	count    int           // dropped since dropping began
	last     int           // count when it began
}

// Drops reports whether the datagram that leaves the queue now is dropped. Late says that it waited for the
// target or longer, and that more than a full datagram is left behind it, as far as that is known.
func (c *CoDel) Drops(now time.Duration, late bool) bool {
	switch {
	case !c.tooLong(now, late):
		c.dropping = false
		return false
	case !c.dropping:
		c.begin(now)
	case now < c.next:
		return false
	default:
		c.count++
		c.next += c.spacing()
	}
	return true
}

// tooLong reports whether all have been late for an interval.
func (c *CoDel) tooLong(now time.Duration, late bool) bool {
	if !late {
		c.since = 0
		return false
	}
	if c.since == 0 {
		c.since = now + codelInterval
	}
	return now >= c.since
}

// begin begins to drop, as fast as it ended if that is not long ago.
func (c *CoDel) begin(now time.Duration) {
	since := c.count - c.last
	c.count = 1
	if since > 1 && now-c.next < codelRecent {
		c.count = since
	}
	c.dropping, c.last = true, c.count
	c.next = now + c.spacing()
}

// spacing is the control law.
func (c *CoDel) spacing() time.Duration {
	return time.Duration(float64(codelInterval) / math.Sqrt(float64(c.count)))
}

// pie drops by a chance that follows the wait (RFC 8033, 4).
type pie struct {
	random rand.PCG
	chance float64
	before time.Duration // the wait at the last update
	at     time.Duration // when the next update is due
	burst  time.Duration // for how long nothing is dropped
}

// drops reports whether a datagram that comes to the queue is dropped, or marked if its sender permits that. The queue
// has so many bytes, and the link is free at end.
func (p *pie) drops(now, end time.Duration, bytes int) bool {
	for p.at <= now {
		p.update(max(0, end-p.at))
		p.skip(now, end)
	}
	hit := float64(below(&p.random, 1<<53)) < p.chance*(1<<53)
	spared := p.burst > 0 || p.before < pieTarget/2 && p.chance < 0.2 || bytes <= 2*pieMean
	return hit && !spared
}

// skip leaves out updates that change nothing.
func (p *pie) skip(now, end time.Duration) {
	p.at += pieUpdate
	if p.chance < pieNothing && p.before == 0 && end <= p.at && p.at < now {
		p.chance, p.burst = 0, pieBurst
		p.at += (now - p.at) / pieUpdate * pieUpdate
	}
}

// update is what happens each 15 ms (RFC 8033, 4.2 and 4.4).
func (p *pie) update(wait time.Duration) {
	step := pieAlpha*(wait-pieTarget).Seconds() + pieBeta*(wait-p.before).Seconds()
	for _, s := range pieScale {
		if p.chance < s.below {
			step /= s.by
			break
		}
	}
	if p.chance >= 0.1 {
		step = min(step, pieSteep)
	}
	p.chance += step
	if wait == 0 && p.before == 0 {
		p.chance *= pieDecay
	}
	p.chance = min(max(p.chance, 0), 1)
	p.burst = max(0, p.burst-pieUpdate)
	if p.chance == 0 && wait < pieTarget/2 && p.before < pieTarget/2 {
		p.burst = pieBurst
	}
	p.before = wait
}

// pieScale makes steps small where the chance is small.
var pieScale = []struct{ below, by float64 }{{1e-6, 2048}, {1e-5, 512}, {1e-4, 128}, {1e-3, 32}, {1e-2, 8}, {1e-1, 2}}
