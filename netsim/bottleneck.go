package netsim

import "time"

// bottleneck sends datagrams one after the other at a fixed rate, and keeps the
// rest in a drop-tail queue.
type bottleneck struct {
	rate  int64 // bits per second, 0 for unlimited
	limit int   // bytes, 0 for unlimited

	// The last bit of the last datagram is out at free nanoseconds plus
	// fraction/rate of one. Without the fraction, a long burst would end
	// early or late by up to a nanosecond per datagram.
	free     time.Duration
	fraction int64

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
func (b *bottleneck) set(rate int64, limit int) {
	if rate != b.rate {
		b.free, b.fraction = b.end(), 0 // fraction is in units of the old rate
	}
	b.rate, b.limit = rate, limit
}

// pass takes a datagram of size bytes at time now and returns when its last bit
// is out, or false if the queue has no room for it.
func (b *bottleneck) pass(now time.Duration, size int) (time.Duration, bool) {
	b.drain(now)
	if b.limit > 0 && b.queue.len() > 0 && b.queueB+size > b.limit {
		return 0, false
	}
	out := b.serve(now, size)
	if out > now {
		b.queue.push(queued{out, size})
		b.queueB += size
	}
	return out, true
}

// drain removes from the queue what is out by now.
func (b *bottleneck) drain(now time.Duration) {
	for b.queue.len() > 0 && b.queue.front().out <= now {
		b.queueB -= b.queue.pop().size
	}
}

// serve adds the serialization time of size bytes behind all that is queued.
func (b *bottleneck) serve(now time.Duration, size int) time.Duration {
	if b.end() <= now {
		b.free, b.fraction = now, 0
	}
	if b.rate > 0 {
		work := int64(size)*8*int64(time.Second) + b.fraction
		b.free += time.Duration(work / b.rate)
		b.fraction = work % b.rate
	}
	return b.end()
}

// end is when the bottleneck is idle again, rounded up to a nanosecond: no
// datagram is faster than the rate allows.
func (b *bottleneck) end() time.Duration {
	if b.fraction > 0 {
		return b.free + 1
	}
	return b.free
}
