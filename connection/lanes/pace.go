package lanes

import (
	"sync"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// pacer spaces the slices of all lanes by Config.MaxRate (LAN-12). It counts in nanoseconds,
// since at a fast rate the microsecond is too coarse.
type pacer struct {
	at   core.Micros // when the next slice can be sent
	nano int64       // 0..999, beyond at
}

// catchUp is how much time a driver that comes late can make up for, and so what the pacer
// ever lets through at once.
const catchUp = 20 * core.Millisecond

// restart gives nothing for time in which there was nothing to send.
func (p *pacer) restart(now core.Micros) {
	if p.at < now {
		p.at, p.nano = now, 0
	}
}

// spend moves on by what so many bytes take.
func (p *pacer) spend(now core.Micros, bytes, rate int64) {
	p.restart(now - catchUp)
	ns := p.nano + bytes*8_000_000_000/rate
	p.at += core.Micros(ns / 1000)
	p.nano = ns % 1000
}

// Total bounds what several connections send together (CXA-8). It is safe for concurrent use.
type Total struct {
	rate   int64
	within *Total

	mu    sync.Mutex
	pacer pacer
}

// NewTotal returns a bound in bits a second with all headers, statemachine.MinRate to MaxRate. What
// it lets through counts for within as well; nil: there is no other.
func NewTotal(rate int64, within *Total) *Total { return &Total{rate: rate, within: within} }

// Spend notes so many bytes with all headers, and returns when their connection can send more: behind all that
// others have sent meanwhile, so that those who wait take turns. With a nil Total that is always.
func (t *Total) Spend(now core.Micros, bytes int) (next core.Micros) {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	t.pacer.spend(now, int64(bytes), t.rate)
	next = t.pacer.at
	t.mu.Unlock()
	return max(next, t.within.Spend(now, bytes))
}

// Spend notes that the slice which was polled last is sent in so many bytes, with all
// headers. Without Config.MaxRate and Config.Total nothing needs to be noted.
func (l *Lanes) Spend(now core.Micros, bytes int) {
	if l.cfg.MaxRate > 0 {
		l.pacer.spend(now, int64(bytes), l.cfg.MaxRate)
	}
	l.turnAt = l.cfg.Total.Spend(now, bytes)
}

// Hold lets no slice go before a time, whatever the rate. A sender that is to give up does. A
// time that has passed holds nothing.
func (l *Lanes) Hold(until core.Micros) { l.heldUntil = until }

// allowedAt returns when the next slice can go.
func (l *Lanes) allowedAt() core.Micros { return max(l.pacer.at, l.heldUntil, l.turnAt) }

// Yield says whether other packets on the path must not wait for slices. Schedulers that can
// then have fewer of them in flight. What is said of one lane is for all that share its path (LAN-9): it is the lane
// whose chunk began last.
func (l *Lanes) Yield(yields bool) { l.latest().sender.Scheduler().Yield(yields) }

// Marked says that the path has marked n datagrams with slices, since it is about to be too full
// (RFC 3168). Schedulers that can then send less. It is for all lanes, as Yield is.
func (l *Lanes) Marked(now core.Micros, n int) {
	l.latest().sender.Scheduler().Marked(now, n)
}

// ForgetPath makes the schedulers begin anew: the path is another one, or what they learned
// is not its rate.
func (l *Lanes) ForgetPath(now core.Micros) {
	fresh, err1 := l.cfg.newSender(nil)
	apart, err2 := l.cfg.newSender(nil)
	if err1 != nil || err2 != nil {
		return // it made others before
	}
	path := fresh.Scheduler()
	path.Begin(statemachine.Flight{Now: now, NumSlices: 1, Bytes: codec.MaxDatagramSize, LastBytes: codec.MaxDatagramSize})
	path.Next(now) // one that has sent a slice knows only a pace
	for s := range l.senders() {
		s.Scheduler().Adopt(path)
		s.Scheduler().Moved()
	}
	path.Adopt(apart.Scheduler()) // its slice is not in flight on the path of the lanes
}
