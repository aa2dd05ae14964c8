package recoveryoracle

// This file is the answer to loss (LSS-1 to LSS-8).

// The constants of loss: slices, sixteenths of them, and parts.
const (
	PriorLost   = 2 // sixteenths
	PriorPassed = 32
	CalmMost    = 8192
	CalmPart    = 2
	OpenPart    = 8
	DeepPart    = 64
	DeepTime    = 30_000_000
	SumMost     = 64
	SpreadMost  = 4
	SpreadPart  = 8
)

// The phases of the answer to loss.
const (
	steady   = "steady"
	recovers = "recovers"
	looks    = "looks"
)

// calm is the calm loss, p of b (LSS-1).
func (c *Controller) calm() (p, b int64) {
	b = c.calmPassed + 16*PriorPassed
	return min(c.calmLost+PriorLost, b/CalmPart), b
}

// beyond is x and e of LSS-1.
func beyond(lost, passed, p, b int64) (x, e int64) {
	e = S * passed * p / b
	return S*lost - e, e
}

// exceeds is LSS-1.
func (c *Controller) exceeds(lost, passed int64, deep bool) bool {
	p, b := c.calm()
	if c.opening {
		p = max(p, b/OpenPart)
	}
	if deep {
		p = max(p, b/DeepPart)
	}
	x, e := beyond(lost, passed, p, b)
	return x > 0 && x*x > 36*c.spread*e
}

// judgeLoss is LSS-2 to LSS-4: whether the decision is lossy.
func (c *Controller) judgeLoss(v verdict) (lossy bool) {
	lost, passed := max(v.lost, 0), max(v.passed, 0)
	switch c.phase {
	case recovers: // LSS-2
		c.phase, c.marked = looks, 0
		return false
	case looks: // LSS-3
		c.phase = steady
		c.learn(lost, passed)
		c.goBack()
		c.sumLost, c.sumPassed, c.before = 0, 0, nil
		return false
	}
	c.sumLost += lost // LSS-4
	c.sumPassed += passed
	if c.exceeds(c.sumLost, c.sumPassed, v.now < c.deepUntil && v.q <= v.t && !c.others) {
		return true
	}
	if v.q > v.t {
		c.deepUntil = v.now + DeepTime
	}
	for c.sumPassed > SumMost {
		c.sumLost, c.sumPassed = c.sumLost/2, c.sumPassed/2
	}
	if c.limit <= c.low*5/4 {
		c.learn(lost, passed)
	}
	return false
}

// goBack is what LSS-3 says of a cut in vain.
func (c *Controller) goBack() {
	if c.before == nil || c.broken || c.exceeds(c.before.lost, c.before.passed, false) {
		return
	}
	c.limit = max(c.limit, c.before.limit)
	c.ceiling, c.opening = c.before.ceiling, c.before.opening
}

// learn is LSS-6.
func (c *Controller) learn(lost, passed int64) {
	p, b := c.calm()
	x, e := beyond(lost, passed, p, b)
	if !c.isEmpty() && x > 0 {
		return
	}
	if c.isEmpty() && e >= S && CalmPart*p < b {
		s := min(max(x*x/(4*e), 16), 16*SpreadMost)
		c.spread += (s - c.spread) / SpreadPart
	}
	c.calmLost += 16 * lost
	c.calmPassed += 16 * passed
	if c.calmPassed > 16*CalmMost {
		c.calmLost, c.calmPassed = c.calmLost/2, c.calmPassed/2
	}
}
