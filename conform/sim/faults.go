package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Draw is chance, for random worlds.
type Draw struct{ *rand.Rand }

// NewDraw returns chance that two seeds decide.
func NewDraw(seed, stream uint64) Draw { return Draw{rand.New(rand.NewPCG(seed, stream))} }

// OneIn reports true once in n times.
func (d Draw) OneIn(n int) bool { return d.IntN(n) == 0 }

// Between draws a number from low to high.
func (d Draw) Between(low, high int) int { return low + d.IntN(high-low+1) }

// Time draws a time from low to high.
func (d Draw) Time(low, high core.Micros) core.Micros {
	return low + core.Micros(d.Int64N(int64(high-low)+1))
}

// Spread draws from low to high, at least 1, so that each power of two has the same chance: small
// figures come as often as large ones.
func (d Draw) Spread(low, high int64) int64 {
	n := d.between(int64(bits.Len64(uint64(low))), int64(bits.Len64(uint64(high))))
	from, to := int64(1)<<(n-1), int64(1)<<n-1
	return d.between(max(low, from), min(high, to))
}

func (d Draw) between(low, high int64) int64 { return low + d.Int64N(high-low+1) }

// SpreadTime draws a time as Spread does.
func (d Draw) SpreadTime(low, high core.Micros) core.Micros {
	return core.Micros(d.Spread(int64(low), int64(high)))
}

// Chance reports true in so many of a million draws.
func (d Draw) Chance(ppm int) bool { return d.IntN(1_000_000) < ppm }

// Among draws one of several.
func Among[T any](d Draw, values ...T) T { return values[d.IntN(len(values))] }

// Path draws one with any faults but bursts and outages. One in three has a bottleneck, with a queue of a
// second at most.
func (d Draw) Path() netsim.Path {
	ms := func(n int) time.Duration { return time.Duration(d.IntN(n+1)) * time.Millisecond }
	p := netsim.Path{Delay: ms(Among(d, 1, 20, 80, 200)), Loss: d.Float64() * Among(d, 0, 2, 10, 30, 60.0)}
	if d.OneIn(2) {
		p.Jitter = ms(60)
	}
	if d.OneIn(2) {
		p.Reorder, p.ReorderDelay = d.Float64()*50, ms(100)
	}
	if d.OneIn(3) {
		p.Duplicate = d.Float64() * 20
	}
	if d.OneIn(3) {
		p.Rate, p.Overhead = d.Spread(64_000, 200_000_000), 28
		p.Queue = int(d.Spread(3_000, max(20_000, p.Rate/8)))
	}
	return p
}

// Changed returns bytes with a few bits changed, a burst of 32 bits at most, cut, or longer; and whether they
// are others at all. A crc finds the first two.
func (d Draw) Changed(of []byte) (b []byte, are bool) {
	b = bytes.Clone(of)
	switch n := len(b); {
	case n > 4 && d.OneIn(4):
		at := d.IntN(n - 3)
		binary.LittleEndian.PutUint32(b[at:], binary.LittleEndian.Uint32(b[at:])^max(1, d.Uint32()))
	case n > 0 && d.OneIn(3):
		b = b[:d.IntN(n)]
	case n == 0 || d.OneIn(3):
		b = append(b, make([]byte, d.Between(1, 40))...)
	default:
		for range d.Between(1, 3) {
			bit := d.IntN(8 * n)
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
	return b, !bytes.Equal(b, of)
}

// Seen is some of the things that were shown, of any age.
type Seen[T any] []T

const mostSeen = 256

// See keeps one.
func (s *Seen[T]) See(d Draw, v T) {
	if len(*s) < mostSeen {
		*s = append(*s, v)
	} else {
		(*s)[d.IntN(mostSeen)] = v
	}
}

// Faults is a link with losses in bursts, and with outages.
type Faults struct {
	Link          *netsim.Link
	toBad, toGood float64 // chance for each datagram (Gilbert and Elliott)
	lossInBad     float64
	bad           bool
	outages       [][2]core.Micros
	numbers       Draw
}

// Faults draws a link, whose outages begin before a time.
func (d Draw) Faults(seed uint64, until core.Micros) (*Faults, netsim.Path, error) {
	path := d.Path()
	link, err := netsim.NewLink(path, seed)
	f := &Faults{Link: link, numbers: NewDraw(seed, 12)}
	if d.OneIn(3) {
		f.toBad, f.toGood, f.lossInBad = d.Float64()*0.05, 0.02+d.Float64()*0.5, 0.5+d.Float64()/2
	}
	for range Among(d, 0, 0, 1, 3) {
		from := d.Time(0, until)
		f.outages = append(f.outages, [2]core.Micros{from, from + d.Time(0, Among[core.Micros](d, 200, 1000, 5000)*core.Millisecond)})
	}
	return f, path, err
}

// Lost reports whether a datagram is lost by a burst or an outage.
func (f *Faults) Lost(now core.Micros) bool {
	if f.bad {
		f.bad = f.numbers.Float64() >= f.toGood
	} else {
		f.bad = f.numbers.Float64() < f.toBad
	}
	return f.bad && f.numbers.Float64() < f.lossInBad ||
		slices.ContainsFunc(f.outages, func(o [2]core.Micros) bool { return now >= o[0] && now < o[1] })
}

// String returns the bursts and outages in words.
func (f *Faults) String() string {
	return fmt.Sprintf("bursts %v %v %v, outages %v", f.toBad, f.toGood, f.lossInBad, f.outages)
}
