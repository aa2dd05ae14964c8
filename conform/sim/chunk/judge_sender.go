package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// SenderJudge watches one sender from outside: SAFE-2, SAFE-3, LIVE-3, SCH-1 to
// SCH-4, and what goes out.
type SenderJudge struct {
	Emission
	sent, acked [256]bool

	logs     bool     // the events that the machine logs are given, too
	awaited  core.Set // slices of the latest ack that must be logged as acked
	outgoing int      // slices that were logged to go out and have not been seen
}

// NewSenderJudge returns the judge of a new sender of a stream. slack is how late
// the sender's driver may be.
func NewSenderJudge(s *Stream, p Pace, giveUp, slack core.Micros) *SenderJudge {
	return &SenderJudge{Emission: NewEmission(s, p, giveUp, slack)}
}

// WasSent reports whether a slice of the chunk in flight was sent.
func (j *SenderJudge) WasSent(k int) bool { return j.Busy() && j.sent[k] }

// Submitted: the application has given the machine a chunk, which it took or not.
func (j *SenderJudge) Submitted(now core.Micros, chunk []byte, taken bool) *Violation {
	v := j.Emission.Submitted(now, chunk, taken)
	if taken && v == nil {
		j.sent, j.acked = [256]bool{}, [256]bool{}
	}
	return v
}

// Sent: a slice leaves the machine, in a datagram of so many bytes. The deadline is
// what the machine said before it was polled (SCH-3).
func (j *SenderJudge) Sent(now core.Micros, s codec.Slice, size int, deadline core.Micros) *Violation {
	k := s.SliceID
	v := j.Emission.Sent(now, s.ChunkID, k, size, deadline, func() *Violation {
		switch {
		case s.NumSlices != j.NumSlices || k < 0 || k >= j.NumSlices:
			return Violates("LIM-2", "sent slice %d of %d of a chunk of %d bytes", k, s.NumSlices, len(j.Chunk))
		case j.acked[k]:
			return Violates("SCH-1", "sent slice %d of chunk %d again, though it was acked", k, s.ChunkID)
		case !bytes.Equal(s.Data, j.Chunk[1024*k:min(1024*k+1024, len(j.Chunk))]):
			return Violates("SLC-4", "slice %d of chunk %d has other bytes than were submitted", k, s.ChunkID)
		}
		return nil
	})
	if v != nil {
		return v
	}
	if j.outgoing--; j.logs && j.outgoing != 0 {
		return Violates("Log", "sent slice %d, but %d other slices were logged", k, j.outgoing)
	}
	j.sent[k] = true
	return nil
}

// Acked: an ack is about to be handed to the machine.
func (j *SenderJudge) Acked(now core.Micros, a codec.Ack) {
	now = j.At(now)
	j.awaited = core.Set{}
	if !j.Busy() || a.ChunkID != j.ID() || a.NumSlices != j.NumSlices || !ackIsValid(a) {
		return
	}
	hold := j.Missing == j.NumSlices && a.Acked.Empty()
	for k := range j.NumSlices {
		if a.Acked.Has(k) && j.sent[k] && !j.acked[k] {
			j.acked[k] = true
			j.Missing--
			j.awaited.Add(k)
			j.meter.Acked(now, j.cost(k))
		}
	}
	if hold || !j.awaited.Empty() {
		j.Heard(now)
	}
}

// Reported: after an ack the machine either reports the chunk as delivered, or not.
func (j *SenderJudge) Reported(delivered bool) *Violation {
	if j.logs && !j.awaited.Empty() {
		return Violates("Log", "%d newly acked slices were not logged", j.awaited.Count())
	}
	return j.Emission.Reported(delivered)
}

// Logged: the machine has logged an event of its slices, within the event that is being
// handled. From then on every one must be given.
func (j *SenderJudge) Logged(e eventlog.Event) *Violation {
	j.logs = true
	inRange := e.SliceID >= 0 && e.SliceID < j.NumSlices
	known := inRange && j.sent[e.SliceID]
	right := false
	switch e.Kind {
	case eventlog.SliceSent:
		j.outgoing++
		right = e.RTT == 0 && inRange && !j.acked[e.SliceID] && known == (e.Times > 1) && known == (e.Why != eventlog.First)
	case eventlog.SliceAcked:
		right = e.RTT == 0 && j.awaited.Has(e.SliceID)
		j.awaited.Remove(e.SliceID)
	case eventlog.RTTSampled:
		right = e.RTT >= 0 && known
	case eventlog.SliceSpurious, eventlog.SliceLost:
		right = e.RTT == 0 && known
	default:
		return nil
	}
	if !right || e.At != j.now || e.ChunkID != j.ID() {
		return Violates("Log", "logged at %d: %+v; the slice was sent before: %v", j.now, e, known)
	}
	return nil
}

// cost returns what slice k costs, headers included (BUD-2).
func (j *SenderJudge) cost(k int) int {
	if k == j.NumSlices-1 {
		return 14 + len(j.Chunk) - 1024*k + 28
	}
	return 1037 + 28
}
