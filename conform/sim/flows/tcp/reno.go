package tcp

// reno is the window of RFC 5681: one datagram more each round trip, a part of it after a
// loss. It counts what is acked, not acks (RFC 3465).
type reno struct{ loss }

func (r *reno) acked(n news) {
	if r.inSlowStart() {
		r.grow(n)
		return
	}
	r.cwnd += n.n * one * one / r.cwnd
}

func (r *reno) lost(flight int64)                { r.cut(flight) }
func (r *reno) expired(flight int64, again bool) { r.restart(flight, again) }
