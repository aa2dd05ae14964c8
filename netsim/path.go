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
	maxBurst    = 1 << 30
	maxLossRun  = 1_000_000

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
	// bottleneck. Losses are independent, unless LossRun says otherwise.
	Loss float64

	// LossRun is how many datagrams in a row are lost, on average, where one is:
	// losses come in bursts (Gilbert), as many as Loss says. Zero means that they
	// are independent. The most is a million. If Loss leaves no room for gaps,
	// they are of one datagram, and Loss is less than it says.
	LossRun float64

	// Bad makes the link change between two states (Gilbert-Elliott): the good one,
	// in which Loss is the chance of a loss, and a bad one with a chance of its own.
	// It excludes LossRun.
	Bad BadState

	// Outage means that every datagram is lost behind the bottleneck, as with a Loss
	// of 100, but counted apart.
	Outage bool

	// Corrupt is the chance, in percent, that one bit of a datagram is flipped. A copy
	// made by Duplicate has the same fault.
	Corrupt float64

	// Duplicate is the chance, in percent, that a datagram arrives twice. The
	// copy is immediately behind the original, unless one of the two is held back.
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

	// Queue is how many bytes the queue before the bottleneck
	// holds, including Overhead and all of the datagram in service. Zero means
	// unlimited. A datagram that finds the bottleneck idle is always
	// accepted.
	Queue int

	// MarkAbove is how many bytes wait in the queue when a datagram that comes is
	// marked, as congestion experienced of RFC 3168: more than that. Zero means
	// that none is. A link does not know which datagrams allow it: the caller
	// does.
	MarkAbove int

	// AQM drops datagrams before the queue is full, or marks them. The queue drops
	// only what it has no room for without it.
	AQM AQM

	// AQMMarks means that the AQM marks the datagrams that allow it ([Link.SendECT]),
	// in place of dropping them. PIE drops them, too, above a chance of a tenth.
	AQMMarks bool

	// PoliceRate is the rate in bits per second above which a policer drops
	// datagrams before they come to the bottleneck. Zero means that there is
	// none.
	PoliceRate int64

	// PoliceBurst is how many bytes, including Overhead, the policer lets through
	// at once. What was used comes back at PoliceRate. A datagram that finds all
	// of it there is always accepted.
	PoliceBurst int

	// Tick is the time between two moments at which datagrams arrive: those that
	// come between, for whatever reason, wait for the next, a multiple of Tick.
	// Zero means that they arrive at any time.
	Tick time.Duration

	// Overhead is the number of bytes each datagram takes on the wire in
	// addition to its payload: 28 for IPv4 and UDP.
	Overhead int
}

// BadState is the bad state of a link whose losses follow the model of Gilbert and Elliott. All are
// chances in percent. A link begins in the good state, and each datagram can change it for the next.
// The link is bad for Enter/(Enter+Leave) of the datagrams, 100/Leave of them in a row on average.
type BadState struct {
	Enter float64 // that the link goes from good to bad; 0 for never
	Leave float64 // that it goes from bad to good
	Loss  float64 // that a datagram is lost while the link is bad
}

func (b BadState) validate() error {
	return errors.Join(
		within("Bad.Enter", b.Enter, 100),
		within("Bad.Leave", b.Leave, 100),
		within("Bad.Loss", b.Loss, 100),
	)
}

// Validate returns an error that names every field that is negative or too large,
// and what is allowed.
func (p Path) Validate() error {
	return errors.Join(
		within("Delay", p.Delay, maxDelay),
		within("Jitter", p.Jitter, maxDelay),
		within("Loss", p.Loss, 100),
		within("LossRun", p.LossRun, maxLossRun),
		p.Bad.validate(),
		p.oneModel(),
		within("Corrupt", p.Corrupt, 100),
		within("Duplicate", p.Duplicate, 100),
		within("Reorder", p.Reorder, 100),
		within("ReorderDelay", p.ReorderDelay, maxDelay),
		within("Rate", p.Rate, maxRate),
		within("Queue", p.Queue, math.MaxInt32),
		within("MarkAbove", p.MarkAbove, math.MaxInt32),
		p.AQM.validate(),
		within("PoliceRate", p.PoliceRate, maxRate),
		within("PoliceBurst", p.PoliceBurst, maxBurst),
		within("Tick", p.Tick, maxDelay),
		within("Overhead", p.Overhead, maxOverhead),
	)
}

// oneModel returns an error if there are two models of bursts.
func (p Path) oneModel() error {
	if p.LossRun != 0 && p.Bad != (BadState{}) {
		return fmt.Errorf("netsim: Path.LossRun is %v, allowed is 0 with Bad", p.LossRun)
	}
	return nil
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

// lossAfter returns the chance, in percent, that a datagram is lost in a state of the link, behind
// one that was lost, or was not.
func (p *Path) lossAfter(lost, bad bool) float64 {
	switch {
	case bad:
		return p.Bad.Loss
	case p.LossRun <= 1 || p.Loss == 100:
		return p.Loss
	case lost:
		return 100 - 100/p.LossRun
	}
	return min(100, 100*p.Loss/(100-p.Loss)/p.LossRun)
}

// onTick returns when what would arrive at a time does.
func (p *Path) onTick(at time.Duration) time.Duration {
	if p.Tick == 0 {
		return at
	}
	return (at + p.Tick - 1) / p.Tick * p.Tick
}

// badAfter returns the chance, in percent, that the link is bad for the datagram behind one for which
// it was bad, or was not.
func (p *Path) badAfter(bad bool) float64 {
	if bad {
		return 100 - p.Bad.Leave
	}
	return p.Bad.Enter
}
