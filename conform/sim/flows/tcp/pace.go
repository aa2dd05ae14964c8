package tcp

import "github.com/chunkwire/chunkwire/core"

// Figures of the pacer, which is that of quic-go: a bucket that fills at the window's rate.
const (
	paceBurst = 10 * one             // what goes at once
	paceLeast = core.Millisecond     // the shortest wait
	paceSpan  = 2 * core.Millisecond // what may go at once at a high rate
	paceMost  = core.Second          // the bucket is full after it at any rate that matters
	paceUsual = 100 * core.Millisecond
)

// pacer spreads a window over a round trip. Rates are given as what goes in a time.
type pacer struct {
	budget int64
	at     core.Micros // of the last datagram
	began  bool
}

// rate is so much, in units of one, in a time.
type rate struct {
	amount int64
	in     core.Micros
}

func (r rate) during(t core.Micros) int64 { return r.amount * int64(min(t, paceMost)) / int64(r.in) }

func (r rate) burst() int64 { return max(paceBurst, r.during(paceSpan)) }

// has returns what may go at now.
func (p *pacer) has(now core.Micros, r rate) int64 {
	if !p.began {
		return r.burst()
	}
	return min(p.budget+r.during(now-p.at), r.burst())
}

// sent takes a datagram from the bucket.
func (p *pacer) sent(now core.Micros, r rate) {
	p.budget, p.at, p.began = max(p.has(now, r)-one, 0), now, true
}

// next returns when the next datagram may go.
func (p *pacer) next(r rate) core.Micros {
	if !p.began || p.budget >= one {
		return p.at
	}
	missing := (one - p.budget) * int64(r.in)
	return p.at + max(paceLeast, core.Micros((missing+r.amount-1)/r.amount))
}
