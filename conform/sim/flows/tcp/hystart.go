package tcp

import (
	"math"

	"github.com/chunkwire/chunkwire/core"
)

// Figures of RFC 9406, 4.3. Its L, the most segments that count of one ack, is infinite for
// senders that pace; acks here are of few datagrams, and there is none.
const (
	leastRise     = 4 * core.Millisecond
	mostRise      = 16 * core.Millisecond
	riseDivisor   = 8
	roundSamples  = 8
	growthDivisor = 4
	cssRounds     = 5
)

// rise returns by how much the round trip must rise over one to end slow start.
func rise(over core.Micros) core.Micros {
	return min(max(over/riseDivisor, leastRise), mostRise)
}

// hystart is HyStart++: slow start that gets slower when the round trip rises, and ends if
// that was no accident.
type hystart struct {
	end           int64       // the round ends when this number is acked
	last, current core.Micros // the smallest round trips of the last round and of this one
	samples       int         // of this round
	rounds        int         // of conservative slow start (CSS); 0: it is not that
	baseline      core.Micros // the round trip that began it
}

const noSample = core.Micros(math.MaxInt64)

func newHystart() *hystart {
	h := new(hystart)
	h.begins()
	return h
}

func (h *hystart) begins() { *h = hystart{last: noSample, current: noSample} }

func (h *hystart) grows(n news, _ int64) (by int64, ends bool) {
	if n.top >= h.end {
		ends = h.turn(n.next)
	}
	if n.rtt > 0 {
		h.current = min(h.current, n.rtt)
		h.samples++
	}
	if h.samples >= roundSamples {
		h.judge()
	}
	if h.rounds > 0 {
		return n.n * one / growthDivisor, ends
	}
	return n.n * one, ends
}

// turn begins a round. It returns true at the end of conservative slow start.
func (h *hystart) turn(next int64) (ends bool) {
	h.end, h.last, h.current, h.samples = next, h.current, noSample, 0
	if h.rounds > 0 {
		h.rounds++
	}
	return h.rounds > cssRounds
}

// judge looks at the round trip of this round.
func (h *hystart) judge() {
	switch {
	case h.rounds > 0 && h.current < h.baseline:
		h.rounds, h.baseline = 0, 0
	case h.rounds == 0 && h.last != noSample && h.current >= h.last+rise(h.last):
		h.rounds, h.baseline = 1, h.current
	}
}
