package tcp

import "github.com/chunkwire/chunkwire/core"

// duplicates is DupThresh of RFC 6675: so many that arrived above a segment show that it
// is lost.
const duplicates = 3

// flying is a segment that was sent and is not below all that was acked.
type flying struct {
	sent                 core.Micros // for the last time
	sacked, lost, resent bool
}

// copies returns how many of a segment are under way, as far as is known: what SetPipe of
// RFC 6675 adds for it.
func (f flying) copies() (n int64) {
	if f.sacked {
		return 0
	}
	if !f.lost {
		n++
	}
	if f.resent {
		n++
	}
	return n
}

// scoreboard is what is known of each segment that is not acked (RFC 6675).
type scoreboard struct {
	una, next int64    // HighACK + 1, and HighData + 1
	flies     []flying // una to next - 1
	top       int64    // above the highest that was acked by a block
	edge      int64    // below it all that is missing is lost
	retry     int64    // HighRxt + 1: no segment below it waits to be sent again
	pipe      int64    // how many are under way
	arrived   arrived  // what the last ack brought
}

// arrived is what an ack shows to have arrived.
type arrived struct {
	n            int64
	first, last  core.Micros // when the oldest and the newest of it were sent, of those sent once
	unambiguous  bool        // there is one that was sent once
	cumulatively bool        // una has moved
}

func (b *scoreboard) at(n int64) *flying { return &b.flies[n-b.una] }

// change changes a segment and what is under way with it.
func (b *scoreboard) change(n int64, do func(f *flying)) {
	f := b.at(n)
	b.pipe -= f.copies()
	do(f)
	b.pipe += f.copies()
}

// send notes that a segment goes out, a new one or one that was lost.
func (b *scoreboard) send(now core.Micros, n int64) {
	if n == b.next {
		b.next++
		b.flies = append(b.flies, flying{sent: now})
		b.pipe++
		return
	}
	b.change(n, func(f *flying) { f.sent, f.resent = now, true })
	b.retry = n + 1
}

// ack takes an ack.
func (b *scoreboard) ack(a *acks) {
	b.arrived = arrived{}
	for _, block := range a.blocks {
		for n := max(block.from, b.una); n < min(block.to, b.next); n++ {
			b.take(n)
		}
		b.top = max(b.top, min(block.to, b.next))
	}
	for ; b.una < min(a.next, b.next); b.una++ {
		b.take(b.una)
		b.flies = b.flies[1:]
		b.arrived.cumulatively = true
	}
	b.top, b.edge, b.retry = max(b.top, b.una), max(b.edge, b.una), max(b.retry, b.una)
	b.findLost()
}

// take notes that a segment has arrived.
func (b *scoreboard) take(n int64) {
	f := *b.at(n)
	if f.sacked {
		return
	}
	b.change(n, func(f *flying) { f.sacked = true })
	a := &b.arrived
	a.n++
	if f.resent {
		return // which transmission it was is not known (Karn)
	}
	if !a.unambiguous {
		a.first, a.last, a.unambiguous = f.sent, f.sent, true
	}
	a.first, a.last = min(a.first, f.sent), max(a.last, f.sent)
}

// findLost marks what is missing below three that have arrived: IsLost of RFC 6675.
func (b *scoreboard) findLost() {
	above, n := 0, b.top
	for above < duplicates && n > b.edge {
		n--
		if b.at(n).sacked {
			above++
		}
	}
	if above < duplicates {
		return
	}
	for ; b.edge < n; b.edge++ {
		b.change(b.edge, func(f *flying) { f.lost = true })
	}
}

// loseAll marks all that has not arrived, when the timer runs out.
func (b *scoreboard) loseAll() {
	for n := b.una; n < b.next; n++ {
		b.change(n, func(f *flying) { f.lost, f.resent = true, false })
	}
	b.edge, b.retry = b.next, b.una
}

// again returns the lowest segment that is lost and was not sent again: the first rule of
// NextSeg of RFC 6675.
func (b *scoreboard) again() (n int64, ok bool) {
	for ; b.retry < b.edge; b.retry++ {
		if f := b.at(b.retry); !f.sacked && !f.resent {
			return b.retry, true
		}
	}
	return 0, false
}
