package control

import "math"

// Figures of section 5 (REC-10).
const (
	yieldWindow = 20     // WIN-5
	leastWindow = 8      // WIN-2
	ackDelay    = 2 * ms // WIN-2: how long the receiver may wait with an ack (AKT-2)
)

// Window returns how many slices may be in flight by the rate of the path. WIN-2's limit
// is the scheduler's.
func (c *Controller) Window() int {
	perSlice := c.PerSlice()
	if perSlice == 0 {
		return math.MaxInt32
	}
	if c.Drains() {
		return drainSlots // WIN-4
	}
	inPath := int64(c.MinRTT()+ackDelay) * 1000 / perSlice
	if !c.yields {
		inPath = inPath * 3 / 2 // WIN-2
	}
	return int(min(inPath+leastWindow, math.MaxInt32))
}

// HasRoom reports whether the window and the limit let a slice go (WIN-3, LMT-9).
func (c *Controller) HasRoom() bool {
	l := &c.limit
	switch {
	case c.config.Burst || c.config.Fixed:
		return true
	case c.config.has(Limit) && c.flight >= c.limitSlices():
		l.full, l.blocked = true, true
		return false
	}
	return l.contested && !c.Drains() || c.flight < c.Window()
}

// limitSlices is the limit in slices (LMT-9, WIN-5).
func (c *Controller) limitSlices() int {
	n := int(max(c.limit.size, twoSlices) / whole)
	if c.yields && c.PerSlice() == 0 {
		return min(n, yieldWindow)
	}
	return n
}

// PathSlices returns how many slices may be in flight on all lanes when a chunk
// begins: the smaller of window and limit (LAN-10, WIN-6).
func (c *Controller) PathSlices() int {
	switch {
	case !c.config.has(Limit):
		return c.Window()
	case c.limit.contested && !c.Drains():
		return c.limitSlices()
	}
	return min(c.Window(), c.limitSlices())
}

// Yield says whether other packets on the path must not wait for slices: then the
// window is no larger than the path (WIN-5).
func (c *Controller) Yield(yields bool) { c.yields = yields }

// Drains reports whether the window is small, to see the path without a queue
// (WIN-4).
func (c *Controller) Drains() bool {
	return c.base.drains() && c.config.has(Drain)
}
