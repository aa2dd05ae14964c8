package control

// HasRoom reports whether the limit lets a slice go. It changes nothing.
func (c *Controller) HasRoom() bool {
	return c.config.Burst || c.config.Fixed || c.flight < c.PathSlices()
}

// PathSlices returns how many slices may be in flight on all lanes.
func (c *Controller) PathSlices() int {
	n := int(max(c.limit.size, twoSlices) / whole)
	if c.Drains() {
		n = min(n, drainSlots)
	}
	return n
}

// Yield says whether other packets on the path must not wait for slices: then the target is half.
func (c *Controller) Yield(yields bool) { c.yields = yields }

// Drains reports whether few slices may be in flight, to see the path without a queue.
func (c *Controller) Drains() bool { return c.base.drains() && c.config.has(Drain) }
