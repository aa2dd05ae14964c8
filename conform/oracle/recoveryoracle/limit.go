package recoveryoracle

// This file is the decisions of each round trip: the limit (RECOVERY.md, section 6), whose the
// queue is (section 7), and losses that the rate causes (section 8).

// target is t of LMT-2.
func (c *Controller) target() int64 { return min(max(c.minRTT/4, TargetLeast), TargetMost) }

// onRound is LMT-1 and LMT-2.
func (c *Controller) onRound(now, n, missing int64) {
	c.roundLost += missing
	c.roundPassed += n + missing
	if c.opening && c.latest-c.minRTT-c.noise <= c.target()/2 {
		c.limit += 8 * max(min(2*(n+missing), 3*n), 0)
		c.limit = min(c.limit, max(3*c.most, FirstLimit))
	}
	if !c.sampled {
		return
	}
	c.sampled = false
	if c.roundAt == 0 {
		c.roundAt = now + c.latest
	}
	if c.closesAt == 0 {
		if now >= c.roundAt {
			c.closesAt, c.low = now+c.latest/4, c.latest
		}
		return
	}
	c.low = min(c.low, c.latest)
	if now < c.closesAt {
		return
	}
	c.decide(now)
	c.lowBefore, c.most, c.full = c.low, 8*c.flight(), false
	c.roundLost, c.roundPassed, c.marked = 0, 0, 0
	c.closesAt, c.roundAt = 0, now+c.latest
}

// decide is the decision of LMT-2.
func (c *Controller) decide(now int64) {
	q, t := c.low-c.minRTT-c.noise, c.target()
	f := min(c.most, c.limit)
	if c.full {
		f = c.limit
	}
	lossy := c.isLossy(q, t)
	if c.roundLost >= 3 && q <= t { // LMT-4
		c.alarm(now, f, q, t)
	}
	c.judgeContest(now, f, q, t)
	q, t = c.low-c.minRTT-c.noise, c.target() // CTD-4 may have changed them
	if c.drainUntil != 0 {
		return
	}
	if c.contested { // CTD-6
		if lossy {
			c.limit = max(f*7/10, LeastLimit)
		} else if c.full {
			c.limit += min(8, c.limit/4)
		}
	} else if q > t { // LMT-5
		c.cut(max(f*(c.minRTT+c.noise+t/2)/c.low, f/2))
	} else if c.marked > 0 || lossy && q > t/2 { // LMT-6
		c.cut(f * 7 / 8)
	} else if c.full && !c.opening {
		c.grow(q < t/2)
	}
}

// alarm is LMT-4.
func (c *Controller) alarm(now, f, q, t int64) {
	mayDrain := c.drainUntil == 0 && now-c.busySince >= AlarmFirst && now-c.endedAt >= c.gap
	if 8*c.roundLost >= c.roundPassed && !c.contested && mayDrain {
		c.beginDrain(now, c.latest)
	}
	if c.opening && 4*c.roundLost >= c.roundPassed && q >= t/8 {
		c.opening, c.step = false, max(f/4, 1)
	}
}

// cut is LMT-5 and LMT-6.
func (c *Controller) cut(size int64) {
	c.limit, c.step, c.opening = max(size, LeastLimit), 8, false
}

// grow is LMT-7.
func (c *Controller) grow(empty bool) {
	if !empty {
		c.step = 8
	}
	c.limit += c.step
	if empty {
		c.step = min(2*c.step, c.limit/2)
	}
	c.step = max(c.step, min(8, c.limit/4), 1)
}

// isLossy is LMT-3.
func (c *Controller) isLossy(q, t int64) bool {
	c.sumLost += c.roundLost
	c.sumPassed += c.roundPassed
	e := 5 * c.sumPassed * c.calmLost / (4 * (c.calmPassed + CalmPrior))
	beyond := c.sumLost - e - 2*Isqrt(e)
	lossy := beyond > 2 || c.contested && beyond > 0 || c.marked > 0
	if lossy {
		c.sumLost, c.sumPassed = 0, 0
	} else if c.sumPassed > SumMost {
		c.sumLost, c.sumPassed = c.sumLost/2, c.sumPassed/2
	}
	if !c.contested && q <= t/2 {
		c.calmLost += max(c.roundLost, 0)
		c.calmPassed += max(c.roundPassed, 0)
		if c.calmPassed > CalmMost {
			c.calmLost, c.calmPassed = c.calmLost/2, c.calmPassed/2
		}
	}
	return lossy
}

// judgeContest is CTD-7.
func (c *Controller) judgeContest(now, f, q, t int64) {
	if c.drainUntil != 0 {
		return
	}
	if c.contested {
		if q > max(t, CalmQueue) {
			c.calmRounds = 0
		} else if c.calmRounds++; c.calmRounds == CalmRounds {
			c.endContest(now)
		}
		return
	}
	if q <= t {
		c.rises, c.row = 0, 0
		return
	}
	c.noteRow(now, f, q, t)
	yielded := c.limit <= max(c.rowLimit/2, TwoSlices)
	if c.rises >= Rises && c.low >= c.risesFrom+max(t*3/2, LeastRise) {
		c.contest(now, max(f, c.rowLimit/2)) // CTD-1
	} else if yielded && c.flat >= Steady && c.abrupt && 8000*q > Crowd*max(f, TwoSlices)*min(c.perSlice(), Slowest) {
		c.reopen() // CTD-4
	} else if yielded && c.rowLost == 0 && now-c.rowAt >= Quiet {
		c.contest(now, max(f, c.rowLimit)) // CTD-2
	}
}

// noteRow is CTD-8.
func (c *Controller) noteRow(now, f, q, t int64) {
	if c.rises == 0 {
		c.rises, c.risesFrom = 1, c.low
	} else if c.low > c.lowBefore {
		c.rises++
	} else if c.low < c.lowBefore-max(RiseSlack, q/16) {
		c.rises = 0
	}
	if c.row == 0 {
		c.rowAt, c.rowLimit, c.rowLost, c.flat, c.abrupt = now, f, 0, 0, false
	}
	c.row++
	c.rowLost += c.roundLost
	c.abrupt = c.abrupt || q > 2*t
	if c.roundLost > 0 {
		return
	}
	differs := max(c.low-c.flatLow, c.flatLow-c.low)
	if c.flat > 0 && differs <= max(SteadyBand, c.minRTT/32) {
		c.flat++
	} else {
		c.flat, c.flatLow = 1, c.low
	}
}

// contest is what CTD-1 says of a path that becomes contested.
func (c *Controller) contest(now, x int64) {
	c.contested, c.calmRounds, c.rises, c.row = true, 0, 0, 0
	c.limit = max(x, TwoSlices)
	c.drainUntil, c.drainAt = 0, now+DrainEvery
}

// endContest is CTD-3.
func (c *Controller) endContest(now int64) {
	c.contested, c.rises, c.row, c.drainAt = false, 0, 0, now+DrainSoon
}

// reopen is CTD-4.
func (c *Controller) reopen() {
	if d := c.low - c.minRTT; d <= c.minRTT {
		c.noise = d
	} else {
		c.minRTT, c.noise = c.low, 0
	}
	c.limit, c.opening, c.row = max(c.limit, c.rowLimit), true, 0
}

// beginAccount begins an account at a time (CAP-1).
func (c *Controller) beginAccount(at int64) {
	c.accountAt, c.accountArrived, c.accountLost = at, 0, 0
}

// onAccount is CAP-1.
func (c *Controller) onAccount(now, arrived, missing int64) {
	if c.srtt == 0 || now < c.accountAt {
		return
	}
	c.accountArrived += arrived
	c.accountLost = max(c.accountLost+missing, 0)
	c.raiseCap(now)
	s, r := int64(128), int64(8)
	if c.look > 0 {
		s = 64
	} else if c.cap > 0 {
		s, r = 32, 4
	}
	n, t := c.accountArrived+c.accountLost, now-c.accountAt
	if n == 0 || t < c.srtt || n < s && t < r*c.srtt {
		return
	}
	p, i := c.accountLost*1024/n, 1000*limited(t)/max(c.accountArrived, 1)
	if c.look > 0 {
		c.judgeLook(now, n, p, i)
	} else if c.cap > 0 {
		c.judgeCap(now, n, p, i)
	} else {
		c.suspect(now, p, i)
	}
}

// raiseCap is CAP-7: cap * s / (s + cap), in an order that keeps within 64 bits.
func (c *Controller) raiseCap(now int64) {
	if c.cap == 0 || c.look > 0 || c.seeking || now-c.raisedAt < c.srtt {
		return
	}
	c.raisedAt = now
	d := 4000*c.srtt + c.cap
	c.cap = max(c.cap-(c.cap*c.cap+d-1)/d, 1)
}

// suspect is CAP-2.
func (c *Controller) suspect(now, p, i int64) {
	a := c.arrival
	if c.train && c.gained >= 2 {
		a = max(a, 1000*limited(now-c.trainSince-c.pause)/c.gained)
	}
	if p < MuchLost || c.accountLost < LeastLost || p <= c.calm*5/4+16 || now < c.lookAt {
		c.beginAccount(now)
		return
	}
	c.look, c.lossBefore = max(a, min(c.perSlice()*7/8, Slowest)), p
	if p >= MostLost || a == 0 {
		c.look = min(max(c.look, i), Slowest)
	}
	c.beginAccount(now + c.latest)
}

// judgeLook is CAP-3 and CAP-4.
func (c *Controller) judgeLook(now, n, p, i int64) {
	e := c.lossBefore * n / 1024
	if 4*c.accountLost < 3*e && c.accountLost+3*Isqrt(c.accountLost+1) < e {
		c.cap, c.seeking, c.bad, c.look = min(max(c.look, i), Slowest), true, 0, 0
		c.Lost = min(c.Lost, c.Arrived*(c.calm+8)/(1024-min(c.calm, 1000)))
	} else if p >= MostLost && i >= 2*c.look && i < Slowest {
		c.look = i
	} else {
		c.calm, c.look = p, 0
		c.wait = min(max(2*c.wait, FirstWait), LongestWait)
		c.lookAt = now + c.wait*c.srtt
	}
	c.beginAccount(now + c.latest)
}

// judgeCap is CAP-5 and CAP-6.
func (c *Controller) judgeCap(now, n, p, i int64) {
	e := 5 * c.calm * n / 4096
	if c.accountLost <= e+2+2*Isqrt(e) {
		c.bad = 0
		if c.seeking {
			c.cap = c.cap * 3 / 4
		}
		if c.cap < c.perSlice()*5/8 {
			c.cap = 0
		}
		c.beginAccount(now)
		return
	}
	c.bad++
	if c.bad >= CapBad && 2*p > c.lossBefore {
		c.cap, c.calm = 0, p
	} else {
		c.cap, c.seeking = min(max(c.cap*8/7, min(i, 2*c.cap)), Slowest), false
	}
	c.beginAccount(now + c.latest)
}

// Isqrt is the largest integer whose square is at most x.
func Isqrt(x int64) int64 {
	low, high := int64(0), int64(3_037_000_499)
	for low < high {
		if middle := (low + high + 1) / 2; middle*middle <= x {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
