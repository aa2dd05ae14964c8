package netsim

import "time"

// bottleneck sends datagrams one after the other at a fixed rate, and keeps the
// rest in a queue that drops what it has no room for, and what its AQM chooses.
type bottleneck struct {
	serializer
	limit int // bytes, 0 for unlimited
	mark  int // bytes in the queue above which datagrams are marked, 0 for never
	aqm   AQM
	marks bool // the AQM marks what allows it
	codel CoDel
	pie   pie

	// queue holds what is not fully out. Its bytes could be guessed from free
	// and rate, but not after a change of the rate.
	queue  ring[queued]
	queueB int // bytes in queue
}

// queued is a datagram that waits or is in service.
type queued struct {
	out  time.Duration // when its last bit is out
	size int           // bytes on the wire
}

// set changes the figures for datagrams to come.
func (b *bottleneck) set(p *Path) {
	b.setRate(p.Rate)
	b.limit, b.mark, b.aqm, b.marks = p.Queue, p.MarkAbove, p.AQM, p.AQMMarks
}

// pass takes a datagram of size bytes at time now and returns when its last bit
// is out, and whether it is marked; or false if the queue has no room for it, or its AQM
// drops it. The AQM can mark it if ect is true.
func (b *bottleneck) pass(now time.Duration, size int, ect bool) (out time.Duration, marked, ok bool) {
	b.drain(now)
	if b.limit > 0 && b.queue.len() > 0 && b.queueB+size > b.limit {
		return 0, false, false
	}
	early, begin := b.early(now), max(now, b.end())
	marked = b.mark > 0 && b.queueB > b.mark
	if early && ect && b.marks && !(b.aqm == UsePIE && b.pie.chance > pieMarks) {
		early, marked = false, true
	}
	switch {
	case !early:
		out = b.serve(now, size)
	case b.aqm == UseCoDel:
		out = begin // it waits, and is dropped then
	}
	if out > now {
		b.queue.push(queued{out, size})
		b.queueB += size
	}
	return out, marked, !early
}

// early reports whether the AQM chooses a datagram that comes now. CoDel does that when it leaves the queue,
// which is known here, except what has come behind it by then: so its target allows for a datagram.
func (b *bottleneck) early(now time.Duration) bool {
	switch b.aqm {
	case UseCoDel:
		begin := max(now, b.end())
		return b.codel.Drops(begin, begin-now >= UseCoDel.Target(b.rate))
	case UsePIE:
		return b.pie.drops(now, b.end(), b.queueB)
	}
	return false
}

// drain removes from the queue what is out by now.
func (b *bottleneck) drain(now time.Duration) {
	for b.queue.len() > 0 && b.queue.front().out <= now {
		b.queueB -= b.queue.pop().size
	}
}
