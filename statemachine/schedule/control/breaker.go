package control

import "github.com/chunkwire/chunkwire/core"

// Figures of the circuit breaker (RFC 8084; REC-10).
const (
	breakAfter  = 10 * core.Second // of much loss
	breakPart   = 4                // much loss: more than a quarter, though next to nothing is sent
	breakAny    = 2                // or more than half, which is never calm, at any limit
	breakSlices = 16               // of which it is told
)

// breaker stops growth where much is lost for long: there growth helps nobody (BRK-5).
type breaker struct {
	open         bool
	since        core.Micros // the latest time at which little was lost
	sinceAny     core.Micros // the latest time at which no more than half was lost
	lost, passed int64       // slices, since it was told the latest time
}

// count takes what a timer gave up, and nothing can tell whether it was lost: the limit does not answer it (SUS-4).
func (b *breaker) count(lost int64) { b.lost, b.passed = b.lost+lost, b.passed+lost }

// idle puts both times off: idle time is not counted.
func (b *breaker) idle(time core.Micros) { b.since, b.sinceAny = b.since+time, b.sinceAny+time }

// judge takes the losses since the latest decision (BRK-3, BRK-4).
func (b *breaker) judge(now core.Micros, l *limit) {
	b.lost, b.passed = b.lost+max(l.lost, 0), b.passed+max(l.passed, 0)
	if b.passed < breakSlices {
		return
	}
	if breakPart*b.lost <= b.passed {
		b.open, b.since = false, now
	}
	if breakAny*b.lost <= b.passed {
		b.sinceAny = now
	}
	if now-b.sinceAny >= breakAfter || now-b.since >= breakAfter && l.size <= twoSlices {
		b.open = true
		l.cut(leastLimit)
	}
	b.lost, b.passed = 0, 0
}
