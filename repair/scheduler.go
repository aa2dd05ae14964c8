package repair

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Scheduler decides when the next slice of the chunk in flight goes. It is the interface
// between the sender's transition table, which every implementation shares, and the rule
// behind it, which each may choose (section 5.4).
//
// The sender calls Begin once a chunk, then Acked, Held and Next in any order, with times
// that never run backward. A scheduler must go on sending as time passes while the chunk is
// not complete (RPX-9), must name a Deadline by which it does (RPX-10), and must let the
// application limit its rate (RPX-11). It counts the
// transmissions itself: each true of Next is one, from number 0 on. If it is a
// statemachine.Rester, Sender.Rest releases its memory.
type Scheduler interface {
	// Begin starts a chunk; everything about the one before is over. Flight.Bytes is the
	// datagram's size for each id but that of the last source slice, which has LastBytes.
	Begin(f statemachine.Flight)
	// Acked reports how many independent slices have arrived, and the highest number of
	// a transmission that did, and one. Neither ever falls, and one of them has grown
	// (RPX-6).
	Acked(now core.Micros, have, top int)
	// Held reports that the peer is there but cannot take the chunk yet. Nothing of it has
	// been stored.
	Held(now core.Micros)
	// Next reports whether the next slice goes out at now, and counts it as sent.
	Next(now core.Micros) bool
	// Deadline returns when Next will be true if no ack arrives before.
	Deadline() core.Micros
	// Stats returns what it knows of the path.
	Stats() statemachine.ScheduleStats
}

// Explainer is a Scheduler that says why it sent a slice, for the event log.
type Explainer interface {
	// Why returns for what the slice goes out of the Next that was true: eventlog.First,
	// Repair, Timeout or Probe.
	Why() string
}
