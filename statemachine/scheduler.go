package statemachine

import (
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// Scheduler decides which slice of the chunk in flight goes next, and when. It
// is the interface between the sender's transition table, which every
// implementation shares, and the algorithm behind it, which each can choose
// (section 9; section 5.4 of spec/REPAIR.md). A scheduler serves one kind of slices.
//
// The sender calls Begin once a chunk, then Acked, Held and Next in any order, with
// times that never run backward. A scheduler must never return a named slice that was
// acked (SCH-1), must go on returning slices as time passes while the chunk is not complete
// (SCH-2, RPX-9), must name a Deadline by which it does (SCH-3, RPX-10), and must let the
// application limit its rate (RPX-11).
//
// A scheduler that knows nothing of the path embeds [NoPath], and then has only the first
// six methods to write.
type Scheduler interface {
	// Begin starts a chunk; everything about the one before is over.
	Begin(f Flight)
	// Acked reports what an ack said that was new: of named slices News is not empty; of
	// repair slices Have or Top has grown.
	Acked(now core.Micros, p Progress)
	// Held reports that the peer is there but cannot take the chunk yet. Nothing of it
	// has been stored.
	Held(now core.Micros)
	// Next returns the slice that is sent at now, and counts it as sent; or false when none
	// is due. With repair slices each true is the next transmission, from number 0 on,
	// whatever slice is returned.
	Next(now core.Micros) (sliceID int, ok bool)
	// Deadline returns when Next will have a slice if no ack arrives before.
	Deadline() core.Micros
	// Stats returns what it knows of the path.
	Stats() ScheduleStats

	// Adopt takes over what another scheduler knows of the path, before a chunk begins. One
	// of another type has nothing to share.
	Adopt(from Scheduler)
	// Moved says that the path is another one: what is in flight was sent on the one before, and
	// says nothing of this one.
	Moved()
	// PathSlices returns how many slices can be in flight on all lanes when a chunk begins
	// (LAN-10).
	PathSlices() int
	// Yield says whether other packets on the path must not wait for slices. Schedulers that
	// can then have fewer of them in flight.
	Yield(yields bool)
	// Marked says that the path has marked n datagrams with slices, since it is about to be
	// too full (RFC 3168). Schedulers that can then send less.
	Marked(now core.Micros, n int)
	// Wants reports whether slices of the chunk are to be sent before another chunk begins,
	// whatever the pace (LAN-7); unsent says that some were not sent once.
	Wants(unsent bool) bool
	// InFlight returns how many slices are under way, of so many that were sent and are not
	// known to have arrived.
	InFlight(unacked int) int
	// Why returns for what the slice was sent that Next returned last, for the event log: a
	// reason of package eventlog, or "" if the scheduler does not say.
	Why(sliceID int) string
	// Rest releases memory that only a chunk in flight needs; there must be none.
	Rest()
}

// NoPath is embedded by a scheduler that knows nothing of the path, and does not say why it
// sends a slice.
type NoPath struct{}

// Adopt implements Scheduler, as all that follow.
func (NoPath) Adopt(Scheduler)          {}
func (NoPath) Moved()                   {}
func (NoPath) PathSlices() int          { return math.MaxInt }
func (NoPath) Yield(bool)               {}
func (NoPath) Marked(core.Micros, int)  {}
func (NoPath) Wants(unsent bool) bool   { return unsent }
func (NoPath) InFlight(unacked int) int { return unacked }
func (NoPath) Why(int) string           { return "" }
func (NoPath) Rest()                    {}

// Progress is what the acks of the chunk in flight have said so far.
type Progress struct {
	News core.Set // named slices that are newly acked: each was sent, and none was reported before
	Have int      // how many slices the peer has; of repair slices, independent ones. It never falls
	Top  int      // with repair slices the highest number that arrived, and one. It never falls
}

// Flight describes the chunk that a scheduler is to send.
type Flight struct {
	Now       core.Micros
	ChunkID   uint16
	NumSlices int
	Bytes     int          // of the datagram of each slice but the last source slice
	LastBytes int          // of the datagram of the last source slice
	Log       eventlog.Log // can be nil
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
