package repair

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/repair/code"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

type violation = chunk.Violation

// SenderJudge watches one sender from outside: each id goes out once and in order until
// they are used up, with the bytes of the code; a chunk is reported once all of it is
// acked; and what the judges of the chunk protocol say of times and pace.
type SenderJudge struct {
	chunk.Emission
	sent      int // transmissions of the chunk in flight
	have, top int // the largest that were acked

	logs     bool            // the events that the machine logs are given, too
	counted  *eventlog.Event // what must be logged of the latest ack
	outgoing int             // logged to go out and not seen
}

// NewSenderJudge returns the judge of a new sender of a stream. slack is how late
// the sender's driver may be.
func NewSenderJudge(s *chunk.Stream, p chunk.Pace, giveUp, slack core.Micros) *SenderJudge {
	return &SenderJudge{Emission: chunk.NewEmission(s, p, giveUp, slack)}
}

// InFlight returns how many ids were sent of the chunk in flight.
func (j *SenderJudge) InFlight() int { return j.sent }

// Submitted: the application has given the machine a chunk, which it took or not.
func (j *SenderJudge) Submitted(now core.Micros, chunk []byte, taken bool) *violation {
	v := j.Emission.Submitted(now, chunk, taken)
	if taken && v == nil {
		j.sent, j.have, j.top = 0, 0, 0
	}
	return v
}

// Sent: a slice leaves the machine, in a datagram of so many bytes. The deadline is
// what the machine said before it was polled (SCH-3).
func (j *SenderJudge) Sent(now core.Micros, s codec.Slice, size int, deadline core.Micros) *violation {
	v := j.Emission.Sent(now, s.ChunkID, s.SliceID, size, deadline, func() *violation {
		switch k := j.NumSlices; {
		case s.NumSlices != k || s.LastBytes != len(j.Chunk)-1024*(k-1):
			return chunk.Violates("LIM-2", "sent id %d of %d slices, the last of %d bytes, of a chunk of %d", s.SliceID, s.NumSlices, s.LastBytes, len(j.Chunk))
		case s.SliceID != code.ID(j.sent, k):
			return chunk.Violates("RPN-2", "transmission %d of chunk %d has the id %d, not %d", j.sent, s.ChunkID, s.SliceID, code.ID(j.sent, k))
		case !bytes.Equal(s.Data, code.Slice(j.Chunk, s.SliceID)):
			return chunk.Violates("RPC-4", "id %d of chunk %d has other bytes than the code", s.SliceID, s.ChunkID)
		}
		return nil
	})
	if v != nil {
		return v
	}
	if j.outgoing--; j.logs && j.outgoing != 0 {
		return chunk.Violates("Log", "sent id %d, but %d other slices were logged", s.SliceID, j.outgoing)
	}
	j.sent++
	return nil
}

// Acked: an ack is about to be handed to the machine.
func (j *SenderJudge) Acked(now core.Micros, a codec.Ack) {
	j.At(now)
	j.counted = nil
	if !j.Busy() || a.ChunkID != j.ID() || a.NumSlices != j.NumSlices || !ackIsValid(a) {
		return
	}
	top := code.Top(a.Top, j.NumSlices, j.sent)
	if a.Have > top {
		return
	}
	news := a.Have > j.have || top > j.top
	if news || j.have == 0 && j.top == 0 && a.Have == 0 && top == 0 {
		j.Heard(now)
	}
	if news {
		j.have, j.top = max(j.have, a.Have), max(j.top, top)
		j.Missing = j.NumSlices - j.have
		j.counted = &eventlog.Event{Kind: eventlog.SlicesCounted, At: j.At(now), ChunkID: j.ID(), Have: j.have, Top: j.top}
	}
}

// Reported: after an ack the machine either reports the chunk as delivered, or not.
func (j *SenderJudge) Reported(delivered bool) *violation {
	if j.logs && j.counted != nil {
		return chunk.Violates("Log", "%d and %d were not logged", j.counted.Have, j.counted.Top)
	}
	return j.Emission.Reported(delivered)
}

// Logged: the machine has logged an event of its slices, within the event that is being
// handled. From then on every one must be given.
func (j *SenderJudge) Logged(e eventlog.Event) *violation {
	j.logs = true
	right := false
	switch e.Kind {
	case eventlog.SliceSent:
		j.outgoing++
		right = e.SliceID == code.ID(j.sent, j.NumSlices) && (e.SliceID < j.NumSlices || e.Why != eventlog.First)
	case eventlog.SlicesCounted:
		right = j.counted != nil && e == *j.counted
		j.counted = nil
	case eventlog.RTTSampled:
		right = e.RTT >= 0 && j.top > 0 && e.SliceID == code.ID(j.top-1, j.NumSlices)
	default:
		return nil
	}
	if !right || e.ChunkID != j.ID() || e.At != j.At(0) {
		return chunk.Violates("Log", "logged %+v after %d ids, with %d and %d acked", e, j.sent, j.have, j.top)
	}
	return nil
}
