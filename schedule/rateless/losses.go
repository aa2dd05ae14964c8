package rateless

import "math"

// Figures of the estimate of the loss.
const (
	firstLost    = 16     // before anything is known: one of 33
	firstArrived = 512    // in sixteenths of a slice
	settledAt    = 1536   // what has arrived when the prior has served
	prior        = 448    // what of it is then forgotten
	mostCounted  = 16_384 // lost and arrived, before both are halved
	mostLost     = 32     // of one that arrived
	maxFlight    = 1024   // transmissions
	deviations   = 4      // two standard deviations, squared
	spread       = 9      // three
)

// losses counts what was lost and what arrived of late, in sixteenths of a slice.
type losses struct {
	lost, arrived int64
	settled       bool
}

func newLosses() *losses { return &losses{lost: firstLost, arrived: firstArrived} }

// count takes the fate of so many transmissions, of which some arrived: more than all,
// if some of them were taken for lost before.
func (l *losses) count(passed, arrived int, settles bool) {
	l.arrived += 16 * int64(arrived)
	l.lost = max(l.lost+16*int64(passed-arrived), 0)
	if !l.settled && l.arrived >= settledAt && settles {
		l.arrived -= prior
		l.settled = true
	}
	if l.lost+l.arrived > mostCounted {
		l.lost, l.arrived = l.lost/2, max(l.arrived/2, 1)
	}
}

// need returns how many transmissions must be in flight so that d of them arrive, but
// for so many standard deviations, squared: what is expected to be lost of them, and a
// margin. Of the loss itself only so much is known as was counted.
func (l *losses) need(d int, squared int64, doubt bool) int {
	n, lost := int64(d), min(l.lost, mostLost*l.arrived)
	mean := 256 * n * lost / l.arrived // in 256ths of a slice
	variance := mean + mean*lost/l.arrived
	if doubt {
		variance += variance * 16 * n / l.arrived
	}
	return int(min(n+(mean+isqrt(256*squared*variance)+128)/256, maxFlight))
}

// isqrt returns the square root of n, truncated, for n below 2^52.
func isqrt(n int64) int64 { return int64(math.Sqrt(float64(n))) }
