package packet

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// sentState is what is known of a sent number (section 7).
type sentState uint8

const (
	// waits asks for an ack, and has none yet.
	waits sentState = iota
	// quiet asks for no ack. It can get one, but it is never lost.
	quiet
	// lost had no ack in time. It can still get one.
	lost
	// acked has arrived.
	acked
	// forgotten is no longer kept; acks of it are ignored.
	forgotten
)

func (s sentState) String() string {
	return [...]string{"SENT", "QUIET", "LOST", "ACKED", "FORGOTTEN"}[s]
}

// The guards of section 7. Each event happens to one number (PKL-5).
var (
	sentGuards table.Guards

	isAcked     = sentGuards.Add("ack", table.Always)
	isOverdue   = sentGuards.Add("overdue", table.Always)
	isOld       = sentGuards.Add("old", table.Always)
	isPushedOut = sentGuards.Add("pushed out", table.Always)
)

// The actions of section 7 (PKL-6, PKL-8).
type sentAction = table.Action[Endpoint, sentInput]

var (
	sample     = sentAction{Name: "SAMPLE", Do: (*Endpoint).sample}
	settle     = sentAction{Name: "SETTLE", Do: (*Endpoint).settle}
	settleLost = sentAction{Name: "SETTLE LOST", Do: (*Endpoint).settleLost}
	sayAcked   = sentAction{Name: "ACKED", Do: (*Endpoint).sayAcked}
	sayLost    = sentAction{Name: "LOST", Do: (*Endpoint).sayLost}
	countLate  = sentAction{Do: func(e *Endpoint, _ sentInput) { e.stats.Late++ }}
)

type sentTransition = table.Transition[sentState, uint8, Endpoint, sentInput]

func sentRow(row core.Row, from sentState, guard uint8, to sentState, does ...sentAction) sentTransition {
	return sentTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// sentTable is the life of a sent number: every transition that there is (section 7). An
// ack of a lost one counts (PKL-2).
var sentTable = table.New(5, sentGuards, []sentTransition{
	sentRow("L1", waits, isAcked, acked, sample, settle, sayAcked),
	sentRow("L2", waits, isOverdue, lost, settleLost, sayLost),
	sentRow("L3", lost, isAcked, acked, sample, sayAcked, countLate),
	sentRow("L4", waits, isPushedOut, forgotten, settleLost, sayLost),
	sentRow("L5", lost, isOld, forgotten),
	sentRow("L6", lost, isPushedOut, forgotten),
	sentRow("L7", acked, isOld, forgotten),
	sentRow("L8", acked, isPushedOut, forgotten),
	sentRow("L9", quiet, isAcked, acked, sayAcked),
	sentRow("L10", quiet, isOld, forgotten),
	sentRow("L11", quiet, isPushedOut, forgotten),
})

// SentTable returns the rows of the table of sent numbers.
func SentTable() []core.Line { return sentTable.Lines() }

// sentInput is what an event gives to the actions.
type sentInput struct {
	number core.Number
	sent   *sentPacket
	newest bool        // the number in the ack field itself
	before core.Number // the newest number that was acked by an earlier packet
}

func (e *Endpoint) stepSent(guard uint8, in sentInput) {
	sentTable.Step(e, &in.sent.state, &e.sentRow, guard, in)
}

// Event says what became of a sent number (PKL-1).
type Event struct {
	Number core.Number
	Kind   EventKind
}

// EventKind is what became of it.
type EventKind uint8

const (
	// EventAcked is certain: the peer took the packet. It can come after EventLost.
	EventAcked EventKind = iota
	// EventLost is a guess: there was no ack within LostAfter.
	EventLost
)

func (k EventKind) String() string { return [...]string{"acked", "lost"}[k] }

// acksOf is the part of a header about the packets that were sent before next. A header that repeats the one before, as
// most headers of an end that only sends do, changes nothing.
type acksOf struct {
	ack  uint16
	bits uint32
	next core.Number
}

// acks marks the numbers that a header acks (PKS-3), the newest first (PKA-2). What is not kept,
// was never sent or was acked before does not count.
func (e *Endpoint) acks(h *Header) {
	ring, before, mask := &e.sent, e.newestAcked, uint16(e.space.Size()-1)
	kept := core.Number(ring.len())
	if says := (acksOf{h.Ack, h.AckBits, ring.next}); e.told != says {
		e.told = says
	} else {
		return
	}
	behind := (e.space.Wire(ring.next-1) - h.Ack) & mask // how far ack is behind the newest
	for bits, n := h.AckBits, uint16(0); bits != 0; bits, n = bits>>1, n+1 {
		d := core.Number((behind + n) & mask)
		if bits&1 == 0 || d >= kept {
			continue
		}
		number := ring.next - 1 - d
		if sent := ring.get(number); sent.state != acked {
			e.stepSent(isAcked, sentInput{number, sent, n == 0, before})
		}
	}
}

// checkLost counts what is overdue as lost, and forgets what is old (L2, L5, PKL-5).
func (e *Endpoint) checkLost() {
	ring := &e.sent
	for e.findWaiting(); e.waiting < ring.next && e.now >= ring.get(e.waiting).at+LostAfter; e.findWaiting() {
		e.stepSent(isOverdue, sentInput{number: e.waiting, sent: ring.get(e.waiting)})
	}
	for ring.len() > 0 && e.now >= ring.get(ring.oldest).at+Kept {
		e.stepSent(isOld, sentInput{number: ring.oldest, sent: ring.get(ring.oldest)})
		ring.drop()
	}
}

// findWaiting makes waiting the oldest number that waits for an ack, or the next one to
// be sent. No number before it ever waits again.
func (e *Endpoint) findWaiting() {
	ring := &e.sent
	e.waiting = max(e.waiting, ring.oldest)
	for e.waiting < ring.next && ring.get(e.waiting).state != waits {
		e.waiting++
	}
}

// lostDeadline returns when checkLost has something to do, or Never.
func (e *Endpoint) lostDeadline() core.Micros {
	ring := &e.sent
	if ring.len() == 0 {
		return core.Never
	}
	at := ring.get(ring.oldest).at + Kept
	if e.findWaiting(); e.waiting < ring.next {
		at = min(at, ring.get(e.waiting).at+LostAfter)
	}
	return at
}

// keep adds a packet to those sent. The oldest makes room (L4).
func (e *Endpoint) keep(state sentState, bytes int) {
	ring := &e.sent
	if ring.len() == e.sentMax {
		e.stepSent(isPushedOut, sentInput{number: ring.oldest, sent: ring.get(ring.oldest)})
		ring.drop()
	}
	ring.push(sentPacket{at: e.now, bytes: uint32(bytes), state: state}, e.sentMax)
}

func (e *Endpoint) sayAcked(in sentInput) {
	e.newestAcked = max(e.newestAcked, in.number)
	e.stats.Acked++
	e.seconds.add(e.now, ackedBytes, in.sent.bytes)
	e.events = append(e.events, Event{in.number, EventAcked})
}

func (e *Endpoint) settle(in sentInput) {
	if in.number >= e.pathFrom {
		e.seconds.add(e.now, settledCount, 1)
	}
}

func (e *Endpoint) settleLost(in sentInput) {
	if e.settle(in); in.number >= e.pathFrom {
		e.seconds.add(e.now, lostCount, 1)
	}
}

func (e *Endpoint) sayLost(in sentInput) {
	if in.number >= e.pathFrom {
		e.newestLost = in.number
	}
	e.stats.Lost++
	e.events = append(e.events, Event{in.number, EventLost})
}

// LeaveOut uses up the next number without a packet (PKS-4). Nothing is to be acked of it.
func (e *Endpoint) LeaveOut(now core.Micros) {
	e.advance(now)
	e.keep(acked, 0)
}

// unsent reports whether a header acks a number that no packet had, or names one as the newest.
func (e *Endpoint) unsent(h *Header, ack core.Number) bool {
	says := acksOf{h.Ack, h.AckBits, e.sent.next}
	if e.sound == says {
		return false
	}
	if ack < core.NoNumber || e.isLeftOut(ack) {
		return true
	}
	for number, bits := ack, h.AckBits; bits != 0; number, bits = number-1, bits>>1 {
		if bits&1 == 1 && (number < 0 || e.isLeftOut(number)) {
			return true
		}
	}
	e.sound = says
	return false
}

// isLeftOut reports whether a number is kept that was left out: it has no bytes.
func (e *Endpoint) isLeftOut(n core.Number) bool {
	return n >= e.sent.oldest && n < e.sent.next && e.sent.get(n).bytes == 0
}
