package chunkoracle

// roundTrip is what the base algorithm knows of the round trip: the variables of appendix G.2,
// and what follows from them.
type roundTrip struct {
	srtt, rttvar  int64
	minRTT, bound int64
	known         string // nothing, a bound, or a measurement
}

const (
	nothing  = ""
	aBound   = "bound"
	measured = "measured"
)

// clip is RTT-7.
func clip(r int64) int64 { return min(r, 1<<40) }

// measure is the rest of RTT-2.
func (m *roundTrip) measure(r int64) {
	if m.known == measured {
		m.minRTT = min(m.minRTT, r)
		m.smooth(r)
		return
	}
	m.srtt, m.rttvar, m.minRTT, m.known = r, r/8, r, measured
}

// smooth is RTT-5.
func (m *roundTrip) smooth(r int64) {
	d := min(r, m.srtt*3/2+1000) - m.srtt
	if d >= 0 {
		m.rttvar += (d - m.rttvar) / 4
		m.srtt += d / 8
	} else {
		m.rttvar += (min(-d, m.rttvar) - m.rttvar) / 4
		m.srtt += d / 4
	}
}

// useBound is RTT-6.
func (m *roundTrip) useBound() {
	if m.known != measured && m.bound != never {
		m.srtt, m.rttvar, m.known = m.bound, m.bound/16, aBound
	}
}

// baseDelay returns the base delay and the margin: TMR-2 and TMR-3 without a fixed
// delay.
func (m *roundTrip) baseDelay() (delay, margin int64) {
	if m.known == nothing {
		return 250_000, 0
	}
	v := max(5000, m.srtt/8, 4*m.rttvar)
	delay = min(m.srtt+v, 3_000_000)
	return delay, min(v, delay)
}
