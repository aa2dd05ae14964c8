package netsim

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// The limits below are far beyond any use; they keep sums from
	// overflowing.
	maxDelay    = 24 * time.Hour
	maxRate     = 1_000_000_000_000_000 // bits per second
	maxOverhead = 1 << 16

	// defaultReorderDelay stands in for a ReorderDelay of zero. It is enough
	// for about ten full datagrams to overtake at 100 Mbit/s.
	defaultReorderDelay = time.Millisecond
)

// Path describes one direction of a network. The zero value is a perfect wire:
// no delay, no limit, no fault.
//
// Only Reorder changes the order of datagrams. Jitter does not, and neither
// does a change to a shorter Delay: a datagram never arrives before an earlier
// one that was not held back.
type Path struct {
	// Delay is the propagation delay in this direction, 0 to 24 hours.
	Delay time.Duration

	// Jitter is the most extra delay a datagram gets. Each draws its own,
	// uniform in [0, Jitter], then waits for those ahead of it.
	Jitter time.Duration

	// Loss is the chance, in percent, that a datagram is lost behind the
	// bottleneck. Losses are independent. 100 is an outage.
	Loss float64

	// Duplicate is the chance, in percent, that a datagram arrives twice. The
	// copy is right behind the original, unless one of the two is held back.
	Duplicate float64

	// Reorder is the chance, in percent, that a datagram is held back by
	// ReorderDelay, so that later ones overtake it. A copy made by Duplicate has
	// its own chance.
	Reorder float64

	// ReorderDelay is how long a datagram is held back. Zero means one
	// millisecond, as holding it back for no time would not reorder.
	ReorderDelay time.Duration

	// Rate is the speed of the bottleneck in bits per second. Zero means
	// unlimited.
	Rate int64

	// Queue is how many bytes the drop-tail queue before the bottleneck
	// holds, including Overhead and all of the datagram in service. Zero means
	// unlimited. A datagram that finds the bottleneck idle is always
	// accepted.
	Queue int

	// Overhead is the number of bytes each datagram takes on the wire in
	// addition to its payload: 28 for IPv4 and UDP.
	Overhead int
}

// Validate returns an error that names every field that is negative or too large,
// and what is allowed.
func (p Path) Validate() error {
	return errors.Join(
		within("Delay", p.Delay, maxDelay),
		within("Jitter", p.Jitter, maxDelay),
		within("Loss", p.Loss, 100),
		within("Duplicate", p.Duplicate, 100),
		within("Reorder", p.Reorder, 100),
		within("ReorderDelay", p.ReorderDelay, maxDelay),
		within("Rate", p.Rate, maxRate),
		within("Queue", p.Queue, math.MaxInt32),
		within("Overhead", p.Overhead, maxOverhead),
	)
}

func within[T ~int | ~int64 | ~float64](name string, value, most T) error {
	if !(value >= 0 && value <= most) { // so that NaN is refused
		return fmt.Errorf("netsim: Path.%s is %v, allowed is 0 to %v", name, value, most)
	}
	return nil
}

// holdBack returns how long a reordered datagram is held back.
func (p Path) holdBack() time.Duration {
	if p.ReorderDelay == 0 {
		return defaultReorderDelay
	}
	return p.ReorderDelay
}
