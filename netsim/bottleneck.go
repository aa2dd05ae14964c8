package netsim

import "time"

// bottleneck sends datagrams one after the other at a fixed rate, and keeps the
// rest in a drop-tail queue.
type bottleneck struct {
	serializer
	limit int // bytes, 0 for unlimited
	mark  int // bytes in the queue above which datagrams are marked, 0 for never

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
func (b *bottleneck) set(rate int64, limit, mark int) {
	b.setRate(rate)
	b.limit, b.mark = limit, mark
}

// pass takes a datagram of size bytes at time now and returns when its last bit
// is out, and whether it is marked; or false if the queue has no room for it.
func (b *bottleneck) pass(now time.Duration, size int) (out time.Duration, marked, ok bool) {
	b.drain(now)
	if b.limit > 0 && b.queue.len() > 0 && b.queueB+size > b.limit {
		return 0, false, false
	}
	marked = b.mark > 0 && b.queueB > b.mark
	out = b.serve(now, size)
	if out > now {
		b.queue.push(queued{out, size})
		b.queueB += size
	}
	return out, marked, true
}

// drain removes from the queue what is out by now.
func (b *bottleneck) drain(now time.Duration) {
	for b.queue.len() > 0 && b.queue.front().out <= now {
		b.queueB -= b.queue.pop().size
	}
}
