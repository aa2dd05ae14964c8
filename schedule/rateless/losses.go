package rateless

import "math"

// Figures of the losses, in sixteenths of a slice.
const (
	firstLost    = 16     // RPL-1
	firstArrived = 512    // RPL-1
	settled      = 1536   // RPL-5: with so many arrived the first ones have served
	prior        = 448    // RPL-5: how many of them are forgotten
	mostCounted  = 16_384 // RPL-5
)

const mostNeed = 1024 // RPL-4: transmissions

// losses counts what was lost and what arrived of late.
type losses struct {
	lost, arrived int64 // arrived is 1 at least
	settled       bool  // the first values were taken out again
}

func newLosses() *losses { return &losses{lost: firstLost, arrived: firstArrived} }

// count takes so many transmissions, of which some arrived: more than all of them if what
// was taken for lost came late (RPL-5, steps 3 to 5).
func (l *losses) count(passed, arrived int, forgets bool) {
	l.arrived += 16 * int64(arrived)
	l.lost = max(l.lost+16*int64(passed-arrived), 0)
	if !l.settled && l.arrived >= settled && forgets {
		l.arrived -= prior
		l.settled = true
	}
	if l.lost+l.arrived > mostCounted {
		l.lost /= 2
		l.arrived = max(l.arrived/2, 1)
	}
}

// need returns how many transmissions are to be under way so that d of them arrive, with
// the profile's certainty: d, what is expected to be lost meanwhile, and some standard
// deviations. All is in 256ths of a slice (RPL-4).
func (l *losses) need(d int, p *Profile) int {
	n, lost := int64(d), min(l.lost, 32*l.arrived)
	mean := 256 * n * lost / l.arrived
	variance := mean + mean*lost/l.arrived
	if p.has(ruleDoubt) {
		variance += variance * 16 * n / l.arrived // the estimate itself may be wrong
	}
	return int(min(n+(mean+isqrt(256*p.deviations()*variance)+128)/256, mostNeed))
}

// isqrt returns the largest integer whose square is at most n, which is below 2^52.
func isqrt(n int64) int64 { return int64(math.Sqrt(float64(n))) }
