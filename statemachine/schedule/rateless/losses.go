package rateless

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

const mostNeed = 1024 // RPL-4: transmissions

// need returns how many transmissions are to be under way so that d of them arrive, with
// the profile's certainty: d, what is expected to be lost meanwhile, and some standard
// deviations. All is in 256ths of a slice (RPL-4).
func need(l *control.Losses, d int, p *Profile) int {
	n, lost := int64(d), min(l.Lost, 32*l.Arrived)
	mean := 256 * n * lost / l.Arrived
	variance := mean + mean*lost/l.Arrived
	if p.has(ruleDoubt) {
		variance += variance * 16 * n / l.Arrived // the estimate itself has an error
	}
	return int(min(n+(mean+control.Isqrt(256*p.deviations()*variance)+128)/256, mostNeed))
}
