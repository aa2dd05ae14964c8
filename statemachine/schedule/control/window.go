package control

// HasRoom reports whether the limit lets a slice go (ROOM-1). It changes nothing (ROOM-2).
func (c *Controller) HasRoom() bool {
	return c.config.Burst || c.config.Fixed || c.flight < c.PathSlices()
}

// PathSlices returns how many slices may be in flight on all lanes (ROOM-1).
func (c *Controller) PathSlices() int {
	n := int(max(c.limit.size, twoSlices) / whole)
	if c.Drains() {
		n = min(n, drainSlots)
	}
	return n
}

// Yield says whether other packets on the path must not wait for slices: then the target is half (ROOM-3).
func (c *Controller) Yield(yields bool) { c.yields = yields }

// Drains reports whether few slices may be in flight, to see the path without a queue (EST-7).
func (c *Controller) Drains() bool { return c.base.drains() }
