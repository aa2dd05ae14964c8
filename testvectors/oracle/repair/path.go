package repair

// The constants of the round trip: microseconds (PROTOCOL.md, 9.7).
const (
	InitialDelay  = 250_000
	LongestDelay  = 3_000_000
	LeastMargin   = 5000
	SampleSlack   = 1000
	LongestSample = 1 << 40
)

// What is known of the round trip (SCH-11).
const (
	nothing  = "nothing"
	aBound   = "a bound"
	measured = "measured"
)

// roundTrip is the estimate of the round trip (PROTOCOL.md, 9.3).
type roundTrip struct {
	known        string
	srtt, rttvar int64
	bound        int64 // never: none
}

// limited is RTT-7.
func limited(r int64) int64 { return min(r, LongestSample) }

// start is RTT-6.
func (e *roundTrip) start() {
	if e.known != measured && e.bound != never {
		e.known, e.srtt, e.rttvar = aBound, e.bound, e.bound/16
	}
}

// findBound is RTT-4.
func (e *roundTrip) findBound(r int64) { e.bound = min(e.bound, limited(r)) }

// smooth is the rest of RTT-2.
func (e *roundTrip) smooth(r int64) {
	if e.known != measured {
		e.known, e.srtt, e.rttvar = measured, r, r/8
		return
	}
	d := min(r, e.srtt*3/2+SampleSlack) - e.srtt
	if d >= 0 {
		e.rttvar += (d - e.rttvar) / 4
		e.srtt += d / 8
	} else {
		e.rttvar += (min(-d, e.rttvar) - e.rttvar) / 4
		e.srtt += d / 4
	}
}

// delays are the base delay and the margin (TMR-2, TMR-3).
func (e *roundTrip) delays() (delay, margin int64) {
	if e.known == nothing {
		return InitialDelay, 0
	}
	v := max(LeastMargin, e.srtt/8, 4*e.rttvar)
	delay = min(e.srtt+v, LongestDelay)
	return delay, min(v, delay)
}
