package control

import "github.com/chunkwire/chunkwire/core"

// Figures of the limit, which is counted in 64ths of a slice (REC-10).
const (
	whole       = 64         // a slice, in the unit of the limit
	firstLimit  = 16 * whole // 16 datagrams: RFC 6928 has 10 of 1,460 bytes, these are 1,066 with headers
	twoSlices   = 2 * whole  // below, the pace holds the limit
	leastLimit  = twoSlices / part
	openFactor  = 3 // 16, 48, 144: a chunk is out in four rounds; 2 costs a fifth more
	targetLeast = 5 * ms
	targetMost  = part * targetLeast

	part      = 4  // one decision changes the limit, or what is too much of it, by a quarter
	step      = 24 // 3/8 of a slice a round trip: 3(1-b)/(1+b) for b = 3/4 is 0.43 (RFC 9438, 4.3)
	quietMost = 32 // decisions without a queue above the ceiling, or without a loss in a contest, after which the step doubles; of the way back to the ceiling one takes a 32nd
	smallPart = 8  // an eighth: the step, loss while opening, what a cut leaves free, and what is free of a limit in use
	foeRows   = 6  // decisions above the target before the queue counts as made by others
)

// limit is how much may be in flight.
type limit struct {
	size    int64 // in 64ths of a slice
	step    int64 // by which it grows next
	quiet   int   // decisions above the ceiling without a queue
	ceiling int64 // in use when the latest cut for loss was made; 0: none, or the delay has cut since
	low     int64 // size just after that cut
	opening bool  // it grows with each slice that arrives, to the ceiling if there is one

	sampled bool        // by the event at hand
	latest  core.Micros // sample of the round trip

	// A decision is made once in five quarters of a round trip.
	decidesAt core.Micros // 0: there was none yet
	beganAt   core.Micros // the one before, without idle time
	countsAt  core.Micros // samples before are of the beginning of a train, which finds less of a queue than its end
	least     core.Micros // the smallest sample that counts, since the decision before; 0: none
	waits     core.Micros // the sum of what was above the base in all samples since then
	samples   core.Micros // how many these are
	leastWait core.Micros // the smallest of them, if there are any

	most         int64 // the most in flight since the latest decision, in 64ths
	lost, passed int64 // slices, since then
	marked       int   // marks, since one was answered

	// Is the queue somebody else's?
	others bool
	above  int   // decisions with a queue above the target, less those with half of it or less
	from   int64 // in use before them
	speed  int64 // at which slices arrived then, a second
	hit    bool  // a cut for loss was made in this contest
}

func newLimit() limit { return limit{size: firstLimit, step: step, opening: true} }

// target is how long a queue is wanted at most (ROOM-3).
func (c *Controller) target() core.Micros {
	t := min(max(c.base.value/part, targetLeast), targetMost)
	if c.yields {
		t /= 2
	}
	return t
}

// queue is how long a slice waited, by a sample (DCS-7).
func (c *Controller) queue(r core.Micros) core.Micros { return r - c.base.value }

// resume goes on after a time without a chunk in flight. What was idle does not count for a decision and is
// as good as a drain: our part of the queue has drained (IDL-1).
func (c *Controller) resume(now core.Micros) {
	l, idle := &c.limit, now-c.newsAt
	if l.decidesAt == 0 {
		return
	}
	if idle >= l.latest {
		c.newsAt = now
		l.decidesAt += idle
		l.beganAt += idle
		c.breaker.since += idle // it is no time of loss
		c.base.drainAt = max(c.base.drainAt, now+drainFirst)
		for ; idle >= 2*life && l.size > firstLimit; idle -= life {
			l.size = max(l.size/2, firstLimit) // IDL-2
		}
	}
	if l.countsAt == 0 { // DCS-4
		l.countsAt = now + l.latest + l.latest/part
		l.decidesAt = max(l.decidesAt, l.countsAt+l.latest/part)
	}
}

// decide takes what arrived and was lost, after the sample, and makes the decision of a
// round trip when it is due: time decides (DCS-1, DCS-3).
func (c *Controller) decide(now core.Micros, arrived, lost int64) {
	l := &c.limit
	l.lost += lost
	l.passed += lost + arrived
	c.open(arrived)
	if l.latest == 0 {
		return
	}
	if l.decidesAt == 0 {
		l.decidesAt, l.beganAt, c.breaker.since = now+l.latest+l.latest/part, now, now
	}
	c.count(now)
	if now >= l.decidesAt {
		c.judge(now)
		c.restart(now)
	}
}

// count takes the sample of the event at hand, if there is one. What follows a pause is of the next decision (DCS-2).
func (c *Controller) count(now core.Micros) {
	l := &c.limit
	if !l.sampled {
		return
	}
	l.sampled = false
	l.wait(c.queue(l.latest))
	if now >= l.countsAt && (l.least == 0 || now <= l.decidesAt && l.latest < l.least) {
		l.least = l.latest
	}
}

// wait counts how long a slice waited (DCS-9).
func (l *limit) wait(w core.Micros) {
	if l.samples == 0 || w < l.leastWait {
		l.leastWait = w
	}
	l.waits, l.samples = l.waits+w, l.samples+1
}

// restart begins the time of the next decision (DCS-6).
func (c *Controller) restart(now core.Micros) {
	l := &c.limit
	l.most, l.lost, l.passed, l.waits, l.samples = int64(c.flight)*whole, 0, 0, 0, 0
	l.least, l.countsAt, l.beganAt, l.decidesAt = 0, 0, now, now+l.latest+l.latest/part
}

// open lets the limit grow by what arrives (ROOM-4).
func (c *Controller) open(arrived int64) {
	l := &c.limit
	if !l.opening || arrived <= 0 || c.queue(l.latest) > c.target()/2 {
		return
	}
	size := min(l.size+(openFactor-1)*whole*arrived, openFactor*l.most)
	if l.ceiling > 0 && size >= l.ceiling {
		size, l.opening = l.ceiling, false // ROOM-5
	}
	l.size = max(l.size, size)
}

// judge makes a decision (DCS-7, DCS-8).
func (c *Controller) judge(now core.Micros) {
	l := &c.limit
	if l.least == 0 {
		l.least = c.base.value // none was measured (DCS-5)
	}
	q, t := c.queue(l.least), c.target()
	lossy := c.judgeLoss(t)
	if c.Drains() {
		return // marks wait (LSS-7)
	}
	used, full := min(l.most, l.size), l.most+whole > l.size*(smallPart-1)/smallPart
	c.judgeOthers(now, used, q, t)
	size := used
	if q > t && !l.others { // DLY-1
		size = max(used*int64(c.base.value+t/2)/int64(l.least), used/2)
	}
	switch {
	case lossy:
		arrived := used * (l.passed - l.lost) / max(l.passed, 1)
		c.loss.keep(l)
		c.cutForLoss(now, used, min(size, used-used/part, arrived*(smallPart-1)/smallPart)) // LSS-5
	case l.marked > 0:
		c.cutForLoss(now, used, min(size, used-used/part)) // ECN-3
	case size < used:
		l.cut(size) // DLY-1
		l.ceiling = 0
	case full && !l.opening && !c.breaker.open && c.loss.phase != looks: // BRK-5, LSS-3
		l.grow(q < t/2)
		if q > t/2 && !l.others { // DLY-3
			l.size -= (used - used*int64(c.base.value+t/2)/int64(l.least)) / part
		}
	}
	l.marked = 0
	c.breaker.judge(now, l)
}

// cut lowers the limit, and ends the opening (DLY-2, ROOM-6, BRK-1).
func (l *limit) cut(size int64) {
	l.size, l.step, l.quiet, l.opening = max(size, leastLimit), step, 0, false
}

// cutForLoss answers loss or marks: once, and not again for what went out before (LSS-5, ECN-3).
func (c *Controller) cutForLoss(now core.Micros, used, size int64) {
	l := &c.limit
	l.cut(size)
	l.ceiling, l.low, l.hit = used, l.size, true
	c.loss.phase, c.loss.sumLost, c.loss.sumPassed = recovers, 0, 0
	if l.others && now >= c.base.drainAt {
		c.base.drain(now, max(c.RTT.Smoothed, l.latest), l.latest) // when all lose they drain together (OTH-3)
	}
}

// grow lets the limit grow by a step: a slice beside others, as NewReno, until this sender was hit as they are
// (GRO-1 to GRO-5).
func (l *limit) grow(short bool) {
	least := int64(step)
	if l.others {
		least = whole
	}
	switch {
	case l.others && l.hit, !l.others && !short: // GRO-1, GRO-2
		l.step, l.quiet = least, 0
	case !l.others && l.size < l.ceiling: // GRO-3
		l.step, l.quiet = max(step, (l.ceiling-l.size)/quietMost), 0
	default: // GRO-4
		if l.quiet++; l.quiet <= quietMost {
			l.step = least
		} else {
			l.step = max(min(2*l.step, l.size/smallPart), least)
		}
	}
	l.size += min(l.step, l.size/part) // GRO-5
}

// judgeOthers finds out whether the queue is somebody else's: it stays above the target though
// this sender gives way, and fewer of its slices arrive for that (OTH-2, OTH-3).
func (c *Controller) judgeOthers(now core.Micros, used int64, q, t core.Micros) {
	l := &c.limit
	if l.others {
		if now >= c.base.drainAt && !l.hit {
			c.base.drain(now, max(c.RTT.Smoothed, l.latest), l.latest)
		}
		return
	}
	if q <= t {
		if q <= t/2 {
			l.above = max(l.above-1, 0)
		}
		return
	}
	speed := (l.passed - l.lost) * int64(core.Second) / int64(now-l.beganAt)
	if l.above == 0 {
		l.from, l.speed = used, speed
	}
	if l.above++; l.above < foeRows {
		return
	}
	if l.above = 0; used <= whole || part*speed < (part-1)*l.speed { // a queue of its own empties at the same speed
		c.contest(now)
	}
}

// endContest gives way again: the queue was gone when this sender was, or what was taken for it is the
// path (OTH-4).
func (c *Controller) endContest(now core.Micros) {
	l := &c.limit
	l.others, l.above = false, 0
	c.base.drainAt = now + life
}

// contest begins to compete for the queue, with the limit in use before this sender gave way (OTH-2).
func (c *Controller) contest(now core.Micros) {
	l := &c.limit
	l.others, l.hit, l.quiet = true, false, 0
	l.size = max(l.size, l.from)
	c.base.drainAt = now + drainFirst
}
