package control

import "math"

// Figures of section 5 (REC-10).
const (
	firstWindow = 64     // WIN-1
	yieldWindow = 16     // WIN-5
	leastWindow = 8      // WIN-2
	ackDelay    = 2 * ms // WIN-2: how long the receiver may wait with an ack (AKT-2)
)

// Window returns how many slices may be in flight when a fresh one goes out, where
// so many of the chunk have arrived. WIN-2's limit is the scheduler's.
func (c *Controller) Window(arrived int) int {
	switch {
	case c.PerSlice() != 0:
		return c.PathSlices() // WIN-2
	case c.config.has(First):
		return c.first() + arrived // WIN-1
	}
	return math.MaxInt32
}

// HasRoom reports whether the window lets a fresh slice go (WIN-3).
func (c *Controller) HasRoom(flight, arrived int) bool {
	return c.config.Burst || c.config.Fixed || flight < c.Window(arrived)
}

// PathSlices returns how many slices may be in flight on all lanes when a chunk
// begins: the window, for a chunk without end (LAN-10).
func (c *Controller) PathSlices() int {
	perSlice := c.PerSlice()
	if perSlice == 0 {
		return c.first()
	}
	if c.Drains() {
		return drainSlots // WIN-4
	}
	inPath := int64(c.RTT.Min()+ackDelay) * 1000 / perSlice
	if !c.yields {
		inPath = inPath * 3 / 2 // WIN-2
	}
	return int(min(inPath+leastWindow, math.MaxInt32))
}

// first returns the window of a path of which nothing is known.
func (c *Controller) first() int {
	if c.yields {
		return yieldWindow // WIN-5
	}
	return firstWindow
}

// Yield says whether other packets on the path must not wait for slices: then the
// window is no larger than the path (WIN-5).
func (c *Controller) Yield(yields bool) { c.yields = yields }

// Drains reports whether the window is small, to see the path without a queue
// (WIN-4).
func (c *Controller) Drains() bool { return c.RTT.lowest.drains() && c.config.has(Drain) }
