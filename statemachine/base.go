package statemachine

import "github.com/chunkwire/chunkwire/codec"

// Base is the scheduler of section 9: slices in turn from a round-robin cursor,
// each once, then again when an ack shows that it was overtaken (the gap rule)
// or when acks stay away (the resend timer), within a byte budget.
type Base struct {
	profile Profile
	budget  budget
	rtt     rttEstimator
	observe func(Observation)
	stats   ScheduleStats

	// Per chunk.
	chunkID   uint16
	numSlices int
	lastBytes int
	unacked   codec.Bitset // slices not known to have arrived
	due       codec.Bitset // those of them to be sent: never sent yet, or lost
	cursor    int          // where the search for the next due slice starts, upward
	probe     int          // where the search for the next probe starts, downward
	slices    []transmission

	transmissions uint32 // number of the latest one, from 1 on
	newestArrived uint32 // the highest number known to have arrived
	newestAtBest  uint32 // the highest number that may have arrived
	lastSentAt    Micros
	progressAt    Micros // the last news, or the chunk's start
	backoff       uint   // how often the resend timer ran out since
	held          bool   // the peer cannot take the chunk yet; until the next news
	spacedUntil   Micros
}

// transmission is what Base remembers of a slice's sendings.
type transmission struct {
	first, last     uint32 // numbers of the first and of the latest one
	firstAt, lastAt Micros
}

func (t *transmission) resent() bool { return t.first != t.last }

// Figures of section 9.
const (
	gapThreshold = 2                 // GAP-2
	probes       = 2                 // TMR-4: slices resent the first time the timer runs out
	maxBackoff   = 3                 // TMR-5: after this often they double no more
	slowestProbe = 250 * Millisecond // TMR-5: once it ran out, waits are no longer than this or an eighth
	catchUp      = 20 * Millisecond  // SPC-2: how much spacing a late caller may make up
)

// NewBase returns a scheduler with the profile's pace.
func NewBase(p Profile) *Base {
	p = p.withinLimits()
	return &Base{profile: p, budget: newBudget(p)}
}

// Begin starts a chunk (SCH-5).
func (b *Base) Begin(f Flight) {
	b.observe = f.Observe
	b.chunkID, b.numSlices, b.lastBytes = f.ChunkID, f.NumSlices, f.LastBytes
	b.unacked = codec.FirstN(f.NumSlices)
	b.due = b.unacked
	b.cursor, b.probe = 0, f.NumSlices
	if cap(b.slices) < f.NumSlices {
		b.slices = make([]transmission, f.NumSlices)
	}
	b.slices = b.slices[:f.NumSlices]
	clear(b.slices)
	b.transmissions, b.newestArrived, b.newestAtBest = 0, 0, 0
	b.rtt.startChunk()
	b.lastSentAt, b.progressAt = f.Now, f.Now
	b.backoff, b.held = 0, false
	b.spacedUntil = max(b.spacedUntil, f.Now)
	b.budget.refill(f.Now)
	b.budget.startChunk(b.profile.Burst)
}

// Next returns the next due slice from the cursor on, if spacing and budget
// allow (SCH-6).
func (b *Base) Next(now Micros) (int, bool) {
	if b.due.Empty() && now >= b.resendAt() {
		b.timeOut(now)
	}
	id := b.nextDue()
	if id < 0 || now < b.spacedUntil {
		return 0, false
	}
	b.budget.refill(now)
	if !b.budget.take(b.cost(id)) {
		return 0, false
	}
	b.sent(now, id)
	return id, true
}

// Deadline returns when spacing, budget or the resend timer lets a slice go.
func (b *Base) Deadline() Micros {
	if id := b.nextDue(); id >= 0 {
		return max(b.spacedUntil, b.budget.when(b.cost(id)))
	}
	return b.resendAt()
}

// Stats returns what the scheduler knows of the path.
func (b *Base) Stats() ScheduleStats {
	st := b.stats
	st.SmoothedRTT, st.MinRTT = b.rtt.smoothed, b.rtt.min
	return st
}

// nextDue returns the due slice that the cursor meets first, or -1.
func (b *Base) nextDue() int {
	if id := b.due.Next(b.cursor); id >= 0 {
		return id
	}
	return b.due.Next(0)
}

// cost is what a slice's datagram takes of the budget (BUD-2).
func (b *Base) cost(id int) int64 {
	n := codec.SliceSize
	if id == b.numSlices-1 {
		n = b.lastBytes
	}
	return int64(codec.SliceDatagramSize(id, b.numSlices, n) + HeaderBytes)
}

func (b *Base) sent(now Micros, id int) {
	b.transmissions++
	t := &b.slices[id]
	if t.first == 0 {
		t.first, t.firstAt = b.transmissions, now
	}
	t.last, t.lastAt = b.transmissions, now
	b.due.Clear(id)
	b.cursor = id + 1
	b.lastSentAt = now
	b.spacedUntil = max(b.spacedUntil, now-catchUp) + b.profile.Spacing
}

// Acked takes news (SCH-8): the round trip first, since it tells which
// transmission of a resent slice has arrived.
func (b *Base) Acked(now Micros, news codec.Bitset) {
	b.progressAt, b.backoff, b.probe = now, 0, b.numSlices
	b.sampleRTT(now, news)
	var bytes int64
	for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
		b.newestArrived = max(b.newestArrived, b.arrived(now, id))
		bytes += b.cost(id)
	}
	b.unacked = b.unacked.Minus(news)
	b.due = b.due.Minus(news)
	b.release(now)
	b.findLost(now)
	b.budget.refill(now)
	b.budget.acked(bytes)
}

// Held stops everything but a single probe each time the timer runs out: what is
// sent to a peer that cannot take it is wasted (SCH-10).
func (b *Base) Held(Micros) {
	b.held = true
	b.due = codec.Bitset{}
}

// release lets the slices go that a hold has kept from their first transmission;
// what was sent while it lasted is the gap rule's to find.
func (b *Base) release(now Micros) {
	if !b.held {
		return
	}
	b.held = false
	for id := b.unacked.Next(0); id >= 0; id = b.unacked.Next(id + 1) {
		if b.slices[id].first == 0 {
			b.makeDue(now, id)
		}
	}
}

// sampleRTT takes at most one sample from an ack: of the newest slice that was
// sent once, or else of the newest resent one whose latest transmission can
// have arrived, or else, while nothing was measured, a bound (RTT-2 to RTT-4).
func (b *Base) sampleRTT(now Micros, news codec.Bitset) {
	once, again, bound := -1, -1, -1
	for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
		switch t := &b.slices[id]; {
		case !t.resent():
			once = b.newer(once, id)
		case b.rtt.known == rttMeasured && now-t.lastAt >= b.rtt.min:
			again = b.newer(again, id)
		default:
			bound = b.newer(bound, id)
		}
	}
	switch {
	case once >= 0:
		b.rtt.clean(now - b.slices[once].lastAt)
		b.tell(MeasuredRTT, now, once, now-b.slices[once].lastAt)
	case again >= 0:
		b.rtt.smooth(now - b.slices[again].lastAt)
		b.tell(MeasuredRTT, now, again, now-b.slices[again].lastAt)
	case b.rtt.known != rttMeasured:
		b.rtt.boundedBy(now - b.slices[bound].firstAt)
	}
}

// newer returns which of two slices was sent later; -1 stands for none.
func (b *Base) newer(a, id int) int {
	if a >= 0 && b.slices[a].last > b.slices[id].last {
		return a
	}
	return id
}

// arrived returns the number of the transmission of a newly acked slice that
// has arrived (GAP-1).
func (b *Base) arrived(now Micros, id int) uint32 {
	t := &b.slices[id]
	b.newestAtBest = max(b.newestAtBest, t.last)
	switch {
	case !t.resent():
		return t.last
	case b.rtt.known == rttMeasured && now-t.lastAt < b.rtt.min:
		// An ack cannot be faster than any before: the resend was not needed.
		b.stats.Spurious++
		b.tell(Spurious, now, id, 0)
		return t.first
	case b.rtt.known != rttMeasured:
		return t.first // it can be either: this one claims less
	}
	return t.last
}

// findLost makes due every slice in flight that later transmissions have
// overtaken (GAP-2).
func (b *Base) findLost(now Micros) {
	flying := b.unacked.Minus(b.due)
	for id := flying.Next(0); id >= 0; id = flying.Next(id + 1) {
		if b.slices[id].last+gapThreshold <= b.newestArrived {
			b.stats.Lost++
			b.makeDue(now, id)
		}
	}
}

// resendAt returns when the resend timer runs out; it is set only while
// everything that is not acked is in flight (TMR-1).
func (b *Base) resendAt() Micros {
	if b.unacked.Empty() {
		return Never
	}
	delay, margin := b.resendDelay()
	if b.backoff > 0 {
		// The estimate may be far too large where much is lost: it is worth one
		// long wait, but not another.
		delay = min(delay<<b.backoff, max(delay/8, slowestProbe))
	}
	return max(b.lastSentAt+delay, b.progressAt+margin)
}

// resendDelay returns how long after a slice its ack is missed, and how much of
// that is margin (TMR-2, TMR-3).
func (b *Base) resendDelay() (delay, margin Micros) {
	switch {
	case b.profile.ResendDelay > 0:
		return b.profile.ResendDelay, 0
	case b.rtt.known == rttUnknown:
		return InitialResendDelay, 0
	}
	margin = b.rtt.margin()
	delay = min(b.rtt.smoothed+margin, LongestResendDelay)
	return delay, min(margin, delay)
}

// timeOut resends as little as tells more: the news that it brings lets the gap
// rule find whatever else was lost. It takes the newest slices first: the oldest
// may have arrived long ago, and their acks, if they were sent once, measure the
// round trip (TMR-4).
func (b *Base) timeOut(now Micros) {
	b.stats.Timeouts++
	// Had the first transmissions arrived, more of them would have shown by now.
	b.newestArrived = b.newestAtBest
	b.findLost(now)
	b.backoff = min(b.backoff+1, maxBackoff)
	n := min(probes<<(b.backoff-1), b.unacked.Count())
	if b.held {
		n = 1
	}
	for range n {
		if b.probe = b.unacked.Prev(b.probe); b.probe < 0 {
			b.probe = b.unacked.Prev(b.numSlices)
		}
		b.makeDue(now, b.probe)
	}
}

// makeDue puts a slice in line. Time without a slice to send earns no spacing
// (SPC-3).
func (b *Base) makeDue(now Micros, id int) {
	if b.due.Empty() {
		b.spacedUntil = max(b.spacedUntil, now)
	}
	b.due.Set(id)
}

func (b *Base) tell(kind ObservationKind, now Micros, id int, rtt Micros) {
	if b.observe != nil {
		b.observe(Observation{Kind: kind, At: now, ChunkID: b.chunkID, SliceID: id, RTT: rtt})
	}
}
