package statemachine

const (
	// InitialResendDelay is the resend delay while nothing better is known of the
	// round trip (TMR-2).
	InitialResendDelay = 250 * Millisecond
	// LongestResendDelay is the longest, however slow the path (TMR-2).
	LongestResendDelay = 3 * Second
)

// rttEstimator smooths round-trip times in integers (section 9.3).
type rttEstimator struct {
	smoothed  Micros
	variation Micros
	min       Micros // of clean samples only
	known     rttKnowledge
	bound     Micros // the smallest bound found until it is measured; 0 when there is none
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
// look slow, so a sample counts for little more than half as much again; and when
// the path gets faster that is no reason to wait longer, so a fall widens nothing.
func (e *rttEstimator) smooth(r Micros) {
	d := min(r, e.smoothed*3/2+Millisecond) - e.smoothed
	if d >= 0 {
		e.variation += (d - e.variation) / 4
		e.smoothed += d / 8
	} else {
		e.variation += (min(-d, e.variation) - e.variation) / 4
		e.smoothed += d / 4
	}
}

// boundedBy takes the time since the first transmission of a slice that was sent
// more often: the true round trip is not larger (RTT-4).
func (e *rttEstimator) boundedBy(r Micros) {
	if e.bound == 0 || r < e.bound {
		e.bound = r
	}
}

// startChunk uses the smallest bound that was found, if nothing better is known.
// Without it, a timer shorter than the round trip would make every slice of
// every chunk ambiguous (RTT-6).
func (e *rttEstimator) startChunk() {
	if e.known != rttMeasured && e.bound > 0 {
		*e = rttEstimator{smoothed: e.bound, variation: e.bound / 16, bound: e.bound, known: rttBounded}
	}
}

// margin is how much later than the smoothed round trip an ack may come before
// its absence means something (TMR-3).
func (e *rttEstimator) margin() Micros {
	return max(5*Millisecond, e.smoothed/8, 4*e.variation)
}
