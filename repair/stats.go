package repair

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderVars are the variables of section 5.1.
type SenderVars struct {
	State     statemachine.SenderState
	Row       core.Row    // of the latest transition; empty before the first
	ChunkID   uint16      // of the chunk in flight, or of the next one
	NumSlices int         // of the chunk in flight; 0 while there is none
	Sent      int         // transmissions of it; 0 while there is none
	Have      int         // independent slices that the peer has
	Top       int         // the highest number that arrived, and one
	HeardAt   core.Micros // the latest sign that the peer is there
}

// Vars returns the sender's variables.
func (s *Sender) Vars() SenderVars {
	return SenderVars{s.state, s.row, s.chunkID, s.numSlices, s.sent, s.have, s.top, s.heardAt}
}

// State returns the sender's state.
func (s *Sender) State() statemachine.SenderState { return s.state }

// Scheduler returns what the sender was made with.
func (s *Sender) Scheduler() Scheduler { return s.sched }

// Err returns statemachine.ErrGaveUp once the sender has failed (SND-15).
func (s *Sender) Err() error {
	if s.state == gaveUp {
		return statemachine.ErrGaveUp
	}
	return nil
}

// Stats returns the counters. SlicesResent stays 0: what is sent more is repair slices.
func (s *Sender) Stats() statemachine.SenderStats {
	st := s.stats
	st.Schedule = s.sched.Stats()
	return st
}

// ReceiverVars are the variables of section 6.1.
type ReceiverVars struct {
	State          statemachine.ReceiverState
	Row            core.Row                 // of the latest transition; empty before the first
	ChunkID        uint16                   // of the chunk that arrives, or of the next one
	NumSlices      int                      // of the chunk that arrives; 0 while none does
	LastBytes      int                      // of its last slice; 0 while none arrives
	Held           []int                    // the ids that are here in the order in which they came; read-only, until the next event
	Have           int                      // how many they are
	Top            int                      // the highest number that came, and one
	ProgressAt     core.Micros              // when the latest slice came that added to it
	PreviousSlices int                      // of the chunk completed last; 0 while there is none
	PreviousTop    int                      // its top when it was complete
	Due            statemachine.PendingAcks // for which chunks an ack is due
	HeldSlices     int                      // num_slices of the slice that made a hold due
	ReadSize       int                      // bytes of the chunk that waits to be read; 0 while none does
}

// Vars returns the receiver's variables.
func (r *Receiver) Vars() ReceiverVars {
	return ReceiverVars{
		r.state, r.row, r.chunkID, r.numSlices, r.lastBytes, r.held, len(r.held), r.top, r.progressAt,
		r.previousSlices, r.previousTop, r.pending, r.heldSlices, r.readSize,
	}
}

// State returns the receiver's state.
func (r *Receiver) State() statemachine.ReceiverState { return r.state }

// Err returns statemachine.ErrGaveUp once the receiver has failed (RCV-15).
func (r *Receiver) Err() error {
	if r.state == failed {
		return statemachine.ErrGaveUp
	}
	return nil
}

// Stats returns the counters.
func (r *Receiver) Stats() statemachine.ReceiverStats { return r.stats }
