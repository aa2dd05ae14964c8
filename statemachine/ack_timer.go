package statemachine

import "github.com/chunkwire/chunkwire/machine"

// ackTimer decides when the next ack goes out (section 8.5). What makes an ack due can
// only make its time earlier (AKT-6).
type ackTimer struct {
	at         machine.Micros // when the next ack goes out; machine.Never when none is due
	lastAt     machine.Micros // when the last ack went out
	sentOne    bool           // an ack ever went out
	unreported int            // new slices since the last ack
	lastNew    int            // the latest new slice's id; -1 at a chunk's start
	afterGap   bool           // the latest new slice made a gap
}

// Figures of section 8.5 (SPC-5).
const (
	ackInterval = 2 * machine.Millisecond // AKT-2
	ackEvery    = 16                      // AKT-3
)

// startChunk begins the timing of a chunk's acks; what is due stays due (AKT-1).
func (t *ackTimer) startChunk() {
	t.unreported, t.lastNew, t.afterGap = 0, -1, false
}

// newSlice makes an ack due for a slice that was stored: at once around a gap,
// since it shows a loss, and when many wait; soon otherwise (AKT-3, AKT-4).
func (t *ackTimer) newSlice(now machine.Micros, id int) {
	gap := id != t.lastNew+1
	t.unreported++
	if gap || t.afterGap || t.unreported >= ackEvery {
		t.atOnce(now)
	} else {
		t.soon(now)
	}
	t.lastNew, t.afterGap = id, gap
}

// soon makes an ack due within the interval that caps their rate (AKT-2), which is
// far below the 100 ms that an ack may take (ACQ-1).
func (t *ackTimer) soon(now machine.Micros) {
	earliest := now
	if t.sentOne {
		earliest = max(now, t.lastAt+ackInterval)
	}
	t.at = min(t.at, earliest)
}

func (t *ackTimer) atOnce(now machine.Micros) { t.at = min(t.at, now) }

// due and sent: when acks go out, and what is forgotten when they have (AKT-5).
func (t *ackTimer) due(now machine.Micros) bool { return now >= t.at }

func (t *ackTimer) sent(now machine.Micros) {
	t.at, t.lastAt, t.sentOne, t.unreported = machine.Never, now, true, 0
}
