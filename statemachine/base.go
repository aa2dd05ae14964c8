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
// allow (SCH-6, SPC-1).
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

// Deadline returns when spacing, budget or the resend timer lets a slice go
// (SCH-9).
func (b *Base) Deadline() Micros {
	if id := b.nextDue(); id >= 0 {
		return max(b.spacedUntil, b.budget.when(b.cost(id)))
	}
	return b.resendAt()
}

// Rest lets go of what only a chunk in flight needs; there must be none.
func (b *Base) Rest() { b.slices = nil }

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

// sent notes a transmission (SCH-7).
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
