package statemachine

import "github.com/chunkwire/chunkwire/codec"

// Acked takes news (SCH-8): the round trip first, since it tells which
// transmission of a resent slice has arrived.
func (b *Base) Acked(now Micros, news codec.Bitset) {
	b.progressAt, b.backoff, b.probe = now, 0, b.numSlices
	b.sampleRTT(now, news)
	var bytes int64
	for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
		b.newestArrived = max(b.newestArrived, b.arrived(now, id))
		bytes += b.cost(id)
	}
	b.unacked = b.unacked.Minus(news)
	b.due = b.due.Minus(news)
	b.release(now)
	b.findLost(now)
	b.budget.refill(now)
	b.budget.acked(bytes)
}

// Held stops everything but a single probe each time the timer runs out: what is
// sent to a peer that cannot take it is wasted (SCH-10).
func (b *Base) Held(Micros) {
	b.held = true
	b.due = codec.Bitset{}
}

// release lets the slices go that a hold has kept from their first transmission;
// what was sent while it lasted is the gap rule's to find.
func (b *Base) release(now Micros) {
	if !b.held {
		return
	}
	b.held = false
	for id := b.unacked.Next(0); id >= 0; id = b.unacked.Next(id + 1) {
		if b.slices[id].first == 0 {
			b.makeDue(now, id)
		}
	}
}

// sampleRTT takes at most one sample from an ack: of the newest slice that was
// sent once, or else of the newest resent one whose latest transmission can
// have arrived, or else, while nothing was measured, a bound (RTT-1 to RTT-4).
func (b *Base) sampleRTT(now Micros, news codec.Bitset) {
	once, again, bound := -1, -1, -1
	for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
		switch t := &b.slices[id]; {
		case !t.resent():
			once = b.newer(once, id)
		case b.rtt.known == rttMeasured && now-t.lastAt >= b.rtt.min:
			again = b.newer(again, id)
		default:
			bound = b.newer(bound, id)
		}
	}
	switch {
	case once >= 0:
		b.rtt.clean(now - b.slices[once].lastAt)
		b.tell(MeasuredRTT, now, once, now-b.slices[once].lastAt)
	case again >= 0:
		b.rtt.smooth(now - b.slices[again].lastAt)
		b.tell(MeasuredRTT, now, again, now-b.slices[again].lastAt)
	case b.rtt.known != rttMeasured:
		b.rtt.boundedBy(now - b.slices[bound].firstAt)
	}
}

// newer returns which of two slices was sent later; -1 stands for none.
func (b *Base) newer(a, id int) int {
	if a >= 0 && b.slices[a].last > b.slices[id].last {
		return a
	}
	return id
}

// arrived returns the number of the transmission of a newly acked slice that
// has arrived (GAP-1).
func (b *Base) arrived(now Micros, id int) uint32 {
	t := &b.slices[id]
	b.newestAtBest = max(b.newestAtBest, t.last)
	switch {
	case !t.resent():
		return t.last
	case b.rtt.known == rttMeasured && now-t.lastAt < b.rtt.min:
		// An ack cannot be faster than any before: the resend was not needed.
		b.stats.Spurious++
		b.tell(Spurious, now, id, 0)
		return t.first
	case b.rtt.known != rttMeasured:
		return t.first // it can be either: this one claims less
	}
	return t.last
}

// findLost makes due every slice in flight that later transmissions have
// overtaken (GAP-2).
func (b *Base) findLost(now Micros) {
	flying := b.unacked.Minus(b.due)
	for id := flying.Next(0); id >= 0; id = flying.Next(id + 1) {
		if b.slices[id].last+gapThreshold <= b.newestArrived {
			b.stats.Lost++
			b.makeDue(now, id)
		}
	}
}
