package tcp

import "github.com/chunkwire/chunkwire/machine"

// Datagram is one on its way.
type Datagram struct {
	Size    int  // bytes, without headers of IP and UDP
	Data    bool // it carries data, and not acks alone
	Marked  bool // a link has marked it; no model here looks at that
	Message any  // what the other end of the flow understands
}

// End is one of the two ends of a flow, a sender or a receiver. Its methods are those of
// an end of package flows, which has a Datagram of the same fields.
type End interface {
	// Poll returns a datagram to send at now, or false when none is due. Call it until it
	// returns false.
	Poll(now machine.Micros) (Datagram, bool)
	// Handle takes a datagram that arrived at now. It reports whether that brought data
	// which the end did not have.
	Handle(now machine.Micros, d Datagram) (news bool)
	// Deadline returns when Poll has something to do next, or machine.Never.
	Deadline() machine.Micros
}

// segment is the message of a datagram with data.
type segment struct {
	number int64 // of the datagram: of this transmission in QUIC, the piece's own in TCP
	piece  int64 // which data it carries; all pieces are of one size
}

// acks is the message of a datagram that acks: all below next, and the blocks above it.
type acks struct {
	next   int64
	blocks []span
	delay  machine.Micros // for which the receiver held back the ack of the newest number
}

const (
	dataSize  = 1038 // bytes of a datagram with data, unless a Config says more or less
	ackSize   = 24   // bytes of an ack without blocks: TCP's header and options, without UDP's header
	blockSize = 8    // bytes of a block of a selective ack
)

// size returns how many bytes an ack has.
func (a *acks) size() int { return ackSize + blockSize*len(a.blocks) }
