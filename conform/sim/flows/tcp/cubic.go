package tcp

import "github.com/chunkwire/chunkwire/core"

// The cubic function of RFC 9438 is C (t - K)^3 with C = 0.4 datagrams a second^3: in units
// of one, with t in milliseconds, the cube times cubicUp / cubicDown.
const (
	cubicUp   = 1 << 8
	cubicDown = 9_765_625 // 5^10
	longestT  = 250_000   // ms: the cube of more does not fit
)

// cubic is the window of RFC 9438.
type cubic struct {
	loss
	friendly Ratio       // alpha, what Reno would add a round trip with this beta
	max      int64       // W_max: the window before the last cut; 0: none
	prior    int64       // cwnd_prior: the same, without fast convergence
	running  bool        // a stage of congestion avoidance has begun
	epoch    core.Micros // when it did
	k        core.Micros // ms from there until the window is max again
	estimate int64       // W_est: Reno's window
}

func newCubic(c Config) *cubic {
	b := c.Beta
	return &cubic{loss: newLoss(c), friendly: Ratio{3 * (b.Down - b.Up), b.Down + b.Up}}
}

func (c *cubic) acked(n news) {
	if c.inSlowStart() {
		c.grow(n)
		return
	}
	if !c.running {
		c.begin(n.now)
	}
	c.follow(n)
	t := n.now - c.epoch
	if c.at(t) < c.estimate { // 4.3, the Reno-friendly region
		c.cwnd = max(c.cwnd, c.estimate)
		return
	}
	target := min(max(c.at(t+n.smoothed), c.cwnd), c.cwnd*3/2) // 4.2
	c.cwnd += n.n * (target - c.cwnd) * one / c.cwnd
}

// begin begins congestion avoidance. Without a loss before it, as after HyStart++ and after
// a timeout, the window is at the plateau at once (4.8, 4.10).
func (c *cubic) begin(now core.Micros) {
	c.running, c.epoch, c.k, c.estimate = true, now, 0, c.cwnd
	if c.max <= c.cwnd {
		c.max = c.cwnd
		return
	}
	c.k = core.Micros(cubeRoot((c.max - c.cwnd) * cubicDown / cubicUp))
}

// follow moves the estimate of what Reno would have (4.3).
func (c *cubic) follow(n news) {
	by := n.n * one * one / c.cwnd
	if c.estimate < c.prior {
		by = c.friendly.of(by)
	}
	c.estimate += by
}

// at is W_cubic, the window a time after the stage began (4.2).
func (c *cubic) at(t core.Micros) int64 {
	d := int64(min(max(t/core.Millisecond-c.k, -longestT), longestT))
	return c.max + d*d*d*cubicUp/cubicDown
}

// lost cuts the window. A window that had not reached the last one's end makes room for
// others (4.6, 4.7).
func (c *cubic) lost(flight int64) {
	c.prior, c.running = c.cwnd, false
	if c.cwnd < c.max {
		c.max = c.cwnd * (c.beta.Up + c.beta.Down) / (2 * c.beta.Down)
	} else {
		c.max = c.cwnd
	}
	c.cut(flight)
}

func (c *cubic) expired(flight int64, again bool) {
	c.prior, c.max, c.running = c.cwnd, 0, false
	c.restart(flight, again)
}

// cubeRoot returns the cube root, rounded down, by Newton's method from above.
func cubeRoot(v int64) int64 {
	if v <= 0 {
		return 0
	}
	x := int64(1)
	for x*x < v/x {
		x *= 2
	}
	for {
		next := (2*x + v/(x*x)) / 3
		if next >= x {
			return x
		}
		x = next
	}
}
