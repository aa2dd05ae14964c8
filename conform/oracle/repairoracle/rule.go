package repairoracle

import "github.com/chunkwire/chunkwire/conform/oracle/recoveryoracle"

// The constants of the rule.
const (
	MostNeed  = 1024
	KeptTimes = 1024
	Probes    = 2
)

// Profile sets the rule up (RPL-14).
type Profile = recoveryoracle.Profile

// never is later than every time.
const never = 1<<63 - 1

// noQuota is the quota that is none.
const noQuota = -1

// Rule is the sender's rule (section 7).
type Rule struct {
	profile Profile
	path    *recoveryoracle.Controller
	wasHeld bool

	numSlices       int64
	sent, have, top int64
	gone, moved     int64
	sentAt          map[int64]int64
	mainAt, lastAt  int64
	newsAt          int64
	quota           int64
	held            bool
	heldAt          int64
	idle            bool
}

// NewRule returns the rule of a sender that knows nothing.
func NewRule(p Profile) *Rule {
	r := &Rule{profile: p, path: recoveryoracle.NewController(p), idle: true}
	r.path.Join(r)
	return r
}

// Begin is START (RPL-2).
func (r *Rule) Begin(now int64, chunk []byte) {
	r.path.OnBegin(now)
	r.numSlices = NumSlices(len(chunk))
	r.sent, r.have, r.top, r.gone, r.moved, r.sentAt = 0, 0, 0, 0, 0, map[int64]int64{}
	r.mainAt, r.lastAt, r.newsAt = now, now, now
	r.quota = noQuota
	if r.wasHeld {
		r.quota = 1
	}
	r.wasHeld, r.held, r.idle = false, false, true
}

// InFlight is RPL-3's flight, 0 without a chunk.
func (r *Rule) InFlight() int64 {
	if !r.Busy() {
		return 0
	}
	return r.sent - max(r.top, r.gone)
}

// Busy says that a chunk is in flight.
func (r *Rule) Busy() bool { return r.have < r.numSlices }

// Idle says that there was nothing to send at the latest poll.
func (r *Rule) Idle() bool { return r.idle || !r.Busy() }

// Enough says that what is in flight covers what is needed.
func (r *Rule) Enough() bool { return !r.Busy() || r.InFlight() >= r.need(r.numSlices-r.have) }

// wanted is RPL-3: what ROOM-1 finds is asked for only where it matters.
func (r *Rule) wanted() bool {
	return !r.Enough() && (r.quota > 0 || r.quota == noQuota && r.path.HasRoom())
}

// need is RPL-4.
func (r *Rule) need(d int64) int64 {
	z := int64(4)
	if r.profile.Redundant {
		z = 9
	}
	a := r.path.Arrived
	l := min(r.path.Lost, 32*a)
	m := 256 * d * l / a
	v := m + m*l/a
	v += v * 16 * d / a
	return min(d+(m+recoveryoracle.Isqrt(256*z*v)+128)/256, MostNeed)
}

// PathSlices is what may be in flight when a chunk begins (LAN-10).
func (r *Rule) PathSlices() int64 { return r.path.PathSlices() }

// Yield says that other packets must not wait behind slices.
func (r *Rule) Yield(yields bool) { r.path.Yield(yields) }

// Marked is ECN-1.
func (r *Rule) Marked(n int64) { r.path.OnMarks(n) }

// Adopt makes the controller of the rule of the chunk before that of this one (RPL-15).
func (r *Rule) Adopt(before *Rule) { r.Use(before.path) }

// Use replaces the controller of this rule.
func (r *Rule) Use(path *recoveryoracle.Controller) {
	r.path.Leave(r)
	r.path = path
	r.path.Join(r)
	r.path.OnFlight()
	r.idle = true
}

// Path is its controller.
func (r *Rule) Path() *recoveryoracle.Controller { return r.path }

// Moved is REC-12 of RECOVERY.md.
func (r *Rule) Moved() { r.moved = r.sent }

// Acked is news (RPL-5).
func (r *Rule) Acked(now, have, top int64) {
	dt, dh := top-r.top, have-r.have
	if r.top < r.moved { // REC-12
		dt = max(top-r.moved, 0)
		dh = min(dh, dt)
	}
	if dt > 0 && top-1 >= r.sent-KeptTimes {
		took := now - r.sentAt[top-1]
		switch {
		case have < r.numSlices || top > r.gone:
			r.path.OnCleanSample(now, took)
		case !r.path.IsMeasured():
			r.path.FindBound(took)
		}
	}
	missing := dt - dh
	if r.held {
		missing, r.gone = 0, 0
		r.path.OnFlight()
		r.wasHeld = r.wasHeld || now-r.heldAt > 2*r.path.SRTT()
	} else if r.top < r.gone && r.gone < top {
		d := top - max(r.gone, r.moved)
		missing = d - min(dh, d)
	}
	if r.top < r.gone { // SUS-2
		r.path.OnLate(max(dh-max(top-r.gone, 0), 0))
	}
	r.have, r.top, r.held = have, top, false
	r.path.OnFlight()
	r.path.OnNews(now, dh, missing)
	if dh == 0 && top-have > MostNeed {
		r.quota = 0
	} else {
		r.newsAt, r.quota = now, noQuota
	}
}

// Held is a hold (RPL-12).
func (r *Rule) Held(now int64) {
	if !r.held {
		r.held, r.heldAt = true, now
	}
	r.gone, r.quota = r.sent, 0
}

// timer is when the timer runs out (RPL-10).
func (r *Rule) timer() int64 {
	if r.held {
		return max(r.lastAt, r.heldAt) + r.path.HoldDelay(r.lastAt-r.heldAt)
	}
	delay, margin := r.path.Delays()
	return max(r.mainAt+delay, r.newsAt+margin, r.path.ProbeAt())
}

// expire is RPL-11.
func (r *Rule) expire(now int64) {
	given := min(r.sent-max(r.top, r.gone, r.moved), Probes) // SUS-1, REC-12
	r.gone = r.sent
	if r.held {
		r.quota = 1
		return
	}
	r.quota = Probes
	r.path.OnTimer(now, given)
}

// Next is RPL-9: whether the next slice goes out.
func (r *Rule) Next(now int64) bool {
	if !r.wanted() && now >= r.timer() {
		r.expire(now)
	}
	wanted := r.wanted()
	goes := r.path.Goes(now, wanted, r.sent < r.numSlices)
	if r.idle = !wanted; !goes {
		return false
	}
	r.sentAt[r.sent], r.lastAt = now, now
	if r.quota == noQuota {
		r.mainAt = now
	} else {
		r.quota--
	}
	r.sent++
	r.path.OnFlight()
	return true
}

// Deadline is RPL-13.
func (r *Rule) Deadline() int64 {
	switch {
	case !r.Busy():
		return never
	case r.wanted():
		return r.path.PaceAt()
	}
	return r.timer()
}
