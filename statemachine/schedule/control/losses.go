package control

import "math"

// Figures of the losses, in sixteenths of a slice.
const (
	firstLost    = 16     // CAP-8
	firstArrived = 512    // CAP-8
	settled      = 1536   // CAP-8: with so many arrived the first ones have served
	prior        = 448    // CAP-8: how many of them are forgotten
	mostCounted  = 16_384 // CAP-8
)

// Losses counts recent losses and arrivals.
type Losses struct {
	Lost, Arrived int64 // in sixteenths of a slice; Arrived is 1 at least
	settled       bool  // the first values were taken out again
}

func newLosses() Losses { return Losses{Lost: firstLost, Arrived: firstArrived} }

// count takes so many transmissions, of which some arrived: more than all of them if what
// was taken for lost came late (CAP-8).
func (l *Losses) count(passed, arrived int) {
	l.Arrived += 16 * int64(arrived)
	l.Lost = max(l.Lost+16*int64(passed-arrived), 0)
	if !l.settled && l.Arrived >= settled {
		l.Arrived -= prior
		l.settled = true
	}
	if l.Lost+l.Arrived > mostCounted {
		l.Lost /= 2
		l.Arrived = max(l.Arrived/2, 1)
	}
}

// Isqrt returns the largest integer whose square is at most n, which is below 2^52.
func Isqrt(n int64) int64 { return int64(math.Sqrt(float64(n))) }
