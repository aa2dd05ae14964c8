package control

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/rtt"
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

	open          bool
	since         machine.Micros // the train's first newly acked slice
	arrived       int            // slices acked since
	pause, newsAt machine.Micros // the longest time without news since
	passed        int            // transmissions that arrived or were overtaken since

	ranDryAt machine.Micros // the last time there was nothing to send but copies, the queue drained, or the caller was late
}

// newRate returns the estimate of a sender that knows nothing of the path and never
// ran dry (REC-8).
func newRate() rate { return rate{ranDryAt: -machine.Never} }

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
func (c *Controller) Dry(now machine.Micros) { c.rate.ranDryAt = now }

// Arrived takes n slices that were newly acked, so many transmissions that are known
// to have passed the path, arrived or not, since the last time, and how many of them were
// found lost (RAT-1).
func (c *Controller) Arrived(now machine.Micros, n, passed, lost int) {
	if n > 0 {
		c.timeouts, c.unanswered, c.cutForSilence, c.probeAt = 0, 0, false, 0
	}
	c.losses.count(n+lost, n)
	c.train(now, n, passed)
	c.account(now, n, lost)
	c.decide(now, n, lost)
}

func (c *Controller) train(now machine.Micros, n, passed int) {
	if n == 0 {
		c.rate.passed += passed
		return
	}
	r := &c.rate
	if r.open {
		r.arrived += n
		r.passed += passed
		r.pause = max(r.pause, now-r.newsAt)
		r.newsAt = now
		took := now - r.since
		if r.arrived < longTrain && (r.arrived < shortTrain || took < max(c.MinRTT()/2, trainTime)) {
			return
		}
		c.addRate(now, int64(rtt.Clip(took))*1000, int64(r.passed))
	}
	r.open, r.since, r.passed, r.arrived, r.pause, r.newsAt = true, now, 0, 0, 0, now
}

// delivered returns in how many nanoseconds a slice arrived of late, without the longest
// pause; 0 if that is not known.
func (c *Controller) delivered(now machine.Micros) int64 {
	r := &c.rate
	ns := c.cap.trainInterval
	if r.open && r.arrived >= 2 {
		ns = max(ns, int64(now-r.since-r.pause)*1000/int64(r.arrived))
	}
	return ns
}

// addRate takes the train's time in nanoseconds, in which so many transmissions
// passed, as a sample.
func (c *Controller) addRate(now machine.Micros, took, passed int64) {
	r := &c.rate
	x := took / int64(r.arrived)
	c.cap.trainInterval = max(took-int64(r.pause)*1000, 0) / int64(r.arrived)
	// What was lost behind the bottleneck took its time there too; but never
	// assume that more than half of what was sent was (RAT-3).
	if passed > int64(r.arrived) && c.config.has(Overtaking) {
		x = max(took/passed, x*(1024-min(max(c.cap.calm, 256), 512))/1024)
	}
	x = max(x, fastest)
	// A sender that ran dry measures itself (RAT-4).
	busy := r.ranDryAt < r.since-c.RTT.Smoothed || !c.config.has(Busy)
	if known := r.perSlice(); known == 0 || x < known || busy {
		r.lowest.add(now, x, max(c.RTT.Smoothed, rateEpoch))
	}
}
