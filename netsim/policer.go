package netsim

import "time"

// policer drops what is faster than a rate, beyond a burst: a token bucket
// without a queue. It is kept as the time at which the bucket is full again,
// which each datagram puts off by what it takes at the rate.
type policer struct {
	serializer
	burst time.Duration // what a full bucket takes at the rate
}

// set changes the figures for datagrams to come.
func (p *policer) set(rate int64, burst int) {
	p.setRate(rate)
	p.burst = 0
	if rate > 0 {
		var bucket serializer
		bucket.setRate(rate)
		p.burst = bucket.serve(0, burst)
	}
}

// pass reports whether a datagram of size bytes gets through at time now. One
// that finds the bucket full always does.
func (p *policer) pass(now time.Duration, size int) bool {
	if p.rate == 0 {
		return true
	}
	after := p.serializer
	if after.serve(now, size)-now > p.burst && p.end() > now {
		return false
	}
	p.serializer = after
	return true
}
