package netsim

import "time"

// serializer puts datagrams on a wire one after the other, at a fixed rate.
type serializer struct {
	rate int64 // bits per second, 0 for unlimited

	// The last bit of the last datagram is out at free nanoseconds plus
	// fraction/rate of one. Without the fraction, a long burst would end
	// early or late by up to a nanosecond per datagram.
	free     time.Duration
	fraction int64
}

// setRate changes the rate for datagrams to come.
func (s *serializer) setRate(rate int64) {
	if rate != s.rate {
		s.free, s.fraction = s.end(), 0 // fraction is in units of the old rate
	}
	s.rate = rate
}

// serve adds the serialization time of size bytes behind all that is queued.
func (s *serializer) serve(now time.Duration, size int) time.Duration {
	if s.end() <= now {
		s.free, s.fraction = now, 0
	}
	if s.rate > 0 {
		work := int64(size)*8*int64(time.Second) + s.fraction
		s.free += time.Duration(work / s.rate)
		s.fraction = work % s.rate
	}
	return s.end()
}

// end is when all is out, rounded up to a nanosecond: no datagram is faster
// than the rate allows.
func (s *serializer) end() time.Duration {
	if s.fraction > 0 {
		return s.free + 1
	}
	return s.free
}
