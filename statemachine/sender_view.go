package statemachine

import "github.com/chunkwire/chunkwire/codec"

// SenderStats counts what a sender did since it was made.
type SenderStats struct {
	Chunks        int64  // chunks that the peer has whole
	ChunkBytes    int64  // their bytes
	SlicesSent    int64  // slice packets sent, the resent ones among them
	SlicesResent  int64  // slice packets sent for a slice that was sent before
	SlicesAcked   int64  // slices that the peer is known to have
	BytesSent     int64  // bytes of datagrams sent, without IP and UDP headers
	AcksReceived  int64  // acks received
	AcksIgnored   int64  // those of them that told nothing
	LastChunkTime Micros // from submission to the last ack, for the last completed chunk
	Schedule      ScheduleStats
}

// State returns what the sender is doing.
func (s *Sender) State() SenderState { return s.state }

// Row returns the transition that the last event took; 0 before the first.
func (s *Sender) Row() Row { return s.row }

// Err returns ErrGaveUp once the sender has failed (SND-15).
func (s *Sender) Err() error {
	if s.state == SenderFailed {
		return ErrGaveUp
	}
	return nil
}

// ChunkID returns the id of the chunk in flight, or of the next one.
func (s *Sender) ChunkID() uint16 { return s.chunkID }

// NumSlices returns the number of slices of the chunk in flight, 0 when idle.
func (s *Sender) NumSlices() int { return s.numSlices }

// Acked returns which slices of the chunk in flight the peer has.
func (s *Sender) Acked() codec.Bitset { return s.acked }

// Sent returns which slices of the chunk in flight were sent at least once.
func (s *Sender) Sent() codec.Bitset { return s.sent }

// HeardFromAt returns when the peer last gave a sign that it takes the chunk in
// flight: an ack with news, or a hold.
func (s *Sender) HeardFromAt() Micros { return s.heardFromAt }

// Stats returns the counters.
func (s *Sender) Stats() SenderStats {
	st := s.stats
	st.Schedule = s.sched.Stats()
	return st
}
