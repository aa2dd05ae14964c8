package control

import "github.com/chunkwire/chunkwire/core"

// Figures of the answer to loss (REC-10). Calm loss is counted in sixteenths of a slice.
const (
	priorLost, priorPassed = 2, 32 // sixteenths of a slice, of so many slices: 1 in 256
	calmMost               = 8192  // slices of which the calm loss is counted
	calmPart               = 2     // calm loss is a half at most
	sumMost                = 64    // slices of which losses are summed
	variances              = 18    // three standard deviations, of losses that come in pairs
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
	before               before // the latest cut for loss, until its look is over
	sumLost, sumPassed   int64  // slices, since the latest cut for loss
	calmLost, calmPassed int64  // sixteenths of a slice, at a lower rate
}

// before is the state before a cut for loss; size 0: nothing that can be undone.
type before struct {
	size, ceiling, lost, passed int64
	opening                     bool
}

// mayTell reports whether so many slices at a lower rate can tell whether they are lost as those before the cut: by
// then four of them would be, or are (LSS-3).
func (b *before) mayTell(lost, passed int64) bool {
	return b.size == 0 || passed*b.lost >= part*b.passed || lost >= part
}

// forget knows nothing of calm loss again (LSS-8).
func (a *answer) forget() { a.calmLost, a.calmPassed = 0, 0 }

// keep notes what is before a cut (LSS-5).
func (a *answer) keep(l *limit) {
	a.before = before{l.size, l.ceiling, a.sumLost, a.sumPassed, l.opening}
}

// judgeLoss reports whether more was lost than does not depend on the rate, and learns how much
// that is: from what went out just after a cut (LSS-2 to LSS-4). A queue of t is the target.
func (c *Controller) judgeLoss(t core.Micros) (lossy bool) {
	l, a := &c.limit, &c.loss
	lost, passed, short := max(l.lost, 0), max(l.passed, 0), l.isShort(t)
	if a.phase == recovers { // LSS-2
		a.phase, l.marked = looks, 0
		return false
	}
	a.sumLost, a.sumPassed = a.sumLost+lost, a.sumPassed+passed
	if a.phase == looks { // LSS-3
		if !a.before.mayTell(a.sumLost, a.sumPassed) {
			return false
		}
		a.phase = steady
		c.look(a.sumLost, a.sumPassed, short)
		a.sumLost, a.sumPassed, a.before = 0, 0, before{}
		return false
	}
	if a.exceeds(a.sumLost, a.sumPassed, l.opening, false) {
		return true
	}
	for a.sumPassed > sumMost {
		a.sumLost, a.sumPassed = a.sumLost/2, a.sumPassed/2
	}
	if l.size <= l.low+l.low/part {
		a.learn(lost, passed, short)
	}
	return false
}

// isShort reports whether slices hardly waited: not for long on average, and some of them not at all (DCS-7). A queue
// that does not empty within a round trip is full, however short it is. t is the target.
func (l *limit) isShort(t core.Micros) bool {
	if l.samples == 0 {
		return false
	}
	stands := l.samples >= part && 2*l.leastWait > l.waits/l.samples && l.leastWait > t/part/part
	return !stands && l.waits/l.samples <= t/part
}

// look ends the experiment of a cut, and learns of it (LSS-3). The cut was in vain, and is taken back, if the loss
// before it is no more than is now expected; or than a half, if the same is lost after it though there is no queue:
// then what was lost before it was calm, too. Calm loss that is gone at a lower rate was none.
func (c *Controller) look(lost, passed int64, short bool) {
	l, a, b := &c.limit, &c.loss, c.loss.before
	same := b.size > 0 && short && passed > 0 && part*b.lost >= b.passed && part*lost*b.passed >= (part-1)*b.lost*passed
	if same {
		a.learn(b.lost, b.passed, short)
	}
	if p, all := a.calm(); passed*p >= part*all && 2*lost*all < passed*p {
		a.forget()
	}
	a.learn(lost, passed, short)
	if b.size > 0 && !c.breaker.open && !a.exceeds(b.lost, b.passed, l.opening, same) {
		l.size, l.ceiling, l.opening = max(l.size, b.size), b.ceiling, b.opening
	}
}

// learn counts loss at a lower rate. With a queue more loss than is expected may be that of the queue: it says
// nothing (LSS-6).
func (a *answer) learn(lost, passed int64, short bool) {
	if p, all := a.calm(); !short && lost*all > passed*p {
		return
	}
	a.calmLost, a.calmPassed = a.calmLost+16*lost, a.calmPassed+16*passed
	if a.calmPassed > 16*calmMost {
		a.calmLost, a.calmPassed = a.calmLost/2, a.calmPassed/2
	}
}

// calm returns the calm loss, p of b (LSS-1).
func (a *answer) calm() (p, b int64) {
	p, b = a.calmLost+priorLost, a.calmPassed+16*priorPassed
	return min(p, b/calmPart), b
}

// exceeds reports whether more was lost than is to be expected at any rate, by three standard
// deviations (LSS-1).
func (a *answer) exceeds(lost, passed int64, opening, same bool) bool {
	p, b := a.calm()
	if opening {
		p = max(p, b/smallPart)
	}
	if same { // as before a cut: then up to a half is calm
		p = b / calmPart
	}
	expected := whole * passed * p / b
	beyond := whole*lost - expected
	return beyond > 0 && beyond*beyond > variances*whole*(expected*(b-p)/b)
}
