package statemachine

import "github.com/chunkwire/chunkwire/codec"

// Scheduler decides which slice of the chunk in flight goes next, and when. It
// is the seam between the sender's transition table, which every
// implementation shares, and the algorithm behind it, which each may choose
// (section 9.1).
//
// The sender calls Begin once a chunk, then Acked and Next in any order, with
// times that never run backward. A scheduler must never return a slice that was
// acked (SCH-1), must return every slice that is not acked again and again as
// time passes (SCH-2), and must name a Deadline by which it does (SCH-3).
type Scheduler interface {
	// Begin starts a chunk; everything about the one before is over.
	Begin(f Flight)
	// Acked tells which slices have newly turned out to have arrived. Each was
	// sent, and none was told before. It is never empty.
	Acked(now Micros, news codec.Bitset)
	// Held tells that the peer is there but cannot take the chunk yet. Nothing of it
	// has been stored.
	Held(now Micros)
	// Next returns the slice that goes out at now, and counts it as sent; or
	// false when none is due.
	Next(now Micros) (sliceID int, ok bool)
	// Deadline returns when Next will have a slice if no ack arrives before.
	Deadline() Micros
	// Stats returns what it knows of the path.
	Stats() ScheduleStats
}

// Rester is a Scheduler that can let go of what only a chunk in flight needs.
type Rester interface{ Rest() }

// Flight describes the chunk that a scheduler is to get across.
type Flight struct {
	Now       Micros
	ChunkID   uint16
	NumSlices int
	LastBytes int               // payload bytes of the last slice
	Observe   func(Observation) // may be nil
}

// ScheduleStats is what a scheduler knows of the path.
type ScheduleStats struct {
	SmoothedRTT Micros // 0 while no round trip was measured
	MinRTT      Micros // 0 while no round trip was measured
	Lost        int64  // slices found lost by the gap rule
	Timeouts    int64  // times that the resend timer ran out
	Spurious    int64  // resends that turned out not to have been needed
}

// Observation is one thing that happened to a slice.
type Observation struct {
	Kind    ObservationKind
	At      Micros
	ChunkID uint16
	SliceID int
	RTT     Micros // the sample, when Kind is MeasuredRTT
}

// ObservationKind tells what happened.
type ObservationKind uint8

// What can be observed.
const (
	Sent        ObservationKind = iota // the slice went out for the first time
	Resent                             // the slice went out again
	Acked                              // the slice is known to have arrived
	Spurious                           // a resend turned out not to have been needed
	MeasuredRTT                        // the slice's ack gave a round-trip time
)

func (k ObservationKind) String() string {
	return [...]string{"sent", "resent", "acked", "spurious", "rtt"}[k]
}
