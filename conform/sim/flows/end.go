package flows

import "github.com/chunkwire/chunkwire/core"

// Datagram is one on its way.
type Datagram struct {
	Size    int  // bytes, without headers of IP and UDP: the link's Overhead
	Data    bool // it carries data, and not acks alone
	ECT     bool // an AQM may mark it in place of dropping it
	Marked  bool // the link has marked it (CE of RFC 3168); the world sets it
	Message any  // whatever the ends of a flow agree on; a pointer saves an allocation
}

// End is one of the two ends of a flow: machines of ours and their application, or the
// model of another protocol. The same calls give the same datagrams.
type End interface {
	// Poll returns a datagram to send at now, or false when none is due. It is called until
	// it returns false.
	Poll(now core.Micros) (d Datagram, ok bool)
	// Handle takes a datagram that arrived at now. It reports whether that brought data
	// which the end did not have: what is distinct is counted by it.
	Handle(now core.Micros, d Datagram) (news bool)
	// Deadline returns when Poll has something to do next, or core.Never.
	Deadline() core.Micros
}
