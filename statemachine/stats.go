package statemachine

import (
	"math"

	"github.com/chunkwire/chunkwire/core"
)

// SenderVars are the variables of section 7.2, and of section 5.1 of spec/REPAIR.md.
type SenderVars struct {
	State         SenderState
	Row           core.Row    // of the latest transition; empty before the first
	ChunkID       uint16      // of the chunk in flight, or of the next one
	NumSlices     int         // of the chunk in flight; 0 while there is none
	Sent          core.Set    // named slices of the chunk in flight that were sent at least once
	Acked         core.Set    // those that the peer has
	Transmissions int         // how many slices were sent: of named ones each counts once
	Have          int         // how many slices the peer has; of repair slices, independent ones
	Top           int         // with repair slices the highest number that arrived, and one
	HeardAt       core.Micros // the latest sign that the peer is there
}

// Vars returns the sender's variables.
func (s *Sender) Vars() SenderVars {
	v := SenderVars{State: s.state, Row: s.row, ChunkID: s.chunkID, NumSlices: s.numSlices, HeardAt: s.heardAt}
	return s.ledger.vars(v)
}

// HeardAt returns the latest sign that the peer is there.
func (s *Sender) HeardAt() core.Micros { return s.heardAt }

// State returns the sender's state.
func (s *Sender) State() SenderState { return s.state }

// Scheduler returns what the sender was made with.
func (s *Sender) Scheduler() Scheduler { return s.sched }

// Err returns ErrGaveUp once the sender has failed (SND-15).
func (s *Sender) Err() error {
	if s.state == SenderFailed {
		return ErrGaveUp
	}
	return nil
}

// SenderStats counts the events of a sender since it was made. Later versions can add
// fields.
type SenderStats struct {
	Chunks        int64       // chunks that the peer has whole
	ChunkBytes    int64       // their bytes
	SlicesSent    int64       // slice packets sent, the resent ones among them
	SlicesResent  int64       // slice packets sent for a slice that was sent before
	SlicesRepair  int64       // slice packets sent that were repair slices
	SlicesAcked   int64       // slices that the peer is known to have, repair slices among them
	BytesSent     int64       // bytes of datagrams sent, without IP and UDP headers
	AcksReceived  int64       // acks received
	AcksIgnored   int64       // of these, without a newly acked slice or a hold
	LastChunkTime core.Micros // from submission to the last ack, for the last completed chunk
	Schedule      ScheduleStats
}

// Stats returns the counters.
func (s *Sender) Stats() SenderStats {
	st := s.stats
	st.Schedule = s.sched.Stats()
	return st
}

// Add adds the counters of t. It keeps the longer LastChunkTime.
func (s *SenderStats) Add(t SenderStats) {
	s.Chunks += t.Chunks
	s.ChunkBytes += t.ChunkBytes
	s.SlicesSent += t.SlicesSent
	s.SlicesResent += t.SlicesResent
	s.SlicesRepair += t.SlicesRepair
	s.SlicesAcked += t.SlicesAcked
	s.BytesSent += t.BytesSent
	s.AcksReceived += t.AcksReceived
	s.AcksIgnored += t.AcksIgnored
	s.LastChunkTime = max(s.LastChunkTime, t.LastChunkTime)
	s.Schedule.Add(t.Schedule)
}

// ReceiverVars are the variables of section 8.2, and of section 6.1 of spec/REPAIR.md.
type ReceiverVars struct {
	State          ReceiverState
	Row            core.Row    // of the latest transition; empty before the first
	ChunkID        uint16      // of the chunk that arrives, or of the next one
	NumSlices      int         // of the chunk that arrives; 0 while none does
	LastBytes      int         // with repair slices the size of its last slice; 0 while none arrives
	Received       core.Set    // its named slices that are here
	Have           int         // how many of its slices are here; of repair slices, independent ones
	Top            int         // with repair slices the highest number that came, and one
	ProgressAt     core.Micros // when the latest slice came that added to the chunk
	PreviousSlices int         // of the chunk completed last; 0 while there is none
	PreviousTop    int         // its top when it was complete
	Due            PendingAcks // for which chunks an ack is due
	HeldSlices     int         // num_slices of the slice that made a hold due
	ReadSize       int         // bytes of the chunk that waits to be read; 0 while none does
}

// Vars returns the receiver's variables.
func (r *Receiver) Vars() ReceiverVars {
	v := ReceiverVars{
		State: r.state, Row: r.row, ChunkID: r.chunkID, NumSlices: r.numSlices, LastBytes: r.lastBytes,
		Have: r.ledger.count(), ProgressAt: r.progressAt, PreviousSlices: r.previousSlices,
		Due: r.pending, HeldSlices: r.heldSlices, ReadSize: r.readSize,
	}
	return r.ledger.vars(v)
}

// ChunkID returns the id of the chunk that arrives, or of the next one.
func (r *Receiver) ChunkID() uint16 { return r.chunkID }

// ProgressAt returns when the latest slice came that added to the chunk.
func (r *Receiver) ProgressAt() core.Micros { return r.progressAt }

// ReadSize returns how many bytes Read delivers, or 0.
func (r *Receiver) ReadSize() int { return r.readSize }

// IDs returns the ids of the slices of the chunk that are here: of named ones in their
// order, of repair slices in the order in which they came. They are read-only, until the
// next event.
func (r *Receiver) IDs() []int { return r.ledger.ids() }

// State returns the receiver's state.
func (r *Receiver) State() ReceiverState { return r.state }

// Err returns ErrGaveUp once the receiver has failed (RCV-15).
func (r *Receiver) Err() error {
	if r.state == ReceiverFailed {
		return ErrGaveUp
	}
	return nil
}

// ReceiverStats counts the events of a receiver since it was made. Later versions can
// add fields.
type ReceiverStats struct {
	Chunks         int64       // chunks that were complete
	ChunkBytes     int64       // their bytes
	SlicesReceived int64       // slice packets handled
	SlicesStored   int64       // of these, new
	Duplicates     int64       // those already held, of the current or the previous chunk
	Dependent      int64       // those that followed from slices held
	Held           int64       // of the next chunk, while one waited to be read
	Conflicts      int64       // those that disagreed with the fixed number of slices
	Replaced       int64       // times that the number of slices was replaced
	Inconsistent   int64       // signs that a slice was forged, at most 3 a chunk, which is delivered all the same (RPR-11, RPH-2)
	Ignored        int64       // of any other chunk
	AcksSent       int64       // acks sent
	LastChunkTime  core.Micros // from the first slice to the last new one, for the last complete chunk
}

// Stats returns the counters, once Work has nothing left.
func (r *Receiver) Stats() ReceiverStats {
	r.Work(math.MaxInt)
	return r.stats
}

// Counts is Stats, but does no Work: what that would find is counted later.
func (r *Receiver) Counts() ReceiverStats { return r.stats }

// Chunks returns how many chunks were complete.
func (r *Receiver) Chunks() int64 { return r.stats.Chunks }

// Add adds the counters of t. It keeps the longer LastChunkTime.
func (s *ReceiverStats) Add(t ReceiverStats) {
	s.Chunks += t.Chunks
	s.ChunkBytes += t.ChunkBytes
	s.SlicesReceived += t.SlicesReceived
	s.SlicesStored += t.SlicesStored
	s.Duplicates += t.Duplicates
	s.Dependent += t.Dependent
	s.Held += t.Held
	s.Conflicts += t.Conflicts
	s.Replaced += t.Replaced
	s.Inconsistent += t.Inconsistent
	s.Ignored += t.Ignored
	s.AcksSent += t.AcksSent
	s.LastChunkTime = max(s.LastChunkTime, t.LastChunkTime)
}
