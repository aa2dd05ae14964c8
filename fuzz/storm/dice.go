package main

import (
	"math/bits"
	"math/rand/v2"
)

// dice draws everything that chance decides from a world's seed. It uses
// integers only, so that all machines draw the same.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) dice { return dice{rand.New(rand.NewPCG(seed, stream))} }

// between draws evenly from low to high, both included.
func (d dice) between(low, high int64) int64 { return low + d.Int64N(high-low+1) }

// spread draws from low to high, at least 1, so that each power of two has the
// same chance: small figures come as often as large ones.
func (d dice) spread(low, high int64) int64 {
	n := d.between(int64(bits.Len64(uint64(low))), int64(bits.Len64(uint64(high))))
	from, to := int64(1)<<(n-1), int64(1)<<n-1
	return d.between(max(low, from), min(high, to))
}

// chance is true in ppm of a million draws.
func (d dice) chance(ppm int) bool { return d.Int64N(1_000_000) < int64(ppm) }

// oneIn is true in one of n draws.
func (d dice) oneIn(n int64) bool { return d.Int64N(n) == 0 }
