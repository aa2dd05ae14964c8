package channels

import (
	"fmt"
	"math"
)

// Ledger has the messages sent on a reliable channel, and judges what is read: each message once, as it
// was, in its order where there is one, and skipped only when its lifetime is over.
type Ledger struct {
	Ordered bool
	Data    int64 // bytes of a sequence

	first, tail int64 // the first; all below were read
	sent        []*message
	told        []bool // by sequence: it was read, or skipped
}

// message is what one or more sequences have.
type message struct {
	first, end int64
	data       string
	diesAt     int64
}

// Lives is when a message dies that has no lifetime.
const Lives = math.MaxInt64

// NewLedger returns the ledger of a new channel.
func NewLedger(ordered bool, data, first int64) *Ledger {
	return &Ledger{Ordered: ordered, Data: data, first: first, tail: first}
}

// Next is 1 + the highest sequence that was sent, and Tail what is below all that was not read.
func (l *Ledger) Next() int64 { return l.first + int64(len(l.sent)) }
func (l *Ledger) Tail() int64 { return l.tail }

// Sent says that a message was accepted, and when it dies.
func (l *Ledger) Sent(data string, diesAt int64) {
	m := &message{first: l.Next(), data: data, diesAt: diesAt}
	m.end = m.first + (int64(len(data))+l.Data-1)/l.Data
	for l.Next() < m.end {
		l.sent, l.told = append(l.sent, m), append(l.told, false)
	}
}

// Read judges what is read at a time (CHT-SAFE-1 to CHT-SAFE-3, CHT-SAFE-5).
func (l *Ledger) Read(now, n int64, data string, skipped bool) error {
	if n < l.first || n >= l.Next() {
		return fmt.Errorf("CHT-SAFE-2: %d is read, which was never sent", n)
	}
	m := l.sent[n-l.first]
	end := m.end
	if skipped {
		end = n + 1
	}
	switch {
	case l.Ordered && n != l.tail:
		return fmt.Errorf("CHT-SAFE-1: %d is read, next is %d", n, l.tail)
	case skipped && m.diesAt > now:
		return fmt.Errorf("CHT-SAFE-3: %d is skipped, but its lifetime has not ended", n)
	case !skipped && (n != m.first || data != m.data):
		return fmt.Errorf("CHT-SAFE-5: %d is read as %d bytes, sent were %d from %d", n, len(data), len(m.data), m.first)
	}
	for ; n < end; n++ {
		if l.told[n-l.first] {
			return fmt.Errorf("CHT-SAFE-2: %d is read again", n)
		}
		l.told[n-l.first] = true
	}
	for l.tail < l.Next() && l.told[l.tail-l.first] {
		l.tail++
	}
	return nil
}
