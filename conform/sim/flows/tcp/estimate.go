package tcp

import "github.com/chunkwire/chunkwire/core"

// Figures of RFC 6298. The least margin is that of Linux: 200 ms over the smoothed round
// trip, not in all.
const (
	firstTimeout   = core.Second
	leastMargin    = 200 * core.Millisecond
	longestTimeout = 120 * core.Second
)

// estimate is the round trip of RFC 6298.
type estimate struct {
	smoothed, variation core.Micros
	least, latest       core.Micros // of all samples; the last one
}

// known reports whether there was a sample.
func (e *estimate) known() bool { return e.smoothed > 0 }

// sample takes a round trip.
func (e *estimate) sample(r core.Micros) {
	r = max(r, 1)
	e.latest = r
	if !e.known() {
		e.smoothed, e.variation, e.least = r, r/2, r
		return
	}
	e.least = min(e.least, r)
	e.variation += (max(e.smoothed-r, r-e.smoothed) - e.variation) / 4
	e.smoothed += (r - e.smoothed) / 8
}

// timeout returns the retransmission timeout after so many in a row.
func (e *estimate) timeout(inRow int) core.Micros {
	t := firstTimeout
	if e.known() {
		t = e.smoothed + max(leastMargin, 4*e.variation)
	}
	return min(t<<min(inRow, 16), longestTimeout)
}
