package channel

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// SenderStats counts the events of a Sender. A sequence that goes in a SKIP counts as sent.
type SenderStats struct {
	Messages    int64 // accepted
	Sent        int64 // sequences sent
	Resent      int64 // of these not for the first time
	Skips       int64 // SKIP records
	Probes      int64 // STATUS records
	Released    int64 // sequences
	Expired     int64 // messages
	Overtaken   int64 // reports that came behind a newer one
	Implausible int64 // reports that named a sequence that was never sent

	Kept int // sequences now
}

// ReceiverStats counts the events of a Receiver.
type ReceiverStats struct {
	Received  int64 // messages and fragments added
	Known     int64 // data that was here before
	Beyond    int64 // records beyond the window
	Conflicts int64
	Delivered int64 // messages read
	Skipped   int64 // skipped sequences read
	Reports   int64

	HeldBytes int // memory for data now
}

// MuxStats counts the events of a Mux.
type MuxStats struct {
	Payloads int64 // handled
	Composed int64 // payloads with a record
	Dropped  int64 // unreliable messages that were not read in time
	refused  [len(codes)]int64
}

// Refused returns how many payloads were refused with a code.
func (s *MuxStats) Refused(code core.Code) int64 {
	if i := slices.Index(codes[:], code); i >= 0 {
		return s.refused[i]
	}
	return 0
}

// State returns the state.
func (s *Sender) State() State { return s.state }

// Row returns the row that was taken last; it is empty before the first event.
func (s *Sender) Row() core.Row { return s.row }

// Err returns why the sender failed; it wraps ErrFailed.
func (s *Sender) Err() error { return s.err }

// Base returns the lowest sequence that is not released.
func (s *Sender) Base() core.Number { return s.base }

// Sent returns the lowest sequence that was never sent.
func (s *Sender) Sent() core.Number { return s.sent }

// Next returns the sequence of the next message.
func (s *Sender) Next() core.Number { return s.next }

// Limit returns the lowest sequence that the receiver does not take.
func (s *Sender) Limit() core.Number { return s.limit }

// Stats returns the counts so far.
func (s *Sender) Stats() SenderStats {
	stats := s.stats
	stats.Kept = int(s.next - s.base)
	return stats
}

// State returns the state.
func (v *Receiver) State() State { return v.state }

// Row returns the row that was taken last; it is empty before the first event.
func (v *Receiver) Row() core.Row { return v.row }

// Err returns why the receiver failed; it wraps ErrFailed.
func (v *Receiver) Err() error { return v.err }

// Tail returns the lowest sequence that is not done with.
func (v *Receiver) Tail() core.Number { return v.tail }

// Base returns the lowest sequence that has not come.
func (v *Receiver) Base() core.Number { return v.base }

// Top returns 1 + the highest sequence that is known to exist.
func (v *Receiver) Top() core.Number { return v.top }

// Limit returns the lowest sequence that is not taken.
func (v *Receiver) Limit() core.Number { return v.have.Next() }

// Stats returns the counts so far.
func (v *Receiver) Stats() ReceiverStats {
	stats := v.stats
	for i := range v.slots.slots {
		stats.HeldBytes += cap(v.slots.slots[i].data)
	}
	return stats
}
