package control

import "math"

// Figures of the losses, in sixteenths of a slice.
const (
	firstLost    = 16               // CAP-8: a slice
	firstArrived = 16 * priorPassed // CAP-8
	mostCounted  = 16 * 1024        // CAP-8
)

// Losses counts recent losses and arrivals.
type Losses struct {
	Lost, Arrived int64 // in sixteenths of a slice; Arrived is 1 at least
}

func newLosses() Losses { return Losses{Lost: firstLost, Arrived: firstArrived} }

// count takes so many transmissions, of which some arrived: more than all of them if what
// was taken for lost came late (CAP-8).
func (l *Losses) count(passed, arrived int) {
	l.Arrived += 16 * int64(arrived)
	l.Lost = max(l.Lost+16*int64(passed-arrived), 0)
	if l.Lost+l.Arrived > mostCounted {
		l.Lost /= 2
		l.Arrived = max(l.Arrived/2, 1)
	}
}

// Isqrt returns the largest integer whose square is at most n, which is below 2^52.
func Isqrt(n int64) int64 { return int64(math.Sqrt(float64(n))) }
