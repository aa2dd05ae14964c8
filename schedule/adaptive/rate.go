package adaptive

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

	open    bool
	since   machine.Micros // the train's first newly acked slice
	number  uint32         // the newest transmission that had arrived then
	arrived int            // slices acked since

	ranDryAt machine.Micros // the last time there was nothing to send but copies, the queue drained, or the caller was late
}

// newRate returns the estimate of a sender that knows nothing of the path and never
// ran dry (REC-8).
func newRate() rate { return rate{ranDryAt: -machine.Never} }

// perSlice returns nanoseconds a slice; 0 while nothing is known.
func (r *rate) perSlice() int64 { return r.lowest.value() }

// perSlice returns the estimate of the path, in nanoseconds a slice; 0 while
// nothing is. A fixed rate is taken as given (PRO-4).
func (s *Scheduler) perSlice() int64 {
	if s.profile.fixed {
		return max(s.profile.perSlice(), fastest)
	}
	return s.rate.perSlice()
}

// endTrain starts over: what lies between was not the path's rate.
func (r *rate) endTrain() { r.open = false }

// dry notes that something else than the path and the pace held the sender back:
// there was nothing to send but copies, the window was small for a look at the
// path (WIN-4), or its caller was late.
func (r *rate) dry(now machine.Micros) { r.ranDryAt = now }

// measureRate takes n slices that were newly acked (RAT-1).
func (s *Scheduler) measureRate(now machine.Micros, n int) {
	r := &s.rate
	if r.open {
		r.arrived += n
		took := now - r.since
		if r.arrived < longTrain && (r.arrived < shortTrain || took < max(s.rtt.min()/2, trainTime)) {
			return
		}
		s.addRate(now, int64(rtt.Clip(took))*1000)
	}
	r.open, r.since, r.number, r.arrived = true, now, s.newest, 0
}

// addRate takes the train's time in nanoseconds as a sample.
func (s *Scheduler) addRate(now machine.Micros, took int64) {
	r := &s.rate
	x := took / int64(r.arrived)
	// What was lost behind the bottleneck took its time there too; but never
	// assume that more than a third of what was sent was (RAT-3).
	if overtaken := int64(s.newest - r.number); overtaken > int64(r.arrived) && s.profile.has(ruleOvertaking) {
		x = max(took/overtaken, x*2/3)
	}
	x = max(x, fastest)
	// A sender that ran dry measures itself (RAT-4).
	busy := r.ranDryAt < r.since-s.rtt.Smoothed || !s.profile.has(ruleBusy)
	if known := r.perSlice(); known == 0 || x < known || busy {
		r.lowest.add(now, x, max(s.rtt.Smoothed, rateEpoch))
	}
}
