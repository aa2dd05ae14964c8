package statemachine

// InitialResendDelay stands in for a round-trip time while none is known
// (TMR-2).
const InitialResendDelay = 250 * Millisecond

// rttEstimator smooths round-trip times in integers (section 9.3).
type rttEstimator struct {
	smoothed  Micros
	variation Micros
	min       Micros // of clean samples only
	known     rttKnowledge
}

type rttKnowledge uint8

const (
	rttUnknown rttKnowledge = iota
	rttBounded              // from a slice that was resent: the true one is not larger
	rttMeasured
)

// clean takes a sample of a slice that was sent once (RTT-2).
func (e *rttEstimator) clean(r Micros) {
	if e.known != rttMeasured {
		*e = rttEstimator{smoothed: r, variation: r / 8, min: r, known: rttMeasured}
		return
	}
	e.min = min(e.min, r)
	e.smooth(r)
}

// smooth moves the estimate towards a sample (RTT-5). Lost acks make old slices
// look slow, so a sample counts for half as much again at the most; and when the
// path gets faster that is no reason to wait longer, so a fall widens nothing.
func (e *rttEstimator) smooth(r Micros) {
	d := min(r, e.smoothed*3/2) - e.smoothed
	if d >= 0 {
		e.variation += (d - e.variation) / 4
		e.smoothed += d / 8
	} else {
		e.variation += (min(-d, e.variation) - e.variation) / 4
		e.smoothed += d / 4
	}
}

// bound takes the time since the first transmission of a slice that was sent
// more often. It breaks the circle in which a timer shorter than the round trip
// makes every slice ambiguous, and the timer is never mended (RTT-4).
func (e *rttEstimator) bound(r Micros) {
	if e.known == rttUnknown {
		*e = rttEstimator{smoothed: r, variation: r / 8, known: rttBounded}
	}
}

// margin is how much later than the smoothed round trip an ack may come before
// its absence means something (TMR-3).
func (e *rttEstimator) margin() Micros {
	return max(5*Millisecond, e.smoothed/8, 4*e.variation)
}
