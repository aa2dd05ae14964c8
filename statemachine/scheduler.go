package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// Scheduler decides which slice of the chunk in flight goes next, and when. It
// is the interface between the sender's transition table, which every
// implementation shares, and the algorithm behind it, which each may choose
// (section 9.1).
//
// The sender calls Begin once a chunk, then Acked and Next in any order, with
// times that never run backward. A scheduler must never return a slice that was
// acked (SCH-1), must go on returning slices that are not acked as time passes
// (SCH-2), and must name a Deadline by which it does (SCH-3).
type Scheduler interface {
	// Begin starts a chunk; everything about the one before is over.
	Begin(f Flight)
	// Acked reports the newly acked slices. Each was sent, and none was reported
	// before. The set is never empty.
	Acked(now core.Micros, news core.Set)
	// Held reports that the peer is there but cannot take the chunk yet. Nothing of it
	// has been stored.
	Held(now core.Micros)
	// Next returns the slice that goes out at now, and counts it as sent; or
	// false when none is due.
	Next(now core.Micros) (sliceID int, ok bool)
	// Deadline returns when Next will have a slice if no ack arrives before.
	Deadline() core.Micros
	// Stats returns what it knows of the path.
	Stats() ScheduleStats
}

// Explainer is a Scheduler that says why it sent a slice, for the event log.
type Explainer interface {
	// Why returns for what the slice went out again that Next returned last:
	// eventlog.Lost, Timeout, Probe or Extra.
	Why(sliceID int) string
}

// Rester is a Scheduler that can release memory that only a chunk in flight
// needs.
type Rester interface{ Rest() }

// Flight describes the chunk that a scheduler is to send.
type Flight struct {
	Now       core.Micros
	ChunkID   uint16
	NumSlices int
	Bytes     int          // of the datagram of each slice but the last
	LastBytes int          // of the datagram of the last slice
	Log       eventlog.Log // may be nil
}

// ScheduleStats is what a scheduler knows of the path.
type ScheduleStats struct {
	SmoothedRTT core.Micros // 0 while no round trip was measured
	MinRTT      core.Micros // 0 while no round trip was measured
	Lost        int64       // slices found lost because later ones arrived
	Timeouts    int64       // times that the timer ran out
	Spurious    int64       // resends that turned out not to have been needed
}

// Add adds the counters of t. Of the round trips it keeps the larger smoothed one
// and the smaller minimum.
func (s *ScheduleStats) Add(t ScheduleStats) {
	s.SmoothedRTT = max(s.SmoothedRTT, t.SmoothedRTT)
	if s.MinRTT == 0 || t.MinRTT != 0 && t.MinRTT < s.MinRTT {
		s.MinRTT = t.MinRTT
	}
	s.Lost += t.Lost
	s.Timeouts += t.Timeouts
	s.Spurious += t.Spurious
}

// The limits of a rate that an application sets (SCH-4), in bits a second with IP
// and UDP headers: one slice, and 10^9 bytes.
const (
	MinRate = 8 * (codec.MaxDatagramSize + codec.HeaderBytes)
	MaxRate = 8_000_000_000
)

// CheckRate returns an error that wraps core.ErrConfig unless a rate is 0 or
// within the limits.
func CheckRate(field string, rate int64) error {
	if rate != 0 && (rate < MinRate || rate > MaxRate) {
		return core.ConfigError(field, rate, "8528 bit/s to 8 Gbit/s, or 0 for no limit")
	}
	return nil
}
