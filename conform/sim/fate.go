package sim

import (
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// Fate is a simple network for packets of one end: it returns when each copy of a
// packet arrives that is sent at now. None means that it is lost.
type Fate[P any] func(now core.Micros, p P) []core.Micros

// Steady is a network that loses nothing.
func Steady[P any](delay core.Micros) Fate[P] {
	return func(now core.Micros, _ P) []core.Micros { return []core.Micros{now + delay} }
}

// Outage is a network that loses everything that is sent from one time to another,
// and does with the rest what the other network does.
func Outage[P any](otherwise Fate[P], from, to core.Micros) Fate[P] {
	return func(now core.Micros, p P) []core.Micros {
		if now >= from && now < to {
			return nil
		}
		return otherwise(now, p)
	}
}

// Fates returns the carrier of two ends: down is the fate of what end 0 sends, up of
// what end 1 sends. Both may be changed at any time.
func Fates[P any](down, up *Fate[P]) Carrier[P] {
	return func(now time.Duration, from int, p P, deliver func(time.Duration, int, P)) {
		fate := *down
		if from == 1 {
			fate = *up
		}
		for _, at := range fate(core.FromDuration(now), p) {
			deliver(at.Duration(), 1-from, p)
		}
	}
}
