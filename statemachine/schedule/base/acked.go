package base

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Acked takes newly acked slices (SCH-8): the round trip first, since it decides
// which transmission of a resent slice has arrived.
func (b *Scheduler) Acked(now core.Micros, p statemachine.Progress) {
	news := p.News
	b.newsAt, b.backoff, b.probe = now, 0, b.flight.NumSlices
	b.sampleRTT(now, news)
	var bytes int64
	for id := range news.All() {
		b.arrived = max(b.arrived, b.arrivedAs(now, id))
		bytes += b.cost(id)
	}
	b.unacked = b.unacked.Minus(news)
	b.due = b.due.Minus(news)
	b.release(now)
	b.findLost(now)
	b.budget.refill(now)
	b.budget.acked(bytes)
	b.reportFigures(now)
}

// Held stops everything but a single probe each time the timer runs out: what is
// sent to a peer that cannot take it is wasted (SCH-10).
func (b *Scheduler) Held(now core.Micros) {
	if !b.held {
		b.held, b.heldAt = true, now
	}
	b.due = core.Set{}
}

// release makes the slices due that a hold has kept from their first
// transmission; slices sent while it lasted are left to the gap rule.
func (b *Scheduler) release(now core.Micros) {
	if !b.held {
		return
	}
	b.held = false
	for id := range b.unacked.All() {
		if b.slices[id].first == 0 {
			b.makeDue(now, id)
		}
	}
}

// sampleRTT takes at most one sample from an ack: of the newest slice that was
// sent once, or else of the newest resent one whose latest transmission can
// have arrived, or else, while nothing was measured, a bound (RTT-1 to RTT-4).
func (b *Scheduler) sampleRTT(now core.Micros, news core.Set) {
	once, again, bound := -1, -1, -1
	for id := range news.All() {
		switch t := &b.slices[id]; {
		case t.first <= b.moved: // of another path
		case !t.resent():
			once = b.newer(once, id)
		case b.rtt.Known == rtt.Measured && now-t.lastAt >= b.minRTT:
			again = b.newer(again, id)
		default:
			bound = b.newer(bound, id)
		}
	}
	switch {
	case once >= 0:
		b.sampleClean(now, once)
	case again >= 0:
		b.rtt.Smooth(now - b.slices[again].lastAt)
		b.report(eventlog.RTTSampled, now, again, now-b.slices[again].lastAt)
	case bound >= 0: // nothing asks for it once the round trip is measured (RTT-6)
		b.rtt.Bound(now - b.slices[bound].firstAt)
	}
}

// sampleClean takes the unambiguous sample of a slice that was sent once (RTT-2).
func (b *Scheduler) sampleClean(now core.Micros, id int) {
	r := now - b.slices[id].lastAt
	if clipped := rtt.Clip(r); b.rtt.Known != rtt.Measured || clipped < b.minRTT {
		b.minRTT = clipped
	}
	b.rtt.Sample(r)
	b.report(eventlog.RTTSampled, now, id, r)
}

// newer returns which of two slices was sent later; -1 stands for none.
func (b *Scheduler) newer(a, id int) int {
	if a >= 0 && b.slices[a].last > b.slices[id].last {
		return a
	}
	return id
}

// arrivedAs returns the number of the transmission of a newly acked slice that
// has arrived (GAP-1).
func (b *Scheduler) arrivedAs(now core.Micros, id int) uint32 {
	t := &b.slices[id]
	b.atBest = max(b.atBest, t.last)
	switch {
	case !t.resent():
		return t.last
	case b.rtt.Known != rtt.Measured:
		return t.first // it can be either: this one claims less
	case now-t.lastAt < b.minRTT:
		// An ack cannot be faster than any before: the resend was not needed.
		b.stats.Spurious++
		b.report(eventlog.SliceSpurious, now, id, 0)
		return t.first
	}
	return t.last
}

// findLost makes due every slice in flight that later transmissions have
// overtaken (GAP-2).
func (b *Scheduler) findLost(now core.Micros) {
	flying := b.unacked.Minus(b.due)
	for id := range flying.All() {
		if b.slices[id].last+gapThreshold <= b.arrived {
			b.stats.Lost++
			b.lose(now, id, eventlog.Overtaken)
		}
	}
}
