package netsim

import "time"

// Arrivals holds when a datagram arrives: not at all, once or twice.
type Arrivals struct {
	at     [2]time.Duration
	n      int
	marked bool
}

// Len returns the number of arrivals: 0, 1 or 2.
func (a Arrivals) Len() int { return a.n }

// At returns the time of arrival i, counted from zero, on the clock that was
// given to [Link.Send]. The earlier arrival comes first. At panics unless
// 0 <= i < Len().
func (a Arrivals) At(i int) time.Duration { return a.at[:a.n][i] }

// Marked reports whether the datagram arrives with a mark (see [Path.MarkAbove]).
func (a Arrivals) Marked() bool { return a.marked }
