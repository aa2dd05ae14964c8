package recoveryoracle

// The constants of the round trip: microseconds (PROTOCOL.md, G.6).
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

// RoundTrip is the estimate of the round trip (PROTOCOL.md, G.2).
type RoundTrip struct {
	known        string
	srtt, rttvar int64
	bound        int64 // never: none
}

// NewRoundTrip is the estimate of who knows nothing.
func NewRoundTrip() RoundTrip { return RoundTrip{known: nothing, bound: never} }

// limited is RTT-7.
func limited(r int64) int64 { return min(r, LongestSample) }

// UseBound is RTT-6.
func (e *RoundTrip) UseBound() {
	if e.known != measured && e.bound != never {
		e.known, e.srtt, e.rttvar = aBound, e.bound, e.bound/16
	}
}

// FindBound is RTT-4.
func (e *RoundTrip) FindBound(r int64) { e.bound = min(e.bound, limited(r)) }

// SRTT is the estimate, 0 while nothing is known.
func (e *RoundTrip) SRTT() int64 { return e.srtt }

// IsMeasured says that the round trip was measured.
func (e *RoundTrip) IsMeasured() bool { return e.known == measured }

// IsUnknown says that nothing is known.
func (e *RoundTrip) IsUnknown() bool { return e.known == nothing }

// Measure is the rest of RTT-2.
func (e *RoundTrip) Measure(r int64) {
	r = limited(r)
	if e.known != measured {
		e.known, e.srtt, e.rttvar = measured, r, r/8
		return
	}
	e.Follow(r)
}

// Follow is RTT-5.
func (e *RoundTrip) Follow(r int64) {
	r = limited(r)
	d := min(r, e.srtt*3/2+SampleSlack) - e.srtt
	if d >= 0 {
		e.rttvar += (d - e.rttvar) / 4
		e.srtt += d / 8
	} else {
		e.rttvar += (min(-d, e.rttvar) - e.rttvar) / 4
		e.srtt += d / 4
	}
}

// Delays are the base delay and the margin (TMR-2, TMR-3).
func (e *RoundTrip) Delays() (delay, margin int64) {
	if e.known == nothing {
		return InitialDelay, 0
	}
	v := max(LeastMargin, e.srtt/8, 4*e.rttvar)
	delay = min(e.srtt+v, LongestDelay)
	return delay, min(v, delay)
}
