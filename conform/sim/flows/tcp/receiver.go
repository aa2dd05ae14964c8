package tcp

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Figures of delayed acks (RFC 5681, 4.2; those of QUIC are the same).
const (
	ackEvery = 2
	ackDelay = 25 * core.Millisecond
)

// ackTimer says when a receiver acks: each second datagram, after a delay, or at once.
type ackTimer struct {
	waiting int         // datagrams without an ack
	at      core.Micros // when the next ack goes out
}

func (t *ackTimer) arrived(now core.Micros, atOnce bool) {
	t.waiting++
	switch {
	case atOnce || t.waiting >= ackEvery:
		t.at = now
	case t.waiting == 1:
		t.at = now + ackDelay
	}
}

// due reports whether an ack goes out, and if so begins to wait for the next datagram.
func (t *ackTimer) due(now core.Micros) bool {
	if now < t.at {
		return false
	}
	t.waiting, t.at = 0, core.Never
	return true
}

// Deadline returns when the next ack is due.
func (t *ackTimer) Deadline() core.Micros { return t.at }

// sackBlocks is how many blocks an ack of TCP has room for beside a timestamp.
const sackBlocks = 3

// receiver is the receiver of TCP: it acks what is in order, delayed, and with blocks what
// is not, at once (RFC 5681, 4.2; RFC 2018).
type receiver struct {
	ackTimer
	got pieces
}

func newReceiver() *receiver { return &receiver{ackTimer: ackTimer{at: core.Never}} }

// Handle implements flows.End.
func (r *receiver) Handle(now core.Micros, d flows.Datagram) bool {
	n := d.Message.(*segment).piece
	inOrder := n == r.got.next && len(r.got.above) == 0
	news := r.got.add(n)
	r.arrived(now, !inOrder)
	return news
}

// Poll implements flows.End.
func (r *receiver) Poll(now core.Micros) (flows.Datagram, bool) {
	if !r.due(now) {
		return flows.Datagram{}, false
	}
	blocks := r.got.above[:min(sackBlocks, len(r.got.above))]
	a := &acks{next: r.got.next, blocks: slices.Clone(blocks)}
	return flows.Datagram{Size: a.size(), Message: a}, true
}
