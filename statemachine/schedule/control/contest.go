package control

import "github.com/chunkwire/chunkwire/core"

// judgeContest finds out whether the queue is somebody else's, or was (CTD-7). It
// is, if it rises or stays although this sender has given way.
func (c *Controller) judgeContest(now core.Micros, used int64, q, t core.Micros) {
	l := &c.limit
	switch {
	case c.base.drains():
	case l.contested && q > max(t, calmQueue):
		l.calm = 0
	case l.contested:
		if l.calm++; l.calm == calmRounds {
			c.endContest(now)
		}
	case q <= t:
		l.rises, l.row = 0, row{}
	default:
		c.noteRow(now, used, q, t)
		c.judgeRow(now, used, q, t)
	}
}

// noteRow counts a decision with a queue above the target (CTD-8).
func (c *Controller) noteRow(now core.Micros, used int64, q, t core.Micros) {
	l, r := &c.limit, &c.limit.row
	switch {
	case l.rises == 0:
		l.rises, l.risesFrom = 1, l.least
	case l.least > l.before:
		l.rises++
	case l.least < l.before-max(riseSlack, q/16):
		l.rises = 0
	}
	if r.n == 0 {
		r.at, r.limit = now, used
	}
	r.n++
	r.lost += l.lost
	r.abrupt = r.abrupt || q > 2*t
	switch d := l.least - r.flatLeast; {
	case l.lost > 0:
	case r.flat > 0 && max(d, -d) <= max(steadyBand, c.base.value/32):
		r.flat++
	default:
		r.flat, r.flatLeast = 1, l.least
	}
}

// judgeRow says whose the queue is (CTD-1, CTD-4, CTD-2).
func (c *Controller) judgeRow(now core.Micros, used int64, q, t core.Micros) {
	l, r := &c.limit, &c.limit.row
	yielded := l.size <= max(r.limit/2, twoSlices)
	switch {
	case l.rises >= riseRounds && l.least >= l.risesFrom+max(t*3/2, riseLeast) && c.config.has(Contest):
		c.contest(now, max(used, r.limit/2)) // CTD-1
	case yielded && r.flat >= steady && r.abrupt && c.config.has(Noise) && int64(q)*1000*whole > crowd*max(used, twoSlices)*min(c.PerSlice(), slowest):
		c.reopen() // CTD-4
	case yielded && r.lost == 0 && now-r.at >= quiet && c.config.has(Contest):
		c.contest(now, max(used, r.limit)) // CTD-2
	}
}

// contest begins to compete for the queue.
func (c *Controller) contest(now core.Micros, size int64) {
	l := &c.limit
	l.contested, l.calm, l.rises, l.row = true, 0, 0, row{}
	l.size = max(size, twoSlices)
	c.base.until, c.base.drainAt = 0, now+drainEvery
}

// endContest gives way again: the queue was short (CTD-3).
func (c *Controller) endContest(now core.Micros) {
	l := &c.limit
	l.contested, l.rises, l.row = false, 0, row{}
	c.base.drainAt = now + drainSoon
}

// reopen takes the queue for the path: it is steady, and more than any number of flows would
// have made that send as little as this one.
func (c *Controller) reopen() {
	l := &c.limit
	if d := l.least - c.base.value; d <= c.base.value {
		l.noise = d
	} else {
		c.base.value, l.noise = l.least, 0
	}
	l.size, l.opening = max(l.size, l.row.limit), true
	l.row = row{}
}

// compete moves the limit as loss says, as NewReno does (CTD-6).
func (c *Controller) compete(used int64, lossy bool) {
	l := &c.limit
	switch {
	case lossy:
		l.size = max(used*7/10, c.floor())
	case l.full:
		l.size += min(whole, l.size/4)
	}
}
