package repair

// The constants of the rule.
const (
	FirstLost    = 16
	FirstArrived = 512
	Settled      = 1536
	Prior        = 448
	MostCounted  = 16_384
	MostNeed     = 1024
	KeptTimes    = 1024
	Probes       = 2
)

// Profile sets the rule up (RPL-14).
type Profile struct {
	Rate                    int64 // the limit in bits a second, 0 for none
	Burst, Fixed, Redundant bool
}

// interval is the limit's interval (PRO-1), in ns.
func (p Profile) interval() int64 {
	if p.Rate == 0 {
		return 0
	}
	return 8 * 1066 * 1_000_000_000 / p.Rate
}

// noQuota is the quota that is none.
const noQuota = -1

// Rule is the sender's rule (section 7).
type Rule struct {
	profile Profile
	path    *RoundTrip
	rate    rate
	yields  bool
	wasHeld bool

	numSlices       int64
	sent, have, top int64
	gone            int64
	sentAt          map[int64]int64
	mainAt, lastAt  int64
	newsAt, probeAt int64
	quota           int64
	held            bool
	heldAt          int64
	idle            bool
}

// NewRule returns the rule of a sender that knows nothing.
func NewRule(p Profile) *Rule { return &Rule{profile: p, path: NewRoundTrip()} }

// Begin is START (RPL-2).
func (r *Rule) Begin(now int64, chunk []byte) {
	r.path.start()
	r.rate.train = false
	r.numSlices = NumSlices(len(chunk))
	r.sent, r.have, r.top, r.gone, r.sentAt = 0, 0, 0, 0, map[int64]int64{}
	r.mainAt, r.lastAt, r.newsAt, r.probeAt = now, now, now, 0
	r.quota = noQuota
	if r.wasHeld {
		r.quota = 1
	}
	r.wasHeld, r.held, r.idle = false, false, true
}

// InFlight is RPL-3's flight.
func (r *Rule) InFlight() int64 { return r.sent - max(r.top, r.gone) }

// complete says that no chunk is in flight.
func (r *Rule) complete() bool { return r.have == r.numSlices }

// Enough says that what is in flight covers what is needed.
func (r *Rule) Enough() bool { return r.complete() || r.InFlight() >= r.need(r.numSlices-r.have) }

// wanted is RPL-3.
func (r *Rule) wanted() bool {
	inWindow := r.profile.Burst || r.profile.Fixed || r.InFlight() < r.window()
	return !r.Enough() && inWindow && r.quota != 0
}

// need is RPL-4.
func (r *Rule) need(d int64) int64 {
	z := int64(4)
	if r.profile.Redundant {
		z = 9
	}
	a := r.path.arrived
	l := min(r.path.lost, 32*a)
	m := 256 * d * l / a
	v := m + m*l/a
	v += v * 16 * d / a
	return min(d+(m+isqrt(256*z*v)+128)/256, MostNeed)
}

// isqrt is the largest integer whose square is at most x.
func isqrt(x int64) int64 {
	low, high := int64(0), int64(3_037_000_499)
	for low < high {
		if middle := (low + high + 1) / 2; middle*middle <= x {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// window is RPL-7.
func (r *Rule) window() int64 {
	if r.perSlice() == 0 {
		return r.first() + r.have
	}
	return r.PathSlices()
}

func (r *Rule) first() int64 {
	if r.yields {
		return YieldWindow
	}
	return FirstWindow
}

// perSlice is what the path takes for a slice, in ns; 0 while it is unknown (PRO-4).
func (r *Rule) perSlice() int64 {
	if r.profile.Fixed {
		return max(r.profile.interval(), Fastest)
	}
	return r.rate.perSlice()
}

// PathSlices is what the path holds (WIN-2, WIN-4, LAN-10).
func (r *Rule) PathSlices() int64 {
	switch {
	case r.perSlice() == 0:
		return r.first()
	case r.path.drains:
		return DrainWindow
	}
	n := (r.path.minRTT + AckDelay) * 1000 / r.perSlice()
	if !r.yields {
		n = n * 3 / 2
	}
	return n + 8
}

// Yield says that other packets must not wait behind slices (WIN-5).
func (r *Rule) Yield(yields bool) { r.yields = yields }

// Adopt takes over what the rule of the chunk before knows (RPL-15).
func (r *Rule) Adopt(before *Rule) { r.path, r.rate = before.path, before.rate }

// Acked is news (RPL-5).
func (r *Rule) Acked(now, have, top int64) {
	dt, dh := top-r.top, have-r.have
	if dt > 0 && top-1 >= r.sent-KeptTimes {
		took := now - r.sentAt[top-1]
		switch {
		case have < r.numSlices || top > r.gone:
			r.path.sample(now, took)
		case r.path.known != measured:
			r.path.findBound(took)
		}
	}
	counted := dh
	if r.held {
		dt, r.gone = dh, 0
	} else if r.top < r.gone && r.gone < top {
		dt = top - r.gone
		counted = min(dh, dt)
	}
	r.count(dt, counted)
	r.have, r.top = have, top
	r.rate.take(now, dh, top, r.path)
	r.wasHeld = r.wasHeld || r.held && now-r.heldAt > 2*r.path.srtt
	r.held = false
	if dh == 0 && top-have > MostNeed {
		r.quota = 0
	} else {
		r.newsAt, r.probeAt, r.quota = now, 0, noQuota
	}
}

// count is steps 3 to 5 of RPL-5.
func (r *Rule) count(dt, dh int64) {
	e := r.path
	e.arrived += 16 * dh
	e.lost = max(e.lost+16*(dt-dh), 0)
	if !e.settled && e.arrived >= Settled {
		e.arrived, e.settled = e.arrived-Prior, true
	}
	if e.lost+e.arrived > MostCounted {
		e.lost, e.arrived = e.lost/2, max(e.arrived/2, 1)
	}
}

// Held is a hold (RPL-12).
func (r *Rule) Held(now int64) {
	if !r.held {
		r.held, r.heldAt = true, now
	}
	r.gone, r.quota, r.rate.train = r.sent, 0, false
}

// timer is when the timer runs out (RPL-10).
func (r *Rule) timer() int64 {
	if r.held {
		return max(r.lastAt, r.heldAt) + r.holdDelay()
	}
	delay, margin := r.path.delays()
	return max(r.mainAt+delay, r.newsAt+margin, r.probeAt)
}

// holdDelay is H of TMR-6.
func (r *Rule) holdDelay() int64 {
	if r.path.known == nothing {
		return HoldDelay
	}
	return min(max(r.path.srtt, ShortestHoldDelay, (r.lastAt-r.heldAt)/4), HoldDelay)
}

// expire is RPL-11.
func (r *Rule) expire(now int64) {
	r.rate.train = false
	r.gone = r.sent
	if r.held {
		r.quota = 1
		return
	}
	part := int64(8)
	if r.path.known == nothing {
		part = 4
	}
	delay, _ := r.path.delays()
	r.quota, r.probeAt = Probes, now+min(max(delay, now-r.newsAt)/part, ProbeDelay)
}

// Next is RPL-9: whether the next slice goes out.
func (r *Rule) Next(now int64) bool {
	if !r.wanted() && now >= r.timer() {
		r.expire(now)
	}
	if !r.complete() && r.Enough() || r.path.drains {
		r.rate.ranDry(now)
	}
	if !r.wanted() {
		r.idle = true
		return false
	}
	if r.idle {
		r.rate.paceAt, r.idle = max(r.rate.paceAt, 1000*now), false
	}
	if 1000*now < r.rate.paceAt {
		return false
	}
	if r.rate.paceAt < 1000*now-CatchUp { // PAC-4
		r.rate.ranDry(now)
	}
	r.rate.paceAt = max(r.rate.paceAt, 1000*now-CatchUp) + r.interval()
	r.sentAt[r.sent], r.lastAt = now, now
	if r.quota == noQuota {
		r.mainAt = now
	} else {
		r.quota--
	}
	r.sent++
	return true
}

// interval is the pace behind the next slice, in ns (RPL-8, RPL-14).
func (r *Rule) interval() int64 {
	limit := r.profile.interval()
	switch {
	case r.profile.Burst && r.sent < r.numSlices:
		return max(BurstInterval, limit)
	case r.profile.Fixed:
		return max(limit, Fastest)
	case r.rate.perSlice() == 0:
		return max(Fastest, limit)
	}
	return max(min(r.rate.perSlice()*7/8, Slowest), Fastest, limit)
}

// Deadline is RPL-13.
func (r *Rule) Deadline() int64 {
	switch {
	case r.complete():
		return never
	case r.wanted():
		return (r.rate.paceAt + 999) / 1000
	}
	return r.timer()
}
