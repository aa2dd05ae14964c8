package base

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// timerAt returns when the resend timer runs out; it matters only while
// everything that is not acked is in flight (TMR-1).
func (b *Scheduler) timerAt() core.Micros {
	switch {
	case b.unacked.Empty():
		return core.Never
	case b.held:
		return max(b.sentAt, b.heldAt) + b.holdDelay()
	}
	delay, margin := b.resendDelay()
	if b.backoff > 0 {
		// The estimate can be far too large where much is lost: it is worth one
		// long wait, but not another (TMR-5).
		delay = min(delay<<b.backoff, max(delay/8, slowestProbe))
	}
	return max(b.sentAt+delay, b.newsAt+margin)
}

// holdDelay returns how long after a probe the next one follows while the peer
// cannot take the chunk: a quarter of the time since the hold began, so that a
// reader that has become free is found soon, and probes are few (TMR-6).
func (b *Scheduler) holdDelay() core.Micros {
	if b.profile.ResendDelay > 0 {
		return b.profile.ResendDelay
	}
	least := slowestProbe
	if b.rtt.Known != rtt.Unknown {
		least = max(b.rtt.Smoothed, leastProbe)
	}
	return min(max(least, (b.sentAt-b.heldAt)/4), slowestProbe)
}

// resendDelay returns how long after a slice its ack is missing, and how much of
// that is margin (TMR-2, TMR-3).
func (b *Scheduler) resendDelay() (delay, margin core.Micros) {
	if b.profile.ResendDelay > 0 {
		return b.profile.ResendDelay, 0
	}
	return b.rtt.Delay()
}

// expire sends a few probes; their acks let the gap rule detect the remaining
// losses. It takes the newest slices first: the oldest can have arrived long ago,
// and the acks of the newest, if they were sent once, measure the round trip
// (TMR-4).
func (b *Scheduler) expire(now core.Micros) {
	b.stats.Timeouts++
	// Had the first transmissions arrived, more of them would have been acked by now.
	b.arrived = b.atBest
	b.findLost(now)
	b.backoff = min(b.backoff+1, maxBackoff)
	n := min(probes<<(b.backoff-1), b.unacked.Count())
	if b.held {
		n = 1
	}
	for range n {
		if b.probe = b.unacked.Prev(b.probe - 1); b.probe < 0 {
			b.probe = b.unacked.Prev(b.flight.NumSlices - 1)
		}
		b.lose(now, b.probe, eventlog.Timeout)
	}
}
