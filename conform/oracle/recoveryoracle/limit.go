package recoveryoracle

// This file is the decisions: when they are made, and what they do to the limit.

// The constants of the limit, in 64ths of a slice where they are not times or parts.
const (
	FirstLimit  = 16 * S
	LeastLimit  = TwoSlices / Part
	TwoSlices   = 2 * S
	OpenFactor  = 3
	TargetLeast = 5000
	TargetMost  = Part * TargetLeast
	Step        = 24
	Part        = 4
	QuietMost   = 32
	SmallPart   = 8
	ContestRows = 6
)

// target is t of ROOM-3.
func (c *Controller) target() int64 {
	t := c.minRTT / Part
	if t < TargetLeast {
		t = TargetLeast
	}
	if t > TargetMost {
		t = TargetMost
	}
	if c.yields {
		return t / 2
	}
	return t
}

// onRound is DCS-1 and DCS-3.
func (c *Controller) onRound(now, n, missing int64) {
	c.reports = append(c.reports, report{n, missing})
	c.open(n)
	if c.latest == 0 {
		return
	}
	if c.decidesAt == 0 {
		c.beganAt, c.decidesAt, c.calmAt = now, now+c.round(), now
	}
	c.countSample(now)
	if now >= c.decidesAt {
		c.decide(now)
		c.beginDecision(now)
	}
}

// countSample is DCS-2.
func (c *Controller) countSample(now int64) {
	if c.clean == nil {
		return
	}
	k := *c.clean
	c.clean = nil
	k.wait, k.counts, k.inTime = k.r-c.minRTT, now >= c.countsAt, now <= c.decidesAt
	c.samples = append(c.samples, k)
}

// beginDecision is DCS-6.
func (c *Controller) beginDecision(now int64) {
	c.most, c.reports, c.samples = S*c.flight(), nil, nil
	c.countsAt, c.beganAt, c.decidesAt = 0, now, now+c.round()
}

// round is how long a decision is awaited (DCS-6).
func (c *Controller) round() int64 { return c.latest + c.latest/Part }

// least is the sample that the queue is judged by (DCS-2, DCS-5).
func (c *Controller) least() (r int64) {
	for _, k := range c.samples {
		if k.counts && (r == 0 || k.inTime && k.r < r) {
			r = k.r
		}
	}
	if r == 0 {
		return c.minRTT
	}
	return r
}

// isShort is DCS-7.
func (c *Controller) isShort() bool {
	n, sum, least, t := int64(len(c.samples)), int64(0), int64(never), c.target()
	for _, k := range c.samples {
		sum, least = sum+k.wait, min(least, k.wait)
	}
	stands := n >= Part && 2*least > sum/max(n, 1) && least > t/(Part*Part)
	return n > 0 && sum/max(n, 1) <= t/Part && !stands
}

// speed is how many slices arrived in a second (DCS-7).
func (c *Controller) speed(now int64) int64 {
	lost, passed := c.told()
	return max(passed-lost, 0) * 1_000_000 / max(now-c.beganAt, 1)
}

// told is what was lost and passed since the decision before.
func (c *Controller) told() (lost, passed int64) {
	for _, r := range c.reports {
		lost += r.lost
		passed += r.lost + r.arrived
	}
	return lost, passed
}

// open is ROOM-4 and ROOM-5.
func (c *Controller) open(n int64) {
	if !c.opening || n <= 0 || c.latest-c.minRTT > c.target()/2 {
		return
	}
	size := min(c.limit+(OpenFactor-1)*S*n, OpenFactor*c.most)
	if c.ceiling > 0 && size >= c.ceiling {
		size, c.opening = c.ceiling, false
	}
	if size > c.limit {
		c.limit = size
	}
}

// verdict is what a decision knows.
type verdict struct {
	now, least, q, t, used int64
	full                   bool
	lost, passed           int64
}

// decide is DCS-8: a decision, in this order.
func (c *Controller) decide(now int64) {
	v := verdict{now: now, least: c.least(), t: c.target()}
	v.q = v.least - c.minRTT
	v.lost, v.passed = c.told()
	lossy := c.judgeLoss(v)
	if c.drainUntil != 0 { // LSS-7
		return
	}
	v.used, v.full = min(c.most, c.limit), c.most+S > c.limit*(SmallPart-1)/SmallPart // with what LSS-3 has given back
	c.judgeOthers(v)
	d := c.byDelay(v)
	switch {
	case lossy:
		c.cutForLoss(v, d)
	case c.marked > 0: // ECN-3
		c.cut(min(d, v.used-v.used/Part))
		c.answered(v)
	case d < v.used: // DLY-1
		c.cut(d)
		c.ceiling = 0
	case v.full && !c.opening && !c.broken && c.phase != looks: // LSS-3
		c.grow(v)
		c.giveBack(v)
	}
	c.marked = 0
	c.judgeBreaker(now, max(v.lost, 0), max(v.passed, 0))
}

// holds is how much of what was in use the path holds with half of the target.
func (c *Controller) holds(v verdict) int64 { return v.used * (c.minRTT + v.t/2) / v.least }

// byDelay is DLY-1.
func (c *Controller) byDelay(v verdict) int64 {
	if v.q <= v.t || c.others {
		return v.used
	}
	return max(c.holds(v), v.used/2)
}

// giveBack is DLY-3.
func (c *Controller) giveBack(v verdict) {
	if v.q > v.t/2 && !c.others {
		c.limit -= (v.used - c.holds(v)) / Part
	}
}

// cut is DLY-2 and ROOM-6.
func (c *Controller) cut(size int64) {
	c.limit, c.step, c.quiet, c.opening = max(size, LeastLimit), Step, 0, false
}

// cutForLoss is LSS-5.
func (c *Controller) cutForLoss(v verdict, d int64) {
	c.before = &cause{c.limit, c.ceiling, c.sumLost, c.sumPassed, c.opening}
	arrived := v.used * max(v.passed-v.lost, 0) / max(v.passed, 1)
	c.cut(min(d, v.used-v.used/Part, arrived*(SmallPart-1)/SmallPart))
	c.answered(v)
}

// answered is the rest of LSS-5 and of ECN-3, and OTH-3.
func (c *Controller) answered(v verdict) {
	c.ceiling, c.low, c.hit = v.used, c.limit, true
	c.phase, c.sumLost, c.sumPassed = recovers, 0, 0
	if c.others && v.now >= c.drainAt {
		c.beginDrain(v.now, c.latest)
	}
}

// grow is GRO-1 to GRO-5.
func (c *Controller) grow(v verdict) {
	usual := int64(Step)
	if c.others {
		usual = S
	}
	c.quiet++
	if c.quiet > QuietMost { // GRO-4
		c.step = max(min(2*c.step, c.limit/SmallPart), usual)
	} else {
		c.step = usual
	}
	if c.others && c.hit || !c.others && v.q >= v.t/2 { // GRO-1, GRO-2
		c.step, c.quiet = usual, 0
	} else if !c.others && c.limit < c.ceiling { // GRO-3
		c.step, c.quiet = max(Step, (c.ceiling-c.limit)/QuietMost), 0
	}
	c.limit += min(c.step, c.limit/Part) // GRO-5
}

// judgeOthers is OTH-2 and OTH-3.
func (c *Controller) judgeOthers(v verdict) {
	if c.others {
		if v.now >= c.drainAt && !c.hit {
			c.beginDrain(v.now, c.latest)
		}
		return
	}
	if v.q <= v.t/2 {
		c.above = max(c.above-1, 0)
	}
	if v.q <= v.t {
		return
	}
	if c.above == 0 {
		c.from, c.fromSpeed = v.used, c.speed(v.now)
	}
	c.above++
	if c.above < ContestRows {
		return
	}
	c.above = 0
	if v.used <= S || Part*c.speed(v.now) < (Part-1)*c.fromSpeed {
		c.others, c.hit, c.quiet = true, false, 0
		c.limit = max(c.limit, c.from)
		c.drainAt = v.now + DrainFirst
	}
}

// judgeBreaker is BRK-3 and BRK-4.
func (c *Controller) judgeBreaker(now, lost, passed int64) {
	c.groupLost += lost
	c.groupPassed += passed
	if c.groupPassed < SumMost {
		return
	}
	if CalmPart*c.groupLost <= c.groupPassed {
		c.broken, c.calmAt = false, now
	}
	if now-c.calmAt >= Life {
		c.broken = true
		c.cut(LeastLimit)
	}
	c.groupLost, c.groupPassed = 0, 0
}
