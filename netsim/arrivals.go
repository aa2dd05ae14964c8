package netsim

import "time"

// Arrivals holds when a datagram arrives: not at all, once or twice.
type Arrivals struct {
	at     [2]time.Duration
	n      int
	marked bool
	flip   int // one more than the bit that is flipped; 0 for none
}

// Len returns the number of arrivals: 0, 1 or 2.
func (a Arrivals) Len() int { return a.n }

// Flipped returns which bit of the payload is flipped on the way (see [Path.Corrupt]): bit 0 is the lowest
// of the first byte, bit 8 the lowest of the second.
func (a Arrivals) Flipped() (bit int, ok bool) { return a.flip - 1, a.flip > 0 }

// apply flips the bit that is flipped.
func (a Arrivals) apply(payload []byte) {
	if bit, ok := a.Flipped(); ok {
		payload[bit/8] ^= 1 << (bit % 8)
	}
}

// At returns the time of arrival i, counted from zero, on the clock that was
// given to [Link.Send]. The earlier arrival comes first. At panics unless
// 0 <= i < Len().
func (a Arrivals) At(i int) time.Duration { return a.at[:a.n][i] }

// Marked reports whether the datagram arrives with a mark (see [Path.MarkAbove]).
func (a Arrivals) Marked() bool { return a.marked }
