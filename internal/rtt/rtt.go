// Package rtt estimates the round-trip time of a path in integers, as appendix
// G.2 of spec/PROTOCOL.md does. Which packets give a sample is the caller's to
// decide.
package rtt

import "github.com/chunkwire/chunkwire/core"

const (
	// InitialDelay is how long a sender waits for an ack while nothing is known of
	// the round trip (TMR-2).
	InitialDelay = 250 * core.Millisecond
	// LongestDelay is the longest wait, however slow the path (TMR-2).
	LongestDelay = 3 * core.Second
	// longestSample keeps the arithmetic within 64 bits: about 12 days (RTT-7).
	longestSample = 1 << 40
)

// Knowledge is what is known of the round trip.
type Knowledge uint8

const (
	Unknown  Knowledge = iota // nothing
	Bounded                   // it is not longer than the estimate
	Measured                  // there was an unambiguous sample
)

// Estimator smooths round-trip times. The zero value knows nothing.
type Estimator struct {
	Smoothed  core.Micros // the estimate; 0 while nothing is known
	Variation core.Micros
	Known     Knowledge
	bound     core.Micros // one more than the smallest found until it is measured; 0: none
}

// Clip returns a sample as the estimator takes it (RTT-7).
func Clip(r core.Micros) core.Micros { return min(r, longestSample) }

// Sample takes an unambiguous sample: the first one sets the estimate (RTT-2).
func (e *Estimator) Sample(r core.Micros) {
	if e.Known == Measured {
		e.Smooth(r)
		return
	}
	r = Clip(r)
	*e = Estimator{Smoothed: r, Variation: r / 8, Known: Measured}
}

// Smooth moves the estimate towards a sample (RTT-5). Lost acks inflate samples,
// so a sample counts for at most half as much again as the estimate. A round trip
// that falls never increases the variation.
func (e *Estimator) Smooth(r core.Micros) {
	d := min(Clip(r), e.Smoothed*3/2+core.Millisecond) - e.Smoothed
	if d >= 0 {
		e.Variation += (d - e.Variation) / 4
		e.Smoothed += d / 8
	} else {
		e.Variation += (min(-d, e.Variation) - e.Variation) / 4
		e.Smoothed += d / 4
	}
}

// Bound takes the time since the first transmission of a packet that was sent
// more than once: the round trip is not longer (RTT-4).
func (e *Estimator) Bound(r core.Micros) {
	if r = Clip(r) + 1; e.bound == 0 || r < e.bound {
		e.bound = r
	}
}

// UseBound makes the smallest bound the estimate if nothing better is known.
// Without it, a timer shorter than the round trip would make every sample
// ambiguous (RTT-6).
func (e *Estimator) UseBound() {
	if e.Known != Measured && e.bound > 0 {
		e.Smoothed, e.Variation, e.Known = e.bound-1, (e.bound-1)/16, Bounded
	}
}

// Delay returns after how long an ack is missing, and how much of that is margin
// over the estimate (TMR-2, TMR-3).
func (e *Estimator) Delay() (delay, margin core.Micros) {
	if e.Known == Unknown {
		return InitialDelay, 0
	}
	margin = max(5*core.Millisecond, e.Smoothed/8, 4*e.Variation)
	delay = min(e.Smoothed+margin, LongestDelay)
	return delay, min(margin, delay)
}
