package control

import "github.com/chunkwire/chunkwire/core"

// Figures of sections 6 and 7 (REC-10). A limit is in eighths of a slice.
const (
	whole       = 8                // eighths of a slice
	firstLimit  = 32 * whole       // LMT-1
	leastLimit  = whole / 2        // LMT-5, BRK-1
	twoSlices   = 2 * whole        // LMT-9: below, the pace holds the limit
	targetLeast = 5 * ms           // LMT-2
	targetMost  = 20 * ms          // LMT-2
	spare       = 2                // LMT-3: slices
	sumMost     = 256              // LMT-3: slices
	calmMost    = 1024             // LMT-3: slices
	calmPrior   = 64               // LMT-3: slices
	riseRounds  = 8                // CTD-1
	riseLeast   = 10 * ms          // CTD-1
	riseSlack   = 5 * ms           // CTD-1
	calmQueue   = 5 * ms           // CTD-3
	calmRounds  = 2                // CTD-3
	quiet       = 20 * core.Second // CTD-2
	steadyBand  = 2 * ms           // CTD-4
	steady      = 4                // CTD-4: decisions
	crowd       = 64               // CTD-4: flows
)

// limit is how much may be in flight, so that the queue stays short.
type limit struct {
	size    int64 // in eighths of a slice
	step    int64 // by which it grows next, in the same
	opening bool  // no queue was seen yet: it grows with each slice that arrives

	sampled bool        // by the event at hand
	latest  core.Micros // sample of the round trip

	// A decision: the smallest sample of a quarter of a round trip, once a round trip.
	roundAt  core.Micros // when the next one begins; 0: never yet
	closesAt core.Micros // when it is made; 0: it has not begun
	least    core.Micros // the smallest sample since it began

	// Since the latest decision.
	most         int64 // the most in flight, in eighths
	full         bool  // it held a slice back
	lost, passed int64
	marked       int

	blocked bool // it held a slice back at the latest question (RAT-4)

	sumLost, sumPassed   int64 // since the latest cut for loss
	calmLost, calmPassed int64 // in decisions with a short queue

	// Is the queue somebody else's?
	contested bool
	calm      int         // decisions in a row that showed a short queue
	noise     core.Micros // beside the base: what cuts do not change
	before    core.Micros // the smallest sample of the latest decision
	rises     int
	risesFrom core.Micros
	row       row
}

// row is a run of decisions with a queue above the target.
type row struct {
	n         int
	at        core.Micros // of the first
	limit     int64       // before the first cut
	lost      int64
	abrupt    bool // the queue was more than twice the target
	flat      int  // decisions in a row, without loss, that showed the same
	flatLeast core.Micros
}

func newLimit() limit { return limit{size: firstLimit, step: whole, opening: true} }

// target is how long a queue is wanted at most (LMT-2).
func (c *Controller) target() core.Micros {
	return min(max(c.base.value/4, targetLeast), targetMost)
}

// queue is how long a slice waited, by a sample (LMT-2).
func (c *Controller) queue(r core.Micros) core.Micros { return r - c.base.value - c.limit.noise }

// decide takes what arrived and was lost, after the sample, and makes the decision of a
// round trip when it is due (LMT-1, LMT-2).
func (c *Controller) decide(now core.Micros, arrived, lost int64) {
	l := &c.limit
	l.lost += lost
	l.passed += lost + arrived
	if l.opening && c.queue(l.latest) <= c.target()/2 {
		l.size += whole * max(min(2*(arrived+lost), 3*arrived), 0)
		l.size = min(l.size, max(3*l.most, firstLimit))
	}
	if !l.sampled {
		return
	}
	l.sampled = false
	if l.roundAt == 0 {
		l.roundAt = now + l.latest
	}
	switch {
	case l.closesAt != 0:
		l.least = min(l.least, l.latest)
	case now >= l.roundAt:
		l.closesAt, l.least = now+l.latest/4, l.latest
		return
	}
	if l.closesAt == 0 || now < l.closesAt {
		return
	}
	if c.config.has(Limit) {
		c.judge(now)
	}
	l.before = l.least
	l.most, l.full, l.lost, l.passed, l.marked = int64(c.flight)*whole, false, 0, 0, 0
	l.closesAt, l.roundAt = 0, now+l.latest
}

// judge makes a decision (LMT-3, LMT-4, CTD-7, LMT-8).
func (c *Controller) judge(now core.Micros) {
	l := &c.limit
	q, t := c.queue(l.least), c.target()
	used := min(l.most, l.size)
	if l.full {
		used = l.size
	}
	lossy := c.isLossy(q, t)
	c.alarm(now, used, q, t)
	c.judgeContest(now, used, q, t)
	q, t = c.queue(l.least), c.target() // CTD-4 may have changed them
	switch {
	case c.Drains():
	case l.contested:
		c.compete(used, lossy)
	case q > t:
		c.cut(max(used*int64(c.base.value+l.noise+t/2)/int64(l.least), used/2)) // LMT-5
	case l.marked > 0, lossy && q > t/2:
		c.cut(used * 7 / 8) // LMT-6
	case l.full && !l.opening:
		c.grow(q < t/2)
	}
}

// cut sets the limit, and ends the opening.
func (c *Controller) cut(size int64) {
	l := &c.limit
	l.size, l.step, l.opening = max(size, c.floor()), whole, false
}

// floor is the least limit (BRK-1).
func (c *Controller) floor() int64 {
	if !c.config.has(Fraction) {
		return twoSlices
	}
	return leastLimit
}

// grow lets the limit grow by a step, which doubles while there is no queue (LMT-7).
func (c *Controller) grow(empty bool) {
	l := &c.limit
	if !empty || !c.config.has(Velocity) {
		l.step = whole
	}
	l.size += l.step
	if empty {
		l.step = min(2*l.step, l.size/2)
	}
	l.step = max(l.step, min(whole, l.size/4), 1)
}

// isLossy reports whether more is lost than while the queue is short, and counts (LMT-3).
func (c *Controller) isLossy(q, t core.Micros) bool {
	l := &c.limit
	l.sumLost, l.sumPassed = l.sumLost+l.lost, l.sumPassed+l.passed
	expected := 5 * l.sumPassed * l.calmLost / (4 * (l.calmPassed + calmPrior))
	beyond := l.sumLost - expected - 2*Isqrt(expected)
	lossy := beyond > spare || l.contested && beyond > 0 || l.marked > 0
	switch {
	case lossy:
		l.sumLost, l.sumPassed = 0, 0
	case l.sumPassed > sumMost:
		l.sumLost, l.sumPassed = l.sumLost/2, l.sumPassed/2
	}
	if !l.contested && q <= t/2 {
		l.calmLost, l.calmPassed = l.calmLost+max(l.lost, 0), l.calmPassed+max(l.passed, 0)
		if l.calmPassed > calmMost {
			l.calmLost, l.calmPassed = l.calmLost/2, l.calmPassed/2
		}
	}
	return lossy
}

// alarm acts on much loss without a queue: the base may be wrong, so that there is one; and
// the opening ends if there is any (LMT-4).
func (c *Controller) alarm(now core.Micros, used int64, q, t core.Micros) {
	l := &c.limit
	if l.lost < 3 || q > t {
		return
	}
	if 8*l.lost >= l.passed && !l.contested && c.base.mayAlarm(now) && c.config.has(Alarm) {
		c.base.drain(now, c.RTT.Smoothed, l.latest)
	}
	if l.opening && 4*l.lost >= l.passed && q >= t/8 {
		l.opening, l.step = false, max(used/4, 1)
	}
}
