package repair

// The constants of the round trip, the rate, the window and the pace: microseconds and slices,
// and nanoseconds where it says ns (RECOVERY.md, section 11; PROTOCOL.md, 9.7).
const (
	InitialDelay      = 250_000
	LongestDelay      = 3_000_000
	LeastMargin       = 5000
	SampleSlack       = 1000
	LongestSample     = 1 << 40
	HoldDelay         = 250_000
	ShortestHoldDelay = 2000
	CatchUp           = 20_000_000 // ns

	AckDelay      = 2000
	MinRTTLife    = 10_000_000
	LongTrain     = 16
	ShortTrain    = 4
	TrainTime     = 20_000
	RateEpoch     = 10_000
	Fastest       = 7000          // ns
	Slowest       = 1_000_000_000 // ns
	FirstWindow   = 64
	YieldWindow   = 16
	DrainWindow   = 4
	ProbeDelay    = 250_000
	BurstInterval = 85_000 // ns
)

// What is known of the round trip (SCH-11).
const (
	nothing  = "nothing"
	aBound   = "a bound"
	measured = "measured"
)

// RoundTrip is the estimate of the round trip (RECOVERY.md, section 3), and with repair slices
// that of the losses: what lanes share.
type RoundTrip struct {
	known                string
	srtt, rttvar, minRTT int64
	bound                int64 // never: none

	sampled, learned     bool // sampleAt and nearAt are times
	sampleAt, nearAt     int64
	drains               bool
	drainUntil, drainMin int64
	lost, arrived        int64 // in sixteenths
	settled              bool
}

// NewRoundTrip returns the estimate of who knows nothing.
func NewRoundTrip() *RoundTrip {
	return &RoundTrip{known: nothing, bound: never, lost: FirstLost, arrived: FirstArrived}
}

// limited is RTT-7.
func limited(r int64) int64 { return min(r, LongestSample) }

// start is RTT-6.
func (e *RoundTrip) start() {
	if e.known != measured && e.bound != never {
		e.known, e.srtt, e.rttvar = aBound, e.bound, e.bound/16
	}
}

// findBound is RTT-4.
func (e *RoundTrip) findBound(r int64) { e.bound = min(e.bound, limited(r)) }

// sample is EST-6 and EST-7, then the rest of RTT-2.
func (e *RoundTrip) sample(now, r int64) {
	r = limited(r)
	e.findSmallest(now, max(r, 1))
	if e.known != measured {
		e.known, e.srtt, e.rttvar = measured, r, r/8
		return
	}
	d := min(r, e.srtt*3/2+SampleSlack) - e.srtt
	if d >= 0 {
		e.rttvar += (d - e.rttvar) / 4
		e.srtt += d / 8
	} else {
		e.rttvar += (min(-d, e.rttvar) - e.rttvar) / 4
		e.srtt += d / 4
	}
}

// findSmallest is EST-6 and EST-7.
func (e *RoundTrip) findSmallest(now, r int64) {
	near := r <= e.minRTT+max(e.minRTT/8, AckDelay)
	was := e.sampled && now-e.sampleAt < MinRTTLife
	set := func(value int64) { e.minRTT, e.drains, e.nearAt, e.learned = value, false, now, true }
	switch {
	case !was:
		set(r)
	case near:
		set(min(e.minRTT, r))
	case e.drains:
		e.drainMin = min(e.drainMin, r)
		if now >= e.drainUntil {
			set(e.drainMin)
		}
	case now-e.nearAt >= MinRTTLife:
		e.drains, e.drainUntil, e.drainMin = true, now+2*e.srtt, r
	}
	e.sampled, e.sampleAt = true, now
}

// delays are the base delay and the margin (TMR-2, TMR-3).
func (e *RoundTrip) delays() (delay, margin int64) {
	if e.known == nothing {
		return InitialDelay, 0
	}
	v := max(LeastMargin, e.srtt/8, 4*e.rttvar)
	delay = min(e.srtt+v, LongestDelay)
	return delay, min(v, delay)
}

// rate is RECOVERY.md, section 4, and the time of the pace, which go from lane to lane.
type rate struct {
	current, before int64 // the smallest samples of this epoch and the one before; 0: none
	epochAt         int64 // the first sample of this epoch

	train                 bool
	trainSince, trainFrom int64
	gained                int64
	hasRunDry             bool
	ranDryAt              int64

	paceAt int64 // ns
}

// perSlice is in ns, 0 while it is unknown.
func (r *rate) perSlice() int64 {
	if r.before == 0 {
		return r.current
	}
	return min(r.current, r.before)
}

func (r *rate) ranDry(now int64) { r.hasRunDry, r.ranDryAt = true, now }

// take is RAT-1: n slices arrived, and newest is the highest number that did.
func (r *rate) take(now, n, newest int64, e *RoundTrip) {
	if r.train {
		r.gained += n
		took := now - r.trainSince
		if r.gained < LongTrain && (r.gained < ShortTrain || took < max(e.minRTT/2, TrainTime)) {
			return
		}
		r.sample(now, 1000*limited(took), newest, e)
	}
	r.train, r.trainSince, r.trainFrom, r.gained = true, now, newest, 0
}

// sample is RAT-2 to RAT-5.
func (r *rate) sample(now, took, newest int64, e *RoundTrip) {
	x := took / r.gained
	if o := newest - r.trainFrom; o > r.gained {
		x = max(took/o, x/2)
	}
	x = max(x, Fastest)
	known := r.perSlice()
	busy := !r.hasRunDry || r.ranDryAt < r.trainSince-e.srtt
	if known != 0 && x >= known && !busy {
		return
	}
	if r.current == 0 || now-r.epochAt >= max(e.srtt, RateEpoch) {
		r.before, r.current, r.epochAt = r.current, x, now
	}
	r.current = min(r.current, x)
}
