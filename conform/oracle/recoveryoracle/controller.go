package recoveryoracle

import (
	"math"
	"slices"
)

// The constants of the controller (RECOVERY.md, section 17): microseconds, slices, and for
// limits eighths of a slice; nanoseconds where it says ns.
const (
	AckDelay          = 2000
	MinRTTLife        = 10_000_000
	DrainFirst        = 2_500_000
	DrainEvery        = 10_000_000
	DrainLate         = 7_000_000
	DrainSoon         = 500_000
	DrainMisses       = 3
	Fall              = 1000
	LongTrain         = 16
	ShortTrain        = 4
	TrainTime         = 20_000
	RateEpoch         = 10_000
	Fastest           = 7000          // ns
	Slowest           = 1_000_000_000 // ns
	YieldWindow       = 20
	DrainWindow       = 4
	MostWindow        = 1<<31 - 1
	FirstLimit        = 256
	LeastLimit        = 4
	TwoSlices         = 16
	TargetLeast       = 5000
	TargetMost        = 20_000
	SumMost           = 256
	CalmMost          = 1024
	CalmPrior         = 64
	AlarmFirst        = 1_000_000
	Rises             = 8
	RiseSlack         = 5000
	LeastRise         = 10_000
	CalmQueue         = 5_000
	CalmRounds        = 2
	Quiet             = 20_000_000
	Steady            = 4
	SteadyBand        = 2000
	Crowd             = 64
	MuchLost          = 128
	LeastLost         = 16
	MostLost          = 768
	CapBad            = 4
	FirstWait         = 24
	LongestWait       = 384
	LongestProbe      = 1_000_000
	MostDoubled       = 10
	SilentTimers      = 3
	SilentAcks        = 8
	HoldDelay         = 250_000
	ShortestHoldDelay = 2000
	CatchUp           = 20_000_000 // ns
	BurstInterval     = 85_000     // ns
	FirstLost         = 16
	FirstArrived      = 512
	Settled           = 1536
	Prior             = 448
	MostCounted       = 16_384
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
	roundTrip
	latest                            int64
	sampled                           bool
	minRTT, sampleAt                  int64
	drainUntil, drainFullAt, drainMin int64
	drainAt, endedAt, gap             int64
	fell                              bool
	misses                            int64
	busySince                         int64

	// The rate (RAT-1 to RAT-5).
	train                                      bool
	trainSince, trainNewsAt                    int64
	gained, goneBy, pause                      int64
	arrival                                    int64 // ns
	rateOfEpoch, rateBefore, epochAt, ranDryAt int64

	// The limit (LMT-1), and whose the queue is (CTD-7).
	limit, step            int64
	opening                bool
	roundAt, closesAt      int64
	low, lowBefore, most   int64
	full, blocked          bool
	roundLost, roundPassed int64
	marked                 int64
	sumLost, sumPassed     int64
	calmLost, calmPassed   int64
	noise                  int64
	contested              bool
	calmRounds             int64
	rises, risesFrom       int64
	row, rowAt, rowLimit   int64
	rowLost                int64
	abrupt                 bool
	flat, flatLow          int64

	// Losses that a rate causes (CAP-1), and those of late (CAP-8).
	cap, look                              int64 // ns
	seeking                                bool
	bad, raisedAt                          int64
	lossBefore, calm                       int64
	lookAt, wait                           int64
	accountAt, accountArrived, accountLost int64
	Lost, Arrived                          int64 // in sixteenths
	settled                                bool

	// Pace and timers.
	paceAt               int64 // ns
	heardAt              int64
	timeouts, unanswered int64
	silenced             bool
	probeAt              int64
}

// NewController returns the controller of who knows nothing (REC-8).
func NewController(p Profile) *Controller {
	return &Controller{
		profile: p, roundTrip: roundTrip{known: nothing, bound: never}, ranDryAt: -never,
		limit: FirstLimit, step: 8, opening: true, Lost: FirstLost, Arrived: FirstArrived,
	}
}

// Join makes a sender one of those that use the controller, and Leave takes it away.
func (c *Controller) Join(l Lane) { c.lanes = append(c.lanes, l) }

// Leave ends a sender's part.
func (c *Controller) Leave(l Lane) {
	c.lanes = slices.DeleteFunc(c.lanes, func(other Lane) bool { return other == l })
}

// flight is what all lanes have in flight.
func (c *Controller) flight() (n int64) {
	for _, l := range c.lanes {
		n += l.InFlight()
	}
	return n
}

// OnFlight is what follows when the flight changes (LMT-1).
func (c *Controller) OnFlight() { c.most = max(c.most, 8*c.flight()) }

// OnBegin is the controller's part of REC-2, before the chunk is in flight.
func (c *Controller) OnBegin(now int64) {
	if !slices.ContainsFunc(c.lanes, Lane.Busy) {
		c.busySince, c.look = now, 0
		c.beginAccount(now)
	}
	c.useBound()
	c.EndTrain()
}

// OnNews is REC-11.
func (c *Controller) OnNews(now, n, passed, missing int64) {
	if n > 0 { // PTO-6
		c.heardAt = now
		c.timeouts, c.unanswered, c.probeAt, c.silenced = 0, 0, 0, false
	}
	if c.drainUntil != 0 && now >= c.drainUntil { // a drain that no sample has ended says nothing of the path
		misses := c.misses
		c.endDrain(now, true)
		c.misses = misses
	}
	c.count(n, missing)
	c.onTrain(now, n, passed)
	c.onAccount(now, n, missing)
	c.onRound(now, n, missing)
}

// EndTrain forgets the train.
func (c *Controller) EndTrain() { c.train = false }

// OnMarks is ECN-1.
func (c *Controller) OnMarks(n int64) { c.marked += n }

// OnTimer is PTO-3 and PTO-7.
func (c *Controller) OnTimer(now int64) {
	c.train = false
	x, _ := c.Delays()
	if c.known == measured {
		x /= 8
	}
	for range min(c.timeouts, MostDoubled) {
		x *= 2
	}
	c.probeAt = now + min(x, LongestProbe)
	c.timeouts++
	if c.known != measured {
		c.limit = max(min(c.limit, c.most)/2, TwoSlices)
	} else {
		expected := c.unanswered * c.Arrived / (c.Arrived + c.Lost) * c.Arrived / (c.Arrived + c.Lost)
		if c.silenced || c.timeouts < SilentTimers || expected < SilentAcks {
			return
		}
		c.limit = max(c.limit/2, min(c.limit, TwoSlices))
	}
	c.silenced, c.step = true, max(c.limit/4, 1)
}

// count is CAP-8.
func (c *Controller) count(n, missing int64) {
	c.Arrived += 16 * n
	c.Lost = max(c.Lost+16*missing, 0)
	if !c.settled && c.Arrived >= Settled {
		c.Arrived, c.settled = c.Arrived-Prior, true
	}
	if c.Lost+c.Arrived > MostCounted {
		c.Lost, c.Arrived = c.Lost/2, max(c.Arrived/2, 1)
	}
}

// OnCleanSample is a clean sample of the round trip (EST-2).
func (c *Controller) OnCleanSample(now, r int64) {
	r = max(limited(r), 1)
	c.smooth(r)
	c.latest, c.sampled = r, true
	forgotten := c.minRTT == 0 || now-c.sampleAt >= MinRTTLife
	c.sampleAt = now
	if forgotten { // EST-6
		c.minRTT, c.misses, c.drainAt, c.drainUntil = r, 0, now+DrainFirst, 0
		return
	}
	if r < c.minRTT { // EST-8
		if c.minRTT-r >= Fall {
			c.fell = true
			if c.drainUntil == 0 && !c.contested {
				c.beginDrain(now, r)
			}
		}
		c.minRTT = r
	}
	ended, near := false, false
	if c.drainUntil != 0 { // EST-9
		c.drainMin = min(c.drainMin, r)
		near = c.drainMin <= c.minRTT+max(c.minRTT/8, AckDelay)
		if now >= c.drainUntil || near && !c.fell && now >= c.drainFullAt {
			c.endDrain(now, near)
			ended = true
		}
	}
	busy := c.contested || now-c.busySince >= DrainFirst || now-c.drainAt >= DrainLate
	if c.drainUntil == 0 && now >= c.drainAt && busy { // EST-7
		c.beginDrain(now, r)
	}
	if ended {
		c.noise = c.noise * 3 / 4 // CTD-5
		if c.contested && near {
			c.endContest(now)
		}
	}
}

// beginDrain is EST-7.
func (c *Controller) beginDrain(now, r int64) {
	c.drainUntil, c.drainFullAt, c.drainMin = now+2*max(c.srtt, r), now+r, r
}

// endDrain is EST-9 and EST-10.
func (c *Controller) endDrain(now int64, near bool) {
	c.drainUntil, c.endedAt, c.drainAt = 0, now, now+DrainEvery
	c.gap = min(2*max(c.gap, AlarmFirst), DrainEvery)
	if c.fell {
		c.drainAt, c.gap, c.fell = now+DrainSoon, DrainSoon, false
	}
	if near {
		c.misses = 0
	} else if !c.contested {
		c.misses++
		if c.misses == DrainMisses {
			c.minRTT, c.misses = c.drainMin, 0
		}
	}
}

// perSlice is in ns, 0 while it is unknown (RAT-5, PRO-4).
func (c *Controller) perSlice() int64 {
	switch {
	case c.profile.Fixed:
		return max(c.profile.interval(), Fastest)
	case c.rateBefore == 0:
		return c.rateOfEpoch
	}
	return min(c.rateOfEpoch, c.rateBefore)
}

// MinRTT is the smallest clean sample of late, 0 before there is one.
func (c *Controller) MinRTT() int64 { return c.minRTT }

// Yield says whether other packets must not wait behind slices (WIN-5).
func (c *Controller) Yield(yields bool) { c.yields = yields }

// RanDry notes that something else than the path and the pace held the sender back.
func (c *Controller) RanDry(now int64) { c.ranDryAt = now }

// onTrain is RAT-1.
func (c *Controller) onTrain(now, n, passed int64) {
	c.goneBy += passed
	if n == 0 {
		return
	}
	if c.train {
		c.gained += n
		c.pause, c.trainNewsAt = max(c.pause, now-c.trainNewsAt), now
		if c.gained < LongTrain && (c.gained < ShortTrain || now-c.trainSince < max(c.minRTT/2, TrainTime)) {
			return
		}
		c.onWholeTrain(now, 1000*limited(now-c.trainSince))
	}
	c.train, c.trainSince, c.trainNewsAt, c.pause, c.gained, c.goneBy = true, now, now, 0, 0, 0
}

// onWholeTrain is RAT-2 to RAT-5; took is in ns.
func (c *Controller) onWholeTrain(now, took int64) {
	c.arrival = max(took-1000*limited(c.pause), 0) / c.gained
	x := took / c.gained
	if c.goneBy > c.gained {
		x = max(took/c.goneBy, x*(1024-min(max(c.calm, 256), 512))/1024)
	}
	x = max(x, Fastest)
	known := c.rateOfEpoch
	if c.rateBefore != 0 {
		known = min(known, c.rateBefore)
	}
	dry := c.ranDryAt >= c.trainSince-c.srtt
	if known != 0 && x >= known && dry {
		return
	}
	if c.rateOfEpoch == 0 || now-c.epochAt >= max(c.srtt, RateEpoch) {
		c.rateBefore, c.rateOfEpoch, c.epochAt = c.rateOfEpoch, x, now
	}
	c.rateOfEpoch = min(c.rateOfEpoch, x)
}

// HasRoom is WIN-3 and LMT-9.
func (c *Controller) HasRoom() bool {
	if c.profile.Burst || c.profile.Fixed {
		return true
	}
	if c.flight() >= c.slices() {
		c.full, c.blocked = true, true
		return false
	}
	return c.contested && c.drainUntil == 0 || c.flight() < c.window()
}

// slices is the limit in slices (LMT-9, WIN-5).
func (c *Controller) slices() int64 {
	n := max(c.limit, TwoSlices) / 8
	if c.yields && c.perSlice() == 0 {
		n = min(n, YieldWindow)
	}
	return n
}

// window is WIN-1, WIN-2, WIN-4 and WIN-5.
func (c *Controller) window() int64 {
	if c.perSlice() == 0 {
		return MostWindow
	}
	if c.drainUntil != 0 {
		return DrainWindow
	}
	held := (c.minRTT + AckDelay) * 1000 / c.perSlice()
	if !c.yields {
		held = held * 3 / 2
	}
	return min(held+8, MostWindow)
}

// PathSlices is WIN-6.
func (c *Controller) PathSlices() int64 {
	if c.contested && c.drainUntil == 0 {
		return c.slices()
	}
	return min(c.window(), c.slices())
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
	if c.drainUntil != 0 || c.blocked {
		c.RanDry(now)
		c.blocked = false
	}
	busy := slices.ContainsFunc(c.lanes, func(l Lane) bool { return !l.Idle() })
	if !busy { // PAC-5
		c.paceAt = max(c.paceAt, 1000*now)
	}
	if !wanted || 1000*now < c.paceAt {
		return false
	}
	if c.paceAt < 1000*now-CatchUp { // PAC-4
		c.RanDry(now)
	}
	c.unanswered++
	c.paceAt = max(c.paceAt, 1000*now-CatchUp) + c.interval(fresh)
	return true
}

// ProbeAt is the time before which no probe goes (PTO-2).
func (c *Controller) ProbeAt() int64 { return c.probeAt }

// SilentAt is the time from which LMT-10 holds.
func (c *Controller) SilentAt() int64 {
	delay, _ := c.Delays()
	return c.heardAt + delay
}

// PaceAt is when the pace lets the next slice go, in us.
func (c *Controller) PaceAt() int64 { return (c.paceAt + 999) / 1000 }

// interval is in ns (PRO-1, PRO-2, PRO-4, and the end of PAC-7).
func (c *Controller) interval(fresh bool) int64 {
	limit := c.profile.interval()
	if fresh && c.profile.Burst {
		return max(BurstInterval, limit)
	}
	if c.profile.Fixed {
		return max(limit, Fastest)
	}
	return max(c.ofPath(), Fastest, limit)
}

// ofPath is PAC-1 to PAC-3, PAC-6 and PAC-7.
func (c *Controller) ofPath() int64 {
	ns := min(c.perSlice()*7/8, Slowest)
	r := 8000 * c.latest / c.limit
	if c.contested {
		ns = min(ns, r*3/4)
	} else if c.limit < TwoSlices {
		ns = max(ns, r)
		c.full, c.blocked = true, true
	} else if !c.opening {
		ns = max(ns, r/2)
	}
	return min(max(ns, c.cap, c.look), Slowest)
}
