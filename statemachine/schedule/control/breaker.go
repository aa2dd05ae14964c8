package control

import "github.com/chunkwire/chunkwire/core"

// Figures of the circuit breaker (RFC 8084).
const (
	breakAfter  = 10 * core.Second // of much loss
	breakPart   = 4                // much loss: more than a quarter
	breakSlices = 16               // of which it is told
)

// breaker stops growth where much is lost for long whatever is sent: there growth helps nobody.
type breaker struct {
	open         bool
	since        core.Micros // the latest time at which little was lost
	lost, passed int64       // slices, since the latest time at which either was told
}

// count takes what a timer gave up, and nothing can tell whether it was lost: the limit does not answer it.
func (b *breaker) count(lost int64) { b.lost, b.passed = b.lost+lost, b.passed+lost }

// judge takes what was lost since the latest decision.
func (b *breaker) judge(now core.Micros, l *limit) {
	b.lost, b.passed = b.lost+max(l.lost, 0), b.passed+max(l.passed, 0)
	if b.passed < breakSlices {
		return
	}
	if breakPart*b.lost <= b.passed {
		b.open, b.since = false, now
	} else if now-b.since >= breakAfter {
		b.open = true
		l.cut(leastLimit)
	}
	b.lost, b.passed = 0, 0
}
