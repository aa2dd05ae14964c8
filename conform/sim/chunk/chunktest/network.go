package chunktest

import (
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
)

// network is one direction of a network, which gets good at a time.
type network struct {
	loss, doubled float64 // chances of a packet to be lost, or doubled
	delay         core.Micros
	jitter        core.Micros // added at random, so packets overtake each other
	goodFrom      core.Micros
	random        *rand.Rand
}

// Network draws one direction of a network, which loses, doubles, delays and reorders until
// a time, and is good from then on.
func Network[P any](t *rapid.T, name string, goodFrom core.Micros) sim.Fate[P] {
	n := &network{
		loss:     rapid.SampledFrom([]float64{0, 0.01, 0.1, 0.5, 0.9}).Draw(t, name+" loss"),
		doubled:  rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, name+" doubled"),
		delay:    core.Micros(rapid.SampledFrom([]int64{0, 500, 25_000, 200_000}).Draw(t, name+" delay")),
		jitter:   core.Micros(rapid.SampledFrom([]int64{0, 1000, 30_000, 2_000_000}).Draw(t, name+" jitter")),
		goodFrom: goodFrom,
		random:   rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 1)),
	}
	return func(now core.Micros, _ P) []core.Micros { return n.arrivals(now) }
}

func (n *network) arrivals(now core.Micros) (at []core.Micros) {
	if now >= n.goodFrom {
		return []core.Micros{now + n.delay}
	}
	if n.random.Float64() < n.loss {
		return nil
	}
	copies := 1
	if n.random.Float64() < n.doubled {
		copies = 2
	}
	for range copies {
		late := core.Micros(0)
		if n.jitter > 0 {
			late = core.Micros(n.random.Int64N(int64(n.jitter)))
		}
		at = append(at, now+n.delay+late)
	}
	return at
}

// Pattern loses packets by a list that it walks in a circle, and all of them during an
// outage. Those that arrive take a while.
type Pattern struct {
	Survives []bool
	Delay    core.Micros
	Over     bool // nothing is lost any more

	next    int
	outages [][2]core.Micros
}

// NewPattern draws a loss of less than 100 %: any at all that lets one packet of a round
// survive.
func NewPattern(t *rapid.T, name string, delay core.Micros) *Pattern {
	p := &Pattern{Survives: rapid.SliceOfN(rapid.Bool(), 1, 30).Draw(t, name+" that survive"), Delay: delay}
	p.Survives[rapid.IntRange(0, len(p.Survives)-1).Draw(t, name+" survivor")] = true
	return p
}

// DrawOutages draws up to two outages.
func (p *Pattern) DrawOutages(t *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(t, "outages") {
		from := core.Micros(rapid.SampledFrom([]int64{0, 30_000, 300_000, 3_000_000}).Draw(t, "from"))
		length := core.Micros(rapid.SampledFrom([]int64{20_000, 500_000, 4_000_000, 20_000_000}).Draw(t, "for"))
		p.outages = append(p.outages, [2]core.Micros{from, from + length})
	}
}

// Fate is a sim.Fate of any packets.
func Fate[P any](p *Pattern) sim.Fate[P] {
	return func(now core.Micros, _ P) []core.Micros {
		during := func(o [2]core.Micros) bool { return o[0] <= now && now < o[1] }
		p.next = (p.next + 1) % len(p.Survives)
		if !p.Over && (!p.Survives[p.next] || slices.ContainsFunc(p.outages, during)) {
			return nil
		}
		return []core.Micros{now + p.Delay}
	}
}
