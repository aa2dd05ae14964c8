package statemachine

// resendAt returns when the resend timer runs out; it is set only while
// everything that is not acked is in flight (TMR-1).
func (b *Base) resendAt() Micros {
	if b.unacked.Empty() {
		return Never
	}
	delay, margin := b.resendDelay()
	if b.backoff > 0 {
		// The estimate may be far too large where much is lost: it is worth one
		// long wait, but not another.
		delay = min(delay<<b.backoff, max(delay/8, slowestProbe))
	}
	return max(b.lastSentAt+delay, b.progressAt+margin)
}

// resendDelay returns how long after a slice its ack is missed, and how much of
// that is margin (TMR-2, TMR-3).
func (b *Base) resendDelay() (delay, margin Micros) {
	switch {
	case b.profile.ResendDelay > 0:
		return b.profile.ResendDelay, 0
	case b.rtt.known == rttUnknown:
		return InitialResendDelay, 0
	}
	margin = b.rtt.margin()
	delay = min(b.rtt.smoothed+margin, LongestResendDelay)
	return delay, min(margin, delay)
}

// timeOut resends as little as tells more: the news that it brings lets the gap
// rule find whatever else was lost. It takes the newest slices first: the oldest
// may have arrived long ago, and their acks, if they were sent once, measure the
// round trip (TMR-4).
func (b *Base) timeOut(now Micros) {
	b.stats.Timeouts++
	// Had the first transmissions arrived, more of them would have shown by now.
	b.newestArrived = b.newestAtBest
	b.findLost(now)
	b.backoff = min(b.backoff+1, maxBackoff)
	n := min(probes<<(b.backoff-1), b.unacked.Count())
	if b.held {
		n = 1
	}
	for range n {
		if b.probe = b.unacked.Prev(b.probe); b.probe < 0 {
			b.probe = b.unacked.Prev(b.numSlices)
		}
		b.makeDue(now, b.probe)
	}
}
