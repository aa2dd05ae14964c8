package netsim

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"time"
)

// chances is everything that chance decides about one datagram.
type chances struct {
	jitter     time.Duration
	lost       bool
	duplicated bool
	held       bool // the datagram is held back
	copyHeld   bool // its copy is, if there is one
}

// draw takes the same five draws for every datagram, whether or not they
// matter. A datagram that skipped some would shift the draws of all that
// follow: one more loss would then be a wholly different run.
func draw(random *rand.PCG, p *Path, afterLoss, bad bool) chances {
	return chances{
		jitter:     time.Duration(below(random, uint64(p.Jitter)+1)),
		lost:       hit(random, p.lossAfter(afterLoss, bad)),
		duplicated: hit(random, p.Duplicate),
		held:       hit(random, p.Reorder),
		copyHeld:   hit(random, p.Reorder),
	}
}

// blemishes is what chance decides about one datagram beside its chances: from draws of their own, so
// that the worlds of a seed are what they were before there were these.
type blemishes struct {
	bad     bool // the link is in its bad state for the next datagram
	corrupt bool
	bit     uint64 // which bit is flipped: a fraction of all bits, in units of 2^-64
}

// blemish takes the same three draws for every datagram, as draw does.
func blemish(random *rand.PCG, p *Path, bad bool) blemishes {
	return blemishes{
		bad:     hit(random, p.badAfter(bad)),
		corrupt: hit(random, p.Corrupt),
		bit:     random.Uint64(),
	}
}

// among returns which of so many bits is flipped.
func (b blemishes) among(n int) int {
	hi, _ := bits.Mul64(b.bit, uint64(n))
	return int(hi)
}

// million is the resolution of a chance.
const million = 1_000_000

// hit is true in percent of a hundred draws. What hits at one chance also hits at
// a higher one.
func hit(random *rand.PCG, percent float64) bool {
	return below(random, million) < uint64(math.Round(percent*(million/100)))
}

// below draws uniformly from [0, n). Unlike rand.Uint64N it never draws twice.
// The price is a bias below n in 2^64.
func below(random *rand.PCG, n uint64) uint64 {
	hi, _ := bits.Mul64(random.Uint64(), n)
	return hi
}

// deriveSeed returns the seed of the link between two names, so that each link
// has its own draws, whichever is used first.
func deriveSeed(seed uint64, from, to string) uint64 {
	h := fnv.New64a()
	key := binary.BigEndian.AppendUint64(nil, seed)
	// The length keeps ("a", "bc") apart from ("ab", "c").
	key = binary.BigEndian.AppendUint64(key, uint64(len(from)))
	h.Write(append(append(key, from...), to...))
	return h.Sum64()
}
