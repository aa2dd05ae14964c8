package chunk

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// SenderJudge watches one sender from outside: SAFE-2, SAFE-3, LIVE-3, SCH-1 to
// SCH-4, and which slices are sent.
type SenderJudge struct {
	Emission
	out outgoing

	logs   bool // the events that the machine logs are given, too
	logged int  // slices that were logged as sent and have not been seen
}

// outgoing is what is known of the slices in flight, by their kind.
type outgoing interface {
	submitted()
	// right looks at a slice that is sent; sent counts it.
	right(s codec.Slice) *Violation
	sent(s codec.Slice)
	extra(s codec.Slice) bool
	// acked takes a valid ack of the chunk in flight, and reports whether it is a sign of the
	// peer.
	acked(now core.Micros, a codec.Ack) (sign bool)
	// unlogged returns what the log owes of the latest ack.
	unlogged() *Violation
	// logged reports whether an event of a slice that was logged is right.
	logged(e eventlog.Event) bool
}

// NewSenderJudge returns the judge of a new sender of a stream. slack is how late
// the sender's driver may be.
func NewSenderJudge(kind codec.Kind, s *Stream, p Pace, giveUp, slack core.Micros) *SenderJudge {
	j := &SenderJudge{Emission: newEmission(s, p, giveUp, slack)}
	if kind == codec.Repair {
		j.out = &outgoingCount{Emission: &j.Emission}
	} else {
		j.out = &outgoingSet{Emission: &j.Emission}
	}
	return j
}

// IsExtra reports whether a slice that is about to be sent is one more than the chunk has:
// it was sent before, or is a repair slice.
func (j *SenderJudge) IsExtra(s codec.Slice) bool { return j.Busy() && j.out.extra(s) }

// Submitted: the application has given the machine a chunk, which it took or not.
func (j *SenderJudge) Submitted(now core.Micros, chunk []byte, taken bool) *Violation {
	v := j.Emission.submitted(now, chunk, taken)
	if taken && v == nil {
		j.out.submitted()
	}
	return v
}

// Sent: a slice leaves the machine, in a datagram of so many bytes. The deadline is
// what the machine said before it was polled (SCH-3).
func (j *SenderJudge) Sent(now core.Micros, s codec.Slice, size int, deadline core.Micros) *Violation {
	if v := j.Emission.sent(now, s, size, deadline, j.out.right); v != nil {
		return v
	}
	if j.logged--; j.logs && j.logged != 0 {
		return Violates("Log", "sent slice %d, but %d other slices were logged", s.SliceID, j.logged)
	}
	j.out.sent(s)
	return nil
}

// Acked: an ack is about to be handed to the machine.
func (j *SenderJudge) Acked(now core.Micros, a codec.Ack) {
	now = j.At(now)
	if !j.Busy() || a.ChunkID != j.ID() || a.NumSlices != j.numSlices {
		a = codec.Ack{} // it says nothing of this chunk
	}
	if j.out.acked(now, a) {
		j.heard(now)
	}
}

// Reported: after an ack the machine either reports the chunk as delivered, or not.
func (j *SenderJudge) Reported(delivered bool) *Violation {
	if v := j.out.unlogged(); j.logs && v != nil {
		return v
	}
	return j.Emission.reportedAs(delivered)
}

// Logged: the machine has logged an event of its slices, within the event that is being
// handled. From then on every one must be given.
func (j *SenderJudge) Logged(e eventlog.Event) *Violation {
	switch j.logs = true; e.Kind {
	case eventlog.SliceSent:
		j.logged++
	case eventlog.SliceAcked, eventlog.SlicesCounted, eventlog.RTTSampled, eventlog.SliceSpurious, eventlog.SliceLost:
	default:
		return nil
	}
	if !j.out.logged(e) || e.At != j.now || e.ChunkID != j.ID() {
		return Violates("Log", "logged at %d: %+v", j.now, e)
	}
	return nil
}
