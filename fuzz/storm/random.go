package main

import (
	"math/bits"
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/core"
)

// random draws everything that chance decides from a world's seed. It uses integers
// only, so that all machines draw the same.
type random struct{ *rand.Rand }

func newRandom(seed, stream uint64) random { return random{rand.New(rand.NewPCG(seed, stream))} }

// between draws evenly from low to high, both included.
func (r random) between(low, high int64) int64 { return low + r.Int64N(high-low+1) }

// spread draws from low to high, at least 1, so that each power of two has the
// same chance: small figures come as often as large ones.
func (r random) spread(low, high int64) int64 {
	n := r.between(int64(bits.Len64(uint64(low))), int64(bits.Len64(uint64(high))))
	from, to := int64(1)<<(n-1), int64(1)<<n-1
	return r.between(max(low, from), min(high, to))
}

// time and spreadTime draw times by between and spread.
func (r random) time(low, high core.Micros) core.Micros {
	return core.Micros(r.between(int64(low), int64(high)))
}

func (r random) spreadTime(low, high core.Micros) core.Micros {
	return core.Micros(r.spread(int64(low), int64(high)))
}

// chance is true in ppm of a million draws.
func (r random) chance(ppm int) bool { return r.Int64N(1_000_000) < int64(ppm) }

// oneIn is true in one of n draws.
func (r random) oneIn(n int64) bool { return r.Int64N(n) == 0 }
