package recoveryoracle

import (
	"math"
	"slices"
)

// The constants of the controller (RECOVERY.md, section 17): microseconds, slices, and for
// limits 64ths of a slice; nanoseconds where it says ns.
const (
	S                 = 64 // a slice
	Life              = 10_000_000
	DrainFirst        = Life / Part
	DrainMisses       = 3
	DrainSlices       = 4
	Fastest           = 7000          // ns
	Slowest           = 1_000_000_000 // ns
	CatchUp           = 20_000_000    // ns
	BurstInterval     = 85_000        // ns
	MostDoubled       = 10
	SilentDelays      = 3
	SilentAcks        = 8
	HoldDelay         = 250_000
	ShortestHoldDelay = 2000
	MostCounted       = 1024
)

// never is the time of what does not happen.
const never = math.MaxInt64

// Profile sets a controller up (RECOVERY.md, section 14).
type Profile struct {
	Rate         int64 // the limit in bits a second, 0 for none
	Burst, Fixed bool
	Redundant    bool // what the scheduler makes of it is its own
}

// interval is the limit's interval (PRO-1), in ns.
func (p Profile) interval() int64 {
	if p.Rate == 0 {
		return 0
	}
	return 8 * 1066 * 1_000_000_000 / p.Rate
}

// Lane is a sender that uses a controller.
type Lane interface {
	Busy() bool      // it has a chunk in flight
	InFlight() int64 // how many slices it has in flight, 0 without a chunk
	Idle() bool      // it had nothing to send at its latest poll, or has no chunk in flight
}

// Controller is what the senders of a connection know of the path: the variables are those of
// RECOVERY.md. 0 is no time and no interval.
type Controller struct {
	profile Profile
	lanes   []Lane // those that use it
	yields  bool

	// The round trip (EST-1 to EST-10).
	RoundTrip
	latest                            int64
	minRTT, sampledAt                 int64
	drainUntil, drainFullAt, drainMin int64
	drainAt                           int64
	fell                              bool
	misses                            int64

	// The limit, in 64ths of a slice, and how it grows.
	limit, step, quiet int64
	ceiling, low       int64
	opening            bool

	// The decision at hand.
	beganAt, decidesAt int64
	countsAt           int64
	clean              *sample  // of the event at hand
	samples            []sample // since the decision before
	most               int64
	reports            []report // since the decision before
	marked             int64

	// Loss.
	phase                  string
	sumLost, sumPassed     int64
	before                 *cause // nil: nothing that can be undone
	calmLost, calmPassed   int64
	others, hit            bool
	above, from, fromSpeed int64
	broken                 bool
	calmAt                 int64
	groupLost, groupPassed int64

	// Losses of late (CAP-8).
	Lost, Arrived int64 // in sixteenths

	// Pace and timers.
	paceAt, paceRest     int64 // us, and ns beyond: times of 2^62 us have no nanoseconds in 64 bits
	newsAt               int64
	timeouts, unanswered int64
	suspects             int64
	silenced             bool
	probeAt              int64
}

// sample is a clean sample.
type sample struct {
	r, wait int64
	counts  bool // for the queue, unless others are smaller (DCS-2)
	inTime  bool // not after decides_at
}

// report is what news tells of slices.
type report struct{ arrived, lost int64 }

// cause is what was before a cut for loss.
type cause struct {
	limit, ceiling, lost, passed int64
	opening                      bool
}

// NewController returns the controller of who knows nothing (REC-8).
func NewController(p Profile) *Controller {
	return &Controller{
		profile: p, RoundTrip: NewRoundTrip(),
		limit: FirstLimit, step: Step, opening: true, phase: steady, Lost: 16, Arrived: 16 * PriorPassed,
	}
}

// Join makes a sender one of those that use the controller, and Leave takes it away.
func (c *Controller) Join(l Lane) { c.lanes = append(c.lanes, l) }

// Leave ends a sender's part.
func (c *Controller) Leave(l Lane) {
	c.lanes = slices.DeleteFunc(c.lanes, func(other Lane) bool { return other == l })
}

// Anew returns the controller of a sender that has sent one slice on another path; the slice is not in flight (CXL-10).
func (c *Controller) Anew(now int64) *Controller {
	other := NewController(c.profile)
	other.OnBegin(now)
	other.most = S
	other.Goes(now, true, true)
	return other
}

// flight is what all lanes have in flight.
func (c *Controller) flight() (n int64) {
	for _, l := range c.lanes {
		n += l.InFlight()
	}
	return n
}

// active is how many lanes have a chunk in flight.
func (c *Controller) active() (n int64) {
	for _, l := range c.lanes {
		if l.Busy() {
			n++
		}
	}
	return n
}

// OnFlight is what follows when the flight changes (DCS-3).
func (c *Controller) OnFlight() { c.most = max(c.most, S*c.flight()) }

// OnBegin is the controller's part of REC-2, before the chunk is in flight.
func (c *Controller) OnBegin(now int64) {
	if c.active() == 0 {
		c.onResume(now)
	}
	c.UseBound()
}

// onResume is IDL-1, and DCS-4.
func (c *Controller) onResume(now int64) {
	idle := now - c.newsAt
	if c.decidesAt == 0 {
		return
	}
	if idle >= c.latest {
		c.newsAt = now
		c.beganAt += idle
		c.decidesAt += idle
		c.calmAt += idle
		c.drainAt = max(c.drainAt, now+DrainFirst)
		c.fade(idle)
	}
	if c.countsAt == 0 {
		c.countsAt = now + c.round()
		c.decidesAt = max(c.decidesAt, c.countsAt+c.latest/Part)
	}
}

// fade is IDL-2.
func (c *Controller) fade(idle int64) {
	for idle >= 2*Life && c.limit > FirstLimit {
		c.limit = max(c.limit/2, FirstLimit)
		idle -= Life
	}
}

// OnNews is REC-11: so many slices have arrived, and so many were found lost, or fewer than none.
func (c *Controller) OnNews(now, n, missing int64) {
	counted := missing
	if n > 0 {
		counted += c.judgeSuspects()
		c.newsAt = now
		c.timeouts, c.unanswered, c.probeAt, c.silenced = 0, 0, 0, false // PTO-6
	}
	if c.drainUntil != 0 && now >= c.drainUntil { // a drain that no sample has ended says nothing of the path
		misses := c.misses
		c.endDrain(now, true)
		c.misses = misses
		c.beginDecision(now)
	}
	c.count(n, missing)
	c.onRound(now, n, counted)
}

// judgeSuspects is SUS-3 and SUS-4: how many of them count as lost.
func (c *Controller) judgeSuspects() (counted int64) {
	n := c.suspects
	c.suspects = 0
	if !c.silenced && c.limit < (GapSize+1)*S*c.active() {
		return n
	}
	c.groupLost += n
	c.groupPassed += n
	return 0
}

// OnLate is SUS-2.
func (c *Controller) OnLate(n int64) { c.suspects = max(c.suspects-n, 0) }

// OnMarks is ECN-1.
func (c *Controller) OnMarks(n int64) { c.marked += n }

// OnTimer is PTO-3, SUS-1 and PTO-7.
func (c *Controller) OnTimer(now, given int64) {
	c.suspects += given
	delay, _ := c.Delays()
	wait := delay
	for range min(c.timeouts, MostDoubled) {
		wait *= 2
	}
	c.probeAt = now + min(wait, max(delay, Slowest/1000))
	c.timeouts++
	if c.known != measured {
		c.limit = max(min(c.limit, c.most)/2, TwoSlices)
	} else {
		expected := c.unanswered * c.Arrived / (c.Arrived + c.Lost) * c.Arrived / (c.Arrived + c.Lost)
		if c.silenced || now-c.newsAt < SilentDelays*delay || expected < SilentAcks {
			return
		}
		c.ceiling = c.limit
		c.limit = max(c.limit/2, min(c.limit, TwoSlices))
	}
	c.silenced, c.step, c.quiet = true, Step, 0
	c.opening = !c.broken
}

// count is CAP-8.
func (c *Controller) count(n, missing int64) {
	c.Arrived += 16 * n
	c.Lost = max(c.Lost+16*missing, 0)
	if c.Lost+c.Arrived > 16*MostCounted {
		c.Lost, c.Arrived = c.Lost/2, max(c.Arrived/2, 1)
	}
}

// OnCleanSample is a clean sample of the round trip (EST-2).
func (c *Controller) OnCleanSample(now, r int64) {
	r = max(limited(r), 1)
	c.Measure(r)
	c.latest = r
	c.clean = &sample{r: r}
	base, t := c.minRTT, c.target()
	ended, near := c.onBase(now, r, t)
	if base-c.minRTT >= t/Part { // LSS-8
		c.calmLost, c.calmPassed = 0, 0
	}
	if ended && near && c.others { // OTH-4
		c.others, c.above, c.drainAt = false, 0, now+Life
	}
	if ended { // DCS-6
		c.beginDecision(now)
	}
}

// OnResentSample is EST-3 and DCS-9.
func (c *Controller) OnResentSample(r int64) {
	r = max(limited(r), 1)
	c.Follow(r)
	c.samples = append(c.samples, sample{wait: max(r-c.minRTT, 0)})
}

// onBase is EST-6 to EST-10.
func (c *Controller) onBase(now, r, t int64) (ended, near bool) {
	forgotten := c.minRTT == 0 || now-c.sampledAt >= Life
	c.sampledAt = now
	if forgotten { // EST-6
		c.minRTT, c.misses, c.drainAt, c.drainUntil = r, 0, now+DrainFirst, 0
		return false, false
	}
	if r < c.minRTT { // EST-8
		if c.minRTT-r >= t/Part {
			c.fell = true
			if c.drainUntil == 0 && !c.others {
				c.beginDrain(now, r)
			}
		}
		c.minRTT = r
	}
	if c.drainUntil != 0 { // EST-9
		c.drainMin = min(c.drainMin, r)
		near = c.drainMin <= c.minRTT+t/2
		if now >= c.drainUntil || near && !c.fell && now >= c.drainFullAt {
			c.endDrain(now, near)
			ended = true
		}
	}
	due := now-c.drainAt >= Life || !c.others
	if c.drainUntil == 0 && now >= c.drainAt && due { // EST-7, OTH-3
		c.beginDrain(now, r)
	}
	return ended, near
}

// beginDrain is EST-7.
func (c *Controller) beginDrain(now, r int64) {
	c.drainUntil, c.drainFullAt, c.drainMin = now+2*max(c.srtt, r), now+r, r
}

// endDrain is EST-9 and EST-10.
func (c *Controller) endDrain(now int64, near bool) {
	c.drainUntil, c.drainAt = 0, now+Life
	if c.fell {
		c.drainAt, c.fell = now+DrainFirst, false
	}
	if near {
		c.misses = 0
		return
	}
	c.misses++
	if c.misses == DrainMisses {
		c.minRTT, c.misses = c.drainMin, 0
	}
}

// MinRTT is the smallest clean sample of late, 0 before there is one.
func (c *Controller) MinRTT() int64 { return c.minRTT }

// Yield says whether other packets must not wait behind slices (ROOM-3).
func (c *Controller) Yield(yields bool) { c.yields = yields }

// HasRoom is ROOM-1, which changes nothing (ROOM-2).
func (c *Controller) HasRoom() bool {
	return c.profile.Burst || c.profile.Fixed || c.flight() < c.PathSlices()
}

// PathSlices is how many slices may be in flight (ROOM-1).
func (c *Controller) PathSlices() int64 {
	n := max(c.limit, TwoSlices) / S
	if c.drainUntil != 0 {
		return min(n, DrainSlices)
	}
	return n
}

// HoldDelay is H of TMR-6, for a hold that is so old.
func (c *Controller) HoldDelay(since int64) int64 {
	if c.known == nothing {
		return HoldDelay
	}
	return min(max(c.srtt, ShortestHoldDelay, since/4), HoldDelay)
}

// Goes is REC-5 from step 3 on, for what a lane wants to send: whether it goes out.
func (c *Controller) Goes(now int64, wanted, fresh bool) bool {
	busy := slices.ContainsFunc(c.lanes, func(l Lane) bool { return !l.Idle() })
	if !busy { // PAC-5
		c.paceFrom(now)
	}
	if !wanted || now < c.PaceAt() {
		return false
	}
	c.unanswered++
	c.paceFrom(now - CatchUp/1000) // PAC-4
	rest := c.paceRest + c.interval(fresh)
	c.paceAt, c.paceRest = c.paceAt+rest/1000, rest%1000
	return true
}

// paceFrom lets no slice go before a time.
func (c *Controller) paceFrom(at int64) {
	if c.paceAt < at {
		c.paceAt, c.paceRest = at, 0
	}
}

// ProbeAt is the time before which no probe goes (PTO-2).
func (c *Controller) ProbeAt() int64 { return c.probeAt }

// SilentAt is the time from which ROOM-7 holds.
func (c *Controller) SilentAt() int64 {
	delay, _ := c.Delays()
	return c.newsAt + delay
}

// PaceAt is when the pace lets the next slice go, in us.
func (c *Controller) PaceAt() int64 { return c.paceAt + (c.paceRest+999)/1000 }

// interval is in ns (PRO-1, PRO-2, PRO-4, and the bounds of PAC-8).
func (c *Controller) interval(fresh bool) int64 {
	limit := c.profile.interval()
	if fresh && c.profile.Burst {
		return max(BurstInterval, limit)
	}
	if c.profile.Fixed {
		return max(limit, Fastest)
	}
	return max(c.ofLimit(), Fastest, limit)
}

// ofLimit is PAC-8 and PAC-9.
func (c *Controller) ofLimit() int64 {
	if c.latest == 0 {
		return BurstInterval
	}
	ns := c.srtt * 1000 * S / c.limit
	if c.opening {
		ns = ns / 2
	} else if c.limit >= TwoSlices {
		ns = ns * 15 / 16
	}
	return min(ns, Slowest)
}

// Vars is what a controller knows.
type Vars struct {
	SRTT, MinRTT, PaceAt, Limit, Flight, CalmLost, CalmPassed int64
	SilentAt, ProbeAt, Slices, Lost, Arrived                  int64
	BeganAt, DecidesAt, Misses, Above, Speed, Step, Quiet     int64
	Others, Room                                              bool
}

// Vars returns it.
func (c *Controller) Vars() Vars {
	return Vars{
		SRTT: c.srtt, MinRTT: c.minRTT, PaceAt: 1000*c.paceAt + c.paceRest, Limit: c.limit, Flight: c.flight(), CalmLost: c.calmLost, CalmPassed: c.calmPassed,
		BeganAt: c.beganAt, DecidesAt: c.decidesAt, Misses: c.misses, Above: c.above, Speed: c.fromSpeed, Step: c.step, Quiet: c.quiet,
		SilentAt: c.SilentAt(), ProbeAt: c.probeAt, Slices: c.PathSlices(), Lost: c.Lost, Arrived: c.Arrived, Others: c.others, Room: c.HasRoom(),
	}
}

// Isqrt is the largest integer whose square is at most x.
func Isqrt(x int64) int64 {
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
