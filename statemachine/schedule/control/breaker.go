package control

import "github.com/chunkwire/chunkwire/core"

// breaker is a circuit breaker (RFC 8084): it stops growth where more than the most that can be calm is lost for
// long: there growth helps nobody (BRK-5).
type breaker struct {
	open         bool
	since        core.Micros // the latest time at which no more was lost
	lost, passed int64       // slices, since it was told the latest time
}

// count takes what a timer gave up, and nothing can tell whether it was lost: the limit does not answer it (SUS-4).
func (b *breaker) count(lost int64) { b.lost, b.passed = b.lost+lost, b.passed+lost }

// judge takes the losses since the latest decision (BRK-3, BRK-4).
func (b *breaker) judge(now core.Micros, l *limit) {
	b.lost, b.passed = b.lost+max(l.lost, 0), b.passed+max(l.passed, 0)
	if b.passed < sumMost {
		return
	}
	if calmPart*b.lost <= b.passed {
		b.open, b.since = false, now
	}
	if now-b.since >= life {
		b.open = true
		l.cut(leastLimit)
	}
	b.lost, b.passed = 0, 0
}
