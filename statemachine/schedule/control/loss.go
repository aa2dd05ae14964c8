package control

import "github.com/chunkwire/chunkwire/core"

// Figures of the answer to loss (REC-10). Calm loss is counted in sixteenths of a slice.
const (
	priorLost, priorPassed = 2, 32 // sixteenths of a slice, of so many slices: 1 in 256
	calmMost               = 8192  // slices of which the calm loss is counted
	capPart                = 2     // calm loss is a half at most
	openPart               = 8     // an eighth may be lost while opening
	deepPart               = 64    // and a 64th where the queue was seen to hold more
	sumMost                = 64    // slices of which losses are summed
	spreadMost             = 4     // losses come in runs of two or three at most
	spreadPart             = 8
	emptyPart              = 16 // a queue of less than a sixteenth of the round trip does not count
)

// The phases of the answer to a loss.
const (
	steady   = iota
	recovers // what is found lost now went out before the cut
	looks    // what is found lost now went out after it: at the lower rate
)

// answer tells loss that comes from the rate from loss that does not. Each cut is an experiment: what is
// lost after it is calm loss.
type answer struct {
	phase                int
	before               before      // the latest cut for loss, until its look is over
	sumLost, sumPassed   int64       // slices, since the latest cut for loss
	calmLost, calmPassed int64       // sixteenths of a slice, at a lower rate
	spread               int64       // sixteenths: variance of calm loss over that of independent losses
	deepUntil            core.Micros // the queue was seen to hold more than the target
}

// before is the state before a cut for loss; size 0: nothing that can be undone.
type before struct {
	size, ceiling, lost, passed int64
	opening                     bool
}

func newAnswer() answer { return answer{spread: 16} }

// forget knows nothing of calm loss again (LSS-8).
func (a *answer) forget() { a.calmLost, a.calmPassed, a.spread = 0, 0, 16 }

// keep notes what is before a cut (LSS-5).
func (a *answer) keep(l *limit) {
	a.before = before{l.size, l.ceiling, a.sumLost, a.sumPassed, l.opening}
}

// judgeLoss reports whether more was lost than does not depend on the rate, and learns how much
// that is: from what went out just after a cut (LSS-2 to LSS-4).
func (c *Controller) judgeLoss(now, q, t core.Micros) (lossy bool) {
	l, a := &c.limit, &c.loss
	empty := l.samples > 0 && l.waits/l.samples <= max(ms, c.base.value/emptyPart)
	lost, passed := max(l.lost, 0), max(l.passed, 0)
	switch a.phase {
	case recovers: // LSS-2
		a.phase, l.marked = looks, 0
		return false
	case looks: // LSS-3
		a.phase = steady
		a.learn(lost, passed, empty)
		b := &a.before
		if a.sumLost, a.sumPassed = b.lost, b.passed; b.size > 0 && !c.breaker.open && !a.exceeds(l.opening, false) {
			l.size, l.ceiling, l.opening = max(l.size, b.size), b.ceiling, b.opening // the cut was in vain
		}
		a.sumLost, a.sumPassed, a.before = 0, 0, before{}
		return false
	}
	a.sumLost, a.sumPassed = a.sumLost+lost, a.sumPassed+passed
	if a.exceeds(l.opening, now < a.deepUntil && !l.others && q <= t) {
		return true
	}
	if q > t {
		a.deepUntil = now + deepLife
	}
	for a.sumPassed > sumMost {
		a.sumLost, a.sumPassed = a.sumLost/2, a.sumPassed/2
	}
	if l.size <= l.low*5/4 {
		a.learn(lost, passed, empty)
	}
	return false
}

// learn counts loss at a lower rate, and how unevenly it comes. With a queue more loss than is expected may
// be that of the queue: it says nothing (LSS-6).
func (a *answer) learn(lost, passed int64, empty bool) {
	p, b := a.calm()
	beyond, expected := compare(lost, passed, p, b)
	switch {
	case !empty && beyond > 0:
		return
	case empty && expected >= whole && capPart*p < b: // at the cap the mean is not that of the losses
		a.spread += (min(max(beyond*beyond/(4*expected), 16), 16*spreadMost) - a.spread) / spreadPart
	}
	a.calmLost, a.calmPassed = a.calmLost+16*lost, a.calmPassed+16*passed
	if a.calmPassed > 16*calmMost {
		a.calmLost, a.calmPassed = a.calmLost/2, a.calmPassed/2
	}
}

// calm returns the calm loss, p of b (LSS-1).
func (a *answer) calm() (p, b int64) {
	p, b = a.calmLost+priorLost, a.calmPassed+16*priorPassed
	return min(p, b/capPart), b
}

// exceeds reports whether more was lost than is to be expected at any rate, by three standard
// deviations (LSS-1).
func (a *answer) exceeds(opening, deep bool) bool {
	p, b := a.calm()
	if opening {
		p = max(p, b/openPart)
	}
	if deep {
		p = max(p, b/deepPart)
	}
	beyond, expected := compare(a.sumLost, a.sumPassed, p, b)
	return beyond > 0 && beyond*beyond > 36*a.spread*expected // nine variances, in 64ths and sixteenths
}

// compare returns by how much more was lost than p of b, and how much that is, in 64ths of a slice.
func compare(lost, passed, p, b int64) (beyond, expected int64) {
	expected = whole * passed * p / b
	return whole*lost - expected, expected
}
