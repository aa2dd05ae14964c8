package control

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/rtt"
)

// Figures of section 4 (REC-10 has those of all sections).
const (
	fastest    = 7 * 1000 // RAT-2: nanoseconds a slice; 1.2 Gbit/s. A receiver's socket may hold 90 datagrams
	longTrain  = 16       // RAT-1
	shortTrain = 4        // RAT-1
	trainTime  = 20 * ms  // RAT-1
	rateEpoch  = 10 * ms  // RAT-5: at least
)

// rate estimates how many nanoseconds the path takes for a slice. A train is a
// run of acks; the time between its ends against what arrived between them is a
// sample.
type rate struct {
	lowest lowest // nanoseconds a slice

	open    bool
	since   core.Micros // the train's first newly acked slice
	arrived int64       // slices acked since
	passed  int64       // transmissions that arrived or were overtaken since
	newsAt  core.Micros // the latest newly acked slice
	pause   core.Micros // the longest time between two of them since

	whole int64 // nanoseconds a slice of the latest whole train, without its pause (CAP-2)

	ranDryAt core.Micros // the last time there was nothing to send but copies, the queue drained, or the caller was late
}

// newRate returns the estimate of a sender that knows nothing of the path and never
// ran dry (REC-8).
func newRate() rate { return rate{ranDryAt: -core.Never} }

// perSlice returns nanoseconds a slice; 0 while nothing is known.
func (r *rate) perSlice() int64 { return r.lowest.value() }

// PerSlice returns the estimate of the path, in nanoseconds a slice; 0 while
// nothing is known. A fixed rate is taken as given (PRO-4).
func (c *Controller) PerSlice() int64 {
	if c.config.Fixed {
		return max(c.config.limit(), fastest)
	}
	return c.rate.perSlice()
}

// EndTrain starts over: what lies between was not the path's rate.
func (c *Controller) EndTrain() { c.rate.open = false }

// Dry notes that something else than the path and the pace held the sender back:
// there was nothing to send but copies, the window was small for a look at the
// path (WIN-4), or its caller was late.
func (c *Controller) Dry(now core.Micros) { c.rate.ranDryAt = now }

// Arrived takes n slices that were newly acked, so many transmissions that are known to
// have passed the path since the last time, arrived or not, and how many slices were found
// lost, or fewer than none if some came late (REC-11).
func (c *Controller) Arrived(now core.Micros, n, passed, lost int) {
	if n > 0 {
		c.newsAt, c.timeouts, c.unanswered, c.silenced, c.probeAt = now, 0, 0, false, 0 // PTO-6
	}
	c.base.expire(now)
	c.losses.count(n+lost, n)
	c.train(now, int64(n), int64(passed))
	c.account(now, int64(n), int64(lost))
	c.decide(now, int64(n), int64(lost))
}

// train counts a train (RAT-1).
func (c *Controller) train(now core.Micros, n, passed int64) {
	r := &c.rate
	r.passed += passed
	if n == 0 {
		return
	}
	if r.open {
		r.arrived += n
		r.pause, r.newsAt = max(r.pause, now-r.newsAt), now
		took := now - r.since
		if r.arrived < longTrain && (r.arrived < shortTrain || took < max(c.MinRTT()/2, trainTime)) {
			return
		}
		c.addRate(now, int64(rtt.Clip(took))*1000)
	}
	r.open, r.since, r.newsAt, r.pause, r.arrived, r.passed = true, now, now, 0, 0, 0
}

// addRate takes a whole train's time in nanoseconds as a sample (RAT-2).
func (c *Controller) addRate(now core.Micros, took int64) {
	r := &c.rate
	short := max(took-int64(rtt.Clip(r.pause))*1000, 0)
	r.whole = short / r.arrived
	// A sender that ran dry measures itself (RAT-4).
	busy := r.ranDryAt < r.since-c.RTT.Smoothed || !c.config.has(Busy)
	known := r.perSlice()
	x := took / r.arrived
	// What was lost behind the bottleneck took its time there too; but no more of it than
	// is known not to depend on the rate, or a quarter (RAT-3).
	if r.passed > r.arrived && c.config.has(Overtaking) {
		x = max(took/r.passed, x*(1024-min(max(c.cap.calm, 256), 512))/1024)
	}
	x = max(x, fastest)
	if known == 0 || x < known || busy {
		r.lowest.add(now, x, max(c.RTT.Smoothed, rateEpoch))
	}
}

// delivered returns in how many nanoseconds a slice arrived of late, without the longest
// pause; 0 if that is not known (CAP-2).
func (c *Controller) delivered(now core.Micros) int64 {
	r := &c.rate
	if !r.open || r.arrived < 2 {
		return r.whole
	}
	return max(r.whole, int64(rtt.Clip(now-r.since-r.pause))*1000/r.arrived)
}
