package recoveryoracle

// This file is the answer to loss (LSS-1 to LSS-8).

// The constants of loss: slices, sixteenths of them, and parts.
const (
	PriorLost   = 2 // sixteenths
	PriorPassed = 32
	CalmMost    = 8192
	CalmPart    = 2
	SumMost     = 64
	Variances   = 18
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

// expected is e of LSS-1, for a loss of p of b.
func expected(passed, p, b int64) int64 { return S * passed * p / b }

// exceeds is LSS-1.
func (c *Controller) exceeds(lost, passed int64, same bool) bool {
	p, b := c.calm()
	if c.opening {
		p = max(p, b/SmallPart)
	}
	if same {
		p = b / CalmPart
	}
	e := expected(passed, p, b)
	x := S*lost - e
	return x > 0 && x*x > Variances*S*(e*(b-p)/b)
}

// judgeLoss is LSS-2 to LSS-4: whether the decision is lossy.
func (c *Controller) judgeLoss(v verdict) (lossy bool) {
	lost, passed := max(v.lost, 0), max(v.passed, 0)
	if c.phase == recovers { // LSS-2
		c.phase, c.marked = looks, 0
		return false
	}
	c.sumLost += lost
	c.sumPassed += passed
	if c.phase == looks { // LSS-3
		if k := c.before; k == nil || c.sumPassed*k.lost >= Part*k.passed || c.sumLost >= Part {
			c.phase = steady
			c.look(c.sumLost, c.sumPassed)
			c.sumLost, c.sumPassed, c.before = 0, 0, nil
		}
		return false
	}
	if c.exceeds(c.sumLost, c.sumPassed, false) { // LSS-4
		return true
	}
	for c.sumPassed > SumMost {
		c.sumLost, c.sumPassed = c.sumLost/2, c.sumPassed/2
	}
	if c.limit <= c.low+c.low/Part {
		c.learn(lost, passed)
	}
	return false
}

// look is LSS-3: what the look after a cut says of it.
func (c *Controller) look(lost, passed int64) {
	k := c.before
	same := k != nil && c.isShort() && passed > 0 && Part*k.lost >= k.passed && Part*lost*k.passed >= (Part-1)*k.lost*passed
	if same {
		c.learn(k.lost, k.passed)
	}
	p, b := c.calm()
	if passed*p >= Part*b && 2*lost*b < passed*p { // it is gone
		c.calmLost, c.calmPassed = 0, 0
	}
	c.learn(lost, passed)
	if k == nil || c.broken || c.exceeds(k.lost, k.passed, same) {
		return
	}
	c.limit = max(c.limit, k.limit)
	c.ceiling, c.opening = k.ceiling, k.opening
}

// learn is LSS-6.
func (c *Controller) learn(lost, passed int64) {
	p, b := c.calm()
	if !c.isShort() && lost*b > passed*p {
		return
	}
	c.calmLost += 16 * lost
	c.calmPassed += 16 * passed
	if c.calmPassed > 16*CalmMost {
		c.calmLost, c.calmPassed = c.calmLost/2, c.calmPassed/2
	}
}
