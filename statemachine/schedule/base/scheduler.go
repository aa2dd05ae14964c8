// Package base is the scheduler that appendix G of spec/PROTOCOL.md describes:
// slices in turn from a round-robin cursor, each once, then again when an ack
// shows that it was overtaken (the gap rule) or when acks stay away (the resend
// timer), within a byte budget. Ports implement it and vectors test it. Package
// statemachine/schedule/adaptive has the one that is recommended where nothing else is known.
package base

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Scheduler is the base algorithm, with the variables of SCH-11.
type Scheduler struct {
	statemachine.NoPath

	profile Profile
	budget  budget
	rtt     rtt.Estimator
	minRTT  core.Micros // of unambiguous samples only; 0 while there is none
	log     eventlog.Log
	stats   statemachine.ScheduleStats

	// Per chunk.
	flight  statemachine.Flight
	unacked core.Set // slices not known to have arrived
	due     core.Set // of these, the ones to be sent: never sent yet, or lost
	cursor  int      // where the search for the next due slice starts, upward
	probe   int      // where the search for the next probe starts, downward
	byTimer core.Set // with a log: those that the timer made due, the last time
	slices  []transmissions

	count    uint32 // transmissions so far; each gets the next number, from 1 on
	arrived  uint32 // the highest number known to have arrived
	atBest   uint32 // the highest number that can have arrived
	moved    uint32 // up to this number they were sent on another path
	sentAt   core.Micros
	newsAt   core.Micros // the latest newly acked slice, or the chunk's start
	backoff  uint        // how often the resend timer ran out since
	held     bool        // the peer could not take the chunk; until the next newly acked slice
	heldAt   core.Micros // since when
	spacedAt core.Micros // no slice is sent before
	reportAt core.Micros // the next figures for the log
}

var _ statemachine.Scheduler = (*Scheduler)(nil)

// transmissions is what is recorded of a slice.
type transmissions struct {
	first, last     uint32 // numbers of the first and of the latest one
	firstAt, lastAt core.Micros
}

func (t *transmissions) resent() bool { return t.first != t.last }

// modeBase is the mode of eventlog.Metrics: this algorithm has no other.
const modeBase = "base"

// Figures of appendix G (SPC-5).
const (
	gapThreshold = 2                      // GAP-2
	probes       = 2                      // TMR-4: slices resent the first time the timer runs out
	maxBackoff   = 3                      // TMR-5: after this often they double no more
	slowestProbe = 250 * core.Millisecond // TMR-5: once it ran out, waits are no longer than this or an eighth; TMR-6
	leastProbe   = 2 * core.Millisecond   // TMR-6: how long a receiver can wait with an ack (AKT-2)
	catchUp      = 20 * core.Millisecond  // SPC-2: how much spacing a late caller can make up
)

// New returns a scheduler with the profile's pace that knows nothing of the path
// (SCH-11). It fails with core.ErrConfig.
func New(p Profile) (*Scheduler, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return &Scheduler{profile: p, budget: newBudget(p)}, nil
}

// Begin starts a chunk (SCH-5).
func (b *Scheduler) Begin(f statemachine.Flight) {
	b.log, b.flight = f.Log, f
	b.unacked = core.FirstN(f.NumSlices)
	b.due = b.unacked
	b.cursor, b.probe = 0, f.NumSlices
	if cap(b.slices) < f.NumSlices {
		b.slices = make([]transmissions, f.NumSlices)
	}
	b.slices = b.slices[:f.NumSlices]
	clear(b.slices)
	b.count, b.arrived, b.atBest, b.moved = 0, 0, 0, 0
	b.rtt.UseBound()
	b.sentAt, b.newsAt = f.Now, f.Now
	b.backoff, b.held = 0, false
	b.spacedAt = max(b.spacedAt, f.Now)
	b.budget.refill(f.Now)
	b.budget.startChunk(b.profile.Burst)
}

// Next returns the next due slice from the cursor on, if spacing and budget
// allow (SCH-6, SPC-1).
func (b *Scheduler) Next(now core.Micros) (int, bool) {
	if b.due.Empty() && now >= b.timerAt() {
		b.expire(now)
	}
	id := b.nextDue()
	if id < 0 || now < b.spacedAt {
		return 0, false
	}
	b.budget.refill(now)
	if !b.budget.take(b.cost(id)) {
		return 0, false
	}
	b.sent(now, id)
	b.reportFigures(now)
	return id, true
}

// Deadline returns when spacing, budget or the resend timer allows a slice
// (SCH-9).
func (b *Scheduler) Deadline() core.Micros {
	if id := b.nextDue(); id >= 0 {
		return max(b.spacedAt, b.budget.when(b.cost(id)))
	}
	return b.timerAt()
}

// Moved forgets the round trip; slices in flight give no sample of another path (CXL-10).
func (b *Scheduler) Moved() { b.rtt, b.minRTT, b.moved = rtt.Estimator{}, 0, b.count }

// Rest releases what only a chunk in flight needs; there must be none.
func (b *Scheduler) Rest() { b.slices = nil }

// Stats returns what the scheduler knows of the path.
func (b *Scheduler) Stats() statemachine.ScheduleStats {
	st := b.stats
	st.SmoothedRTT, st.MinRTT = b.rtt.Smoothed, b.minRTT
	return st
}

// nextDue returns the due slice that the cursor meets first, or -1.
func (b *Scheduler) nextDue() int {
	if id := b.due.Next(b.cursor); id >= 0 {
		return id
	}
	return b.due.Next(0)
}

// cost is what a slice's datagram takes of the budget (BUD-2).
func (b *Scheduler) cost(id int) int64 {
	if id == b.flight.NumSlices-1 {
		return int64(b.flight.LastBytes + codec.HeaderBytes)
	}
	return int64(b.flight.Bytes + codec.HeaderBytes)
}

// sent counts a transmission (SCH-7).
func (b *Scheduler) sent(now core.Micros, id int) {
	b.count++
	t := &b.slices[id]
	if t.first == 0 {
		t.first, t.firstAt = b.count, now
	}
	t.last, t.lastAt = b.count, now
	b.due.Remove(id)
	b.cursor = id + 1
	b.sentAt = now
	b.spacedAt = max(b.spacedAt, now-catchUp) + b.profile.Spacing
}

// Why returns why a slice was sent again.
func (b *Scheduler) Why(id int) string {
	switch {
	case !b.byTimer.Has(id):
		return eventlog.Lost
	case b.held:
		return eventlog.Probe
	}
	return eventlog.Timeout
}

// lose makes a slice due that is taken as lost, or that asks whether a hold is over.
func (b *Scheduler) lose(now core.Micros, id int, why string) {
	if b.log != nil && b.slices[id].first != 0 {
		b.log(eventlog.Event{Kind: eventlog.SliceLost, At: now, ChunkID: b.flight.ChunkID, SliceID: id, Why: why})
		b.byTimer.Remove(id)
		if why == eventlog.Timeout {
			b.byTimer.Add(id)
		}
	}
	b.makeDue(now, id)
}

// makeDue puts a slice in line. Time without a slice to send earns no spacing
// (SPC-3).
func (b *Scheduler) makeDue(now core.Micros, id int) {
	if b.due.Empty() {
		b.spacedAt = max(b.spacedAt, now)
	}
	b.due.Add(id)
}

// reportFigures gives the figures to a log: at most once a round trip, and once before it is known.
func (b *Scheduler) reportFigures(now core.Micros) {
	if b.log == nil || now < b.reportAt || b.reportAt > 0 && b.rtt.Smoothed == 0 {
		return
	}
	b.reportAt = now + max(b.rtt.Smoothed, core.Millisecond)
	flying := 0
	for id := range b.unacked.All() {
		if b.slices[id].first != 0 && !b.due.Has(id) {
			flying++
		}
	}
	b.log(eventlog.Event{
		Kind: eventlog.Metrics, At: now, Rate: b.profile.Rate, InFlight: flying,
		RTT: b.rtt.Smoothed, MinRTT: b.minRTT, Mode: modeBase,
	})
}

func (b *Scheduler) report(kind eventlog.Kind, now core.Micros, id int, sample core.Micros) {
	if b.log != nil {
		b.log(eventlog.Event{Kind: kind, At: now, ChunkID: b.flight.ChunkID, SliceID: id, RTT: sample})
	}
}
