package tcp

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// Figures of BBR's first version (draft-cardwell-iccrg-bbr-congestion-control-00); gains in percent.
const (
	bbrHigh     = 289 // 2/ln 2
	bbrWindow   = 200
	bbrGrows    = 125 // of the bandwidth, in a round, while the pipe is not full
	bbrFull     = 3   // so many rounds in which it does not grow are enough
	bbrRounds   = 10  // for so many a bandwidth counts
	bbrLeastAge = 10 * core.Second
	bbrLeastFor = 200 * core.Millisecond
	bbrLeast    = 4 * one
	bbrQuanta   = 3 * one
)

var bbrCycle = [...]int64{125, 75, 100, 100, 100, 100, 100, 100}

// bbrState is what a BBR does.
type bbrState uint8

const (
	bbrStartup bbrState = iota
	bbrDrain
	bbrCruise // through the cycle of gains
	bbrEmpty  // to see the round trip without a queue
)

// bbr is a window and a pace from the largest bandwidth of ten rounds and the smallest round trip of ten seconds.
// Bandwidth is measured over whole rounds.
type bbr struct {
	state     bbrState
	first     int64            // the window before there is a bandwidth
	bandwidth [bbrRounds]int64 // of the last rounds, in units of one a second
	round     int
	roundTop  int64 // the round ends when this has arrived
	roundAt   core.Micros
	delivered int64 // in the round
	best      int64 // bandwidth when the pipe was last found to be fuller
	still     int   // rounds since then
	least     core.Micros
	leastAt   core.Micros
	phase     int
	phaseAt   core.Micros
	emptyTill core.Micros
}

func newBBR(c Config) *bbr { return &bbr{first: int64(c.Window) * one, least: core.Never, phase: 2} }

func (b *bbr) inSlowStart() bool   { return b.state == bbrStartup }
func (b *bbr) acked(news)          {} // see took
func (b *bbr) lost(int64)          {} // it does not answer loss
func (b *bbr) expired(int64, bool) {}

// product is so much of what the path holds, in percent.
func (b *bbr) product(percent int64) int64 {
	return slices.Max(b.bandwidth[:]) / int64(core.Second) * int64(b.least) / 100 * percent
}

func (b *bbr) size() int64 {
	switch {
	case b.round == 0:
		return b.first
	case b.state == bbrEmpty:
		return bbrLeast
	case b.state == bbrCruise:
		return max(b.product(bbrWindow)+bbrQuanta, bbrLeast)
	}
	return max(b.product(bbrHigh)+bbrQuanta, b.first)
}

// rate is the pace.
func (b *bbr) rate(smoothed core.Micros) rate {
	gain := int64(100)
	switch b.state {
	case bbrStartup:
		gain = bbrHigh
	case bbrDrain:
		gain = 100 * 100 / bbrHigh
	case bbrCruise:
		gain = bbrCycle[b.phase]
	}
	if b.round == 0 {
		return rate{b.first * gain / 100, smoothed}
	}
	return rate{max(1, slices.Max(b.bandwidth[:])/100*gain), core.Second}
}

// took takes an ack, which left flight on its way. All below top has arrived or was overtaken.
func (b *bbr) took(n news, top, flight int64) {
	b.delivered += n.n
	if top > b.roundTop {
		b.newRound(n)
	}
	if n.rtt > 0 && n.rtt <= b.least {
		b.least, b.leastAt = n.rtt, n.now
	}
	b.turn(n.now, flight*one)
}

// newRound takes the bandwidth of a round.
func (b *bbr) newRound(n news) {
	if b.roundTop > 0 && n.now > b.roundAt {
		b.bandwidth[b.round%bbrRounds] = b.delivered * one * int64(core.Second) / int64(n.now-b.roundAt)
		b.round++
		if now := slices.Max(b.bandwidth[:]); now*100 >= b.best*bbrGrows {
			b.best, b.still = now, 0
		} else {
			b.still++
		}
	}
	b.roundTop, b.roundAt, b.delivered = n.next, n.now, 0
}

// turn changes the state.
func (b *bbr) turn(now core.Micros, flight int64) {
	switch b.state {
	case bbrStartup:
		if b.still >= bbrFull {
			b.state = bbrDrain
		}
	case bbrDrain:
		if flight <= b.product(100) {
			b.cruise(now)
		}
	case bbrCruise:
		b.cycle(now, flight)
	case bbrEmpty:
		if now >= b.emptyTill {
			b.leastAt = now
			b.cruise(now)
		}
	}
	if b.state == bbrCruise && now-b.leastAt > bbrLeastAge {
		b.state, b.least = bbrEmpty, core.Never // the sample that comes with it counts
		b.emptyTill = now + bbrLeastFor
	}
}

func (b *bbr) cruise(now core.Micros) { b.state, b.phase, b.phaseAt = bbrCruise, 2, now }

// cycle goes on to the next gain when a round trip has passed; from 3/4 when the queue is gone, from 5/4 not
// before there is one.
func (b *bbr) cycle(now core.Micros, flight int64) {
	over := now-b.phaseAt > b.least
	switch bbrCycle[b.phase] {
	case 125:
		over = over && flight >= b.product(120) || now-b.phaseAt > 3*b.least
	case 75:
		over = over || flight <= b.product(100)
	}
	if over {
		b.phase, b.phaseAt = (b.phase+1)%len(bbrCycle), now
	}
}
