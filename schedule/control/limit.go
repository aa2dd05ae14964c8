package control

import (
	"fmt"

	"github.com/chunkwire/chunkwire/machine"
)

// Verbose is temporary.
var Verbose bool

const (
	eighths    = 8
	leastLimit = 4  // eighths of a slice
	floor      = 16 // eighths
)

var (
	targetLeast = 5 * ms
	targetMost  = 20 * ms
	firstLimit  = int64(32)
	openGain    = int64(2)
	contestRise = 8
)

// limit is how many slices may be in flight, so that the queue stays short.
type limit struct {
	eighths int64
	step    int64
	opening bool // no queue was seen yet

	sampled bool // this event
	latest  machine.Micros

	roundAt  machine.Micros // when the next decision begins
	closesAt machine.Micros // when it is made; 0: not begun
	least    machine.Micros // smallest sample since it began

	blocked      bool  // since the latest poll
	most         int64 // the most in flight since the latest decision
	full         bool  // it held a slice back since
	lost, passed int   // since

	noise                machine.Micros // beside base: what cuts do not change
	marked               int            // since the latest decision
	contested            bool
	sumLost, sumPassed   int64 // since the latest cut for loss
	calmLost, calmPassed int64 // in rounds with a short queue
	row                  int   // decisions in a row with a queue that did not answer
	rowAt                machine.Micros
	rowLimit             int64
	rowLost, rowPassed   int64
	flat                 int
	abrupt               bool
	rowLossy             bool
	rowLeast, lastLeast  machine.Micros
	rises                int
	risesFrom            machine.Micros
	calmRounds           int
}

func newLimit() limit { return limit{eighths: firstLimit * eighths, step: eighths, opening: true} }

// target is the queue that is wanted, as time.
func (c *Controller) target() machine.Micros {
	return min(max(c.base.value/4, targetLeast), targetMost)
}

// decide is called after news.
func (c *Controller) decide(now machine.Micros, arrived, lost int) {
	l := &c.limit
	l.lost += lost
	l.passed += lost + arrived
	if !c.config.has(Limit) {
		return
	}
	r, sampled := l.latest, l.sampled
	l.sampled = false
	if q := r - c.base.value - l.noise; l.opening && q <= c.target()/2 {
		l.eighths += eighths * max(min(openGain*int64(arrived+lost), 3*int64(arrived)), 0)
		l.eighths = min(l.eighths, max(3*l.most, firstLimit*eighths))
	}
	if !sampled {
		return
	}
	if l.roundAt == 0 {
		l.roundAt = now + r
	}
	switch {
	case l.closesAt == 0 && now >= l.roundAt:
		l.closesAt, l.least = now+r/4, r
	case l.closesAt != 0:
		l.least = min(l.least, r)
		if now >= l.closesAt {
			c.judge(now)
		}
	}
}

// judge makes the decision of a round trip.
func (c *Controller) judge(now machine.Micros) {
	l := &c.limit
	q, t := l.least-c.base.value-l.noise, c.target()
	f := min(l.most, l.eighths)
	if l.full {
		f = l.eighths
	}
	l.sumLost, l.sumPassed = l.sumLost+int64(l.lost), l.sumPassed+int64(l.passed)
	expected := 5 * l.sumPassed * l.calmLost / (4 * (l.calmPassed + 64))
	spare := Spare
	if l.contested {
		spare = 0
	}
	lossy := l.sumLost > expected+spare+2*Isqrt(expected)
	if l.marked > 0 {
		lossy = true
	}
	if lossy {
		l.sumLost, l.sumPassed = 0, 0
	} else if l.sumPassed > 256 {
		l.sumLost, l.sumPassed = l.sumLost/2, l.sumPassed/2
	}
	if !l.contested && q <= t/2 {
		l.calmLost += int64(max(l.lost, 0))
		l.calmPassed += int64(l.passed)
		if l.calmPassed > 1024 {
			l.calmLost /= 2
			l.calmPassed /= 2
		}
	}
	heavy := l.lost >= 3 && l.lost*8 >= l.passed
	if heavy && !l.contested && q <= t && c.base.mayDrainEarly(now) {
		c.base.drain(now, c.RTT.Smoothed, l.latest)
	}
	if l.opening && l.lost > 2 && l.lost*4 >= l.passed && q >= t/8 {
		l.opening, l.step = false, max(f/4, 1)
	}
	c.contest(now, q, f, lossy)
	draining := c.Drains()
	switch {
	case draining:
	case l.contested && lossy && !Deep:
		l.eighths = max(f*7/10, leastLimit)
	case l.contested && lossy, !l.contested && q > t:
		l.eighths = max(f*int64(c.base.value+l.noise+t/2)/int64(l.least), f/2, leastLimit)
		l.opening, l.step = false, eighths
	case !l.contested && (lossy && q > t/2 || l.marked > 0):
		l.eighths = max(f*7/8, leastLimit)
		l.opening, l.step = false, eighths
	case l.contested && l.full:
		l.eighths += min(Grow*eighths, l.eighths/4)
	case l.full && !l.opening:
		if q < t/2 && c.config.has(Velocity) {
			l.eighths += l.step
			l.step = min(l.step*2, l.eighths/2)
		} else {
			l.step = eighths
			l.eighths += l.step
		}
		l.step = max(l.step, min(eighths, l.eighths/4), 1)
	}
	if !c.config.has(Fraction) {
		l.eighths = max(l.eighths, floor)
	}
	l.lastLeast = l.least
	if Verbose {
		fmt.Printf("%7d least %d base %d q %d t %d F %.1f -> L %.1f step %.1f full %v lost %d/%d lossy %v contested %v row %d rises %d drain %v open %v rate %d\n", now/1000, l.least/1000, c.base.value/1000, q/1000, t/1000, float64(f)/8, float64(l.eighths)/8, float64(l.step)/8, l.full, l.lost, l.passed, lossy, l.contested, l.row, l.rises, draining, l.opening, c.PerSlice()/1000)
	}
	l.most, l.full, l.lost, l.passed, l.closesAt, l.marked = int64(c.flight)*eighths, false, 0, 0, 0, 0
	l.roundAt = now + l.latest
}

// contest finds out whether the queue is somebody else's: it does not answer to cuts.
func (c *Controller) contest(now machine.Micros, q machine.Micros, f int64, lossy bool) {
	l := &c.limit
	if !c.config.has(Contest) || c.base.drains() {
		return
	}
	t := c.target()
	if l.contested {
		if q > max(t, Calm) {
			l.calmRounds = 0
		} else if l.calmRounds++; l.calmRounds == 2 {
			c.endContest(now)
		}
		return
	}
	// Rising: someone fills the queue.
	least := l.least
	switch {
	case q <= t:
		l.rises = 0
	case l.rises == 0:
		l.rises, l.risesFrom = 1, least
	case least > l.lastLeast:
		l.rises++
	case least < l.lastLeast-max(5*ms, q/16):
		l.rises = 0
	}
	// It does not answer to cuts.
	band := max(Band, c.base.value/32)
	switch {
	case q <= t:
		l.row, l.flat = 0, 0
		return
	case l.row == 0:
		l.rowAt, l.rowLimit, l.rowLost, l.rowPassed, l.abrupt, l.flat = now, f, 0, 0, false, 0
	}
	l.row++
	l.rowLost += int64(l.lost)
	l.rowPassed += int64(l.passed)
	l.abrupt = l.abrupt || q > 2*t
	switch {
	case l.lost > 0:
	case l.flat > 0 && abs(least-l.rowLeast) <= band:
		l.flat++
	default:
		l.flat, l.rowLeast = 1, least
	}
	yielded := l.eighths <= max(l.rowLimit/2, floor)
	heavy := l.rowLost*4 >= l.rowPassed && l.rowLost > 8
	switch {
	case l.rises >= Rises && least >= l.risesFrom+max(t*RiseT/2, Rise):
		c.startContest(now, max(f, l.rowLimit/2))
	case yielded && l.flat >= Row && l.abrupt && int64(q)*1000*eighths > Crowd*max(f, floor)*c.PerSlice():
		if least-c.base.value <= c.base.value {
			l.noise = least - c.base.value
		} else {
			c.base.value, l.noise = least, 0
		}
		l.eighths = max(l.eighths, l.rowLimit*Restore/8)
		l.row, l.opening, l.step = 0, Reopen, max(l.eighths/4, 1)
	case yielded && l.rowLost == 0 && now-l.rowAt >= RowQuiet:
		c.startContest(now, max(f, l.rowLimit))
	case yielded && heavy && now-l.rowAt >= RowLossy:
		l.calmLost, l.calmPassed = l.rowLost, l.rowPassed
		c.startContest(now, max(f, l.rowLimit))
	}
}

// endContest: the queue was seen empty.
func (c *Controller) endContest(now machine.Micros) {
	c.limit.contested, c.limit.row, c.limit.rises = false, 0, 0
	c.base.drainAt = now + SoonDrain
}

// Marked takes so many marks of congestion (ECN).
func (c *Controller) Marked(n int) { c.limit.marked += n }

var Reopen = true
var Restore = int64(8)
var Crowd = int64(64)
var Rises = 8
var RiseT = machine.Micros(3)

var Spare = int64(2)
var RowQuiet = 8 * machine.Second

func abs(x machine.Micros) machine.Micros { return max(x, -x) }

var Band = 2 * ms

func (c *Controller) startContest(now machine.Micros, f int64) {
	l := &c.limit
	l.contested, l.calmRounds, l.row, l.rises = true, 0, 0, 0
	l.eighths = max(f, floor)
	c.base.until, c.base.drainAt = 0, now+contestDrain
}

var (
	contestDrain = 10 * machine.Second
	Row          = 4
	RowLossy     = 8 * machine.Second
	Calm         = 20 * ms
	Deep         = false
	Grow         = int64(1)
	Rise         = 25 * ms
)
