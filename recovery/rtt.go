package recovery

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// roundTrip estimates the round-trip time, as section 9.3 of PROTOCOL.md does
// but for what section 3 of RECOVERY.md says.
type roundTrip struct {
	smoothed, variation Micros
	lowest              minRTT // of clean samples
	known               knowledge
	bound               Micros // the smallest found until it is measured; 0: none
}

type knowledge uint8

const (
	nothing knowledge = iota
	bounded           // the true one is not larger
	measured
)

// startChunk uses the smallest bound, if nothing better is known (RTT-6).
func (e *roundTrip) startChunk() {
	if e.known != measured && e.bound > 0 {
		e.smoothed, e.variation, e.known = e.bound, e.bound/16, bounded
	}
}

// clean takes a sample of a slice that was sent once (EST-2).
func (e *roundTrip) clean(now, r Micros) {
	e.lowest.add(now, max(r, 1), e.smoothed)
	if e.known != measured {
		e.smoothed, e.variation, e.known = r, r/8, measured
		return
	}
	e.smooth(r)
}

// smooth moves the estimate towards a sample (RTT-5).
func (e *roundTrip) smooth(r Micros) {
	d := min(r, e.smoothed*3/2+ms) - e.smoothed
	if d >= 0 {
		e.variation += (d - e.variation) / 4
		e.smoothed += d / 8
	} else {
		e.variation += (min(-d, e.variation) - e.variation) / 4
		e.smoothed += d / 4
	}
}

// boundedBy takes the time since the first transmission of a slice (RTT-4).
func (e *roundTrip) boundedBy(r Micros) {
	if e.bound == 0 || r < e.bound {
		e.bound = r
	}
}

// min returns the smallest clean sample of late (EST-6); 0 if there is none.
func (e *roundTrip) min() Micros { return e.lowest.value }

// least returns the shortest time in which an ack is believed to come back. A
// little less than the smallest sample, since a sample may hold the receiver's
// delay (EST-5).
func (s *Scheduler) least() Micros {
	if !s.profile.has(ruleSlack) {
		return s.rtt.min()
	}
	return s.rtt.min() * 15 / 16
}

// margin is how much later than the smoothed round trip an ack may come before
// its absence means something (TMR-3).
func (e *roundTrip) margin() Micros {
	return max(5*ms, e.smoothed/8, 4*e.variation)
}

// sampleRTT takes at most one sample from an ack: of the newest slice that was
// sent once, or else of the newest resent one that tells something, or else,
// while nothing was measured, a bound (EST-1 to EST-4).
func (s *Scheduler) sampleRTT(now Micros, news codec.Bitset) {
	once, again, bound := -1, -1, -1
	for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
		switch t := &s.slices[id]; {
		case t.once():
			once = s.newer(once, id)
		case s.rtt.known == measured && s.isSample(t, now-s.at(t.mainAt)):
			again = s.newer(again, id)
		default:
			bound = s.newer(bound, id)
		}
	}
	switch {
	case once >= 0:
		r := now - s.at(s.slices[once].lastAt)
		s.rtt.clean(now, r)
		s.tell(statemachine.MeasuredRTT, now, once, r)
	case again >= 0 && s.profile.has(ruleResentRTT):
		r := now - s.at(s.slices[again].mainAt)
		s.rtt.smooth(r)
		s.tell(statemachine.MeasuredRTT, now, again, r)
	case s.rtt.known != measured && bound >= 0:
		s.rtt.boundedBy(now - s.at(s.slices[bound].firstAt))
	}
}

// isSample reports whether r, the time since a slice was resent, tells of the
// round trip: it can be one, and if there were copies, of which any may have
// arrived first, it is a bound that lowers the estimate (EST-3).
func (s *Scheduler) isSample(t *transmissions, r Micros) bool {
	return r >= s.least() && (t.copies == 0 || r < s.rtt.smoothed)
}

// newer returns which of two slices was sent later; -1 stands for none.
func (s *Scheduler) newer(a, id int) int {
	if a >= 0 && older(&s.slices[id], &s.slices[a]) {
		return a
	}
	return id
}
