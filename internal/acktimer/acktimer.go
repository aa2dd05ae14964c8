// Package acktimer decides when a receiver's acks are sent (section 8.6 of
// spec/PROTOCOL.md). The receivers of packages statemachine and repair share it.
package acktimer

import "github.com/chunkwire/chunkwire/core"

// Figures of section 8.6 (SPC-5).
const (
	Interval = 2 * core.Millisecond // AKT-2
	Every    = 16                   // AKT-3
)

// Timer says when the next ack is sent. What makes an ack due can only make its
// time earlier (AKT-6). Its fields are in AKT-6.
type Timer struct {
	At         core.Micros // when the next ack is sent; core.Never when none is due
	LastAt     core.Micros // when the last ack was sent
	SentOne    bool        // an ack ever was sent
	Unreported int         // new slices since the last ack
	LastNew    int         // the latest new slice's id; -1 at a chunk's start
	AfterGap   bool        // the latest new slice made a gap
}

// New returns the timer of a receiver without an ack that is due (AKT-6).
func New() Timer { return Timer{At: core.Never} }

// StartChunk begins the timing of a chunk's acks; what is due stays due (AKT-1).
func (t *Timer) StartChunk() {
	t.Unreported, t.LastNew, t.AfterGap = 0, -1, false
}

// NewSlice makes an ack due for a slice that was stored: at once around a gap,
// since it shows a loss, and when many wait; soon otherwise (AKT-3, AKT-4).
func (t *Timer) NewSlice(now core.Micros, id int) {
	gap := id != t.LastNew+1
	t.Unreported++
	if gap || t.AfterGap || t.Unreported >= Every {
		t.AtOnce(now)
	} else {
		t.Soon(now)
	}
	t.LastNew, t.AfterGap = id, gap
}

// Soon makes an ack due within the interval that caps their rate (AKT-2), which is
// far below the 100 ms that an ack can take (ACQ-1).
func (t *Timer) Soon(now core.Micros) {
	earliest := now
	if t.SentOne {
		earliest = max(now, t.LastAt+Interval)
	}
	t.At = min(t.At, earliest)
}

// AtOnce makes an ack due now (ACQ-3).
func (t *Timer) AtOnce(now core.Micros) { t.At = min(t.At, now) }

// Due reports whether acks are sent at now (AKT-5).
func (t *Timer) Due(now core.Micros) bool { return now >= t.At }

// Sent notes that the last ack that was due was sent (AKT-5).
func (t *Timer) Sent(now core.Micros) {
	t.At, t.LastAt, t.SentOne, t.Unreported = core.Never, now, true, 0
}
