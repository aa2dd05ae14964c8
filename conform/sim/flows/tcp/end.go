package tcp

import (
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// segment is the message of a datagram with data.
type segment struct {
	number int64 // of the datagram: of this transmission in QUIC, the piece's own in TCP
	piece  int64 // which data it carries; all pieces are of one size
}

// acks is the message of a datagram that acks: all below next, and the blocks above it.
type acks struct {
	next   int64
	blocks []span
}

const (
	dataSize  = 1038 // bytes of a datagram with data, unless a Config says more or less
	ackSize   = 24   // bytes of an ack without blocks: TCP's header and options, without UDP's header
	blockSize = 8    // bytes of a block of a selective ack
)

// size returns how many bytes an ack has.
func (a *acks) size() int { return ackSize + blockSize*len(a.blocks) }

// during is a sender whose application begins and is gone at a time.
type during struct {
	flows.End
	start, stop core.Micros
	gone        bool
}

// Poll implements flows.End.
func (d *during) Poll(now core.Micros) (flows.Datagram, bool) {
	d.gone = now >= d.stop
	if d.gone || now < d.start {
		return flows.Datagram{}, false
	}
	return d.End.Poll(now)
}

// Deadline implements flows.End.
func (d *during) Deadline() core.Micros {
	at := max(d.start, d.End.Deadline())
	if d.gone || at >= d.stop {
		return core.Never
	}
	return at
}
