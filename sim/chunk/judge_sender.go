package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderJudge watches one sender from outside: SAFE-2, SAFE-3, LIVE-3, SCH-1 to
// SCH-4, and what goes out.
type SenderJudge struct {
	end
	pace  Pace
	meter *Meter

	reported    int    // chunks that the machine reported as delivered
	chunk       []byte // a copy of the one in flight, or nil
	lent        []byte // that one itself, which nobody may change (SND-18)
	slices      int
	sent, acked [256]bool
	missing     int            // slices that are not acked
	heardAt     machine.Micros // submission, newly acked slices or a hold, whichever came last
	lastAt      machine.Micros // these or the latest slice, whichever came last
	atOnce      int            // slices since the latest poll that returned none

	observes bool       // the machine's observations are given, too
	awaited  bitset.Set // slices of the latest ack that must be observed as acked
	outgoing int        // slices that were observed to go out and have not been seen
}

// NewSenderJudge returns the judge of a new sender of a stream. slack is how late
// the sender's driver may be.
func NewSenderJudge(s *Stream, p Pace, giveUp, slack machine.Micros) *SenderJudge {
	s.Senders++
	return &SenderJudge{end: end{stream: s, giveUp: giveUpOf(giveUp), slack: slack}, pace: p, meter: NewMeter(p)}
}

// ID returns the id of the chunk in flight, or of the next one.
func (j *SenderJudge) ID() uint16 { return j.stream.FirstID + uint16(j.reported) }

// Busy reports whether a chunk is in flight.
func (j *SenderJudge) Busy() bool { return j.chunk != nil }

// WasSent reports whether a slice of the chunk in flight was sent.
func (j *SenderJudge) WasSent(k int) bool { return j.chunk != nil && j.sent[k] }

// Submitted: the application has given the machine a chunk, which it took or not.
func (j *SenderJudge) Submitted(now machine.Micros, chunk []byte, taken bool) *Violation {
	now = j.at(now)
	fits := len(chunk) >= 1 && len(chunk) <= maxChunk
	switch {
	case taken && j.failed:
		return violates("S4", "took a chunk after it failed")
	case taken && j.chunk != nil:
		return violates("S3", "took a chunk while another was in flight")
	case taken && !fits:
		return violates("S2", "took a chunk of %d bytes", len(chunk))
	case !taken && fits && j.chunk == nil && !j.failed:
		return violates("S1", "refused a chunk of %d bytes while idle", len(chunk))
	case !taken:
		return nil
	}
	j.lent, j.chunk = chunk, bytes.Clone(chunk)
	j.stream.Submitted = append(j.stream.Submitted, j.chunk)
	j.slices = (len(chunk) + 1023) / 1024
	j.sent, j.acked, j.missing, j.atOnce = [256]bool{}, [256]bool{}, j.slices, 0
	j.heardAt, j.lastAt = now, now
	j.meter.Begin(now)
	return nil
}

// Sent: a slice leaves the machine, in a datagram of so many bytes. The deadline is
// what the machine said before it was polled (SCH-3).
func (j *SenderJudge) Sent(now machine.Micros, s codec.Slice, size int, deadline machine.Micros) *Violation {
	now, k := j.at(now), s.SliceID
	j.atOnce++
	switch {
	case j.chunk == nil:
		return violates("CON-2", "sent slice %d of chunk %d with no chunk in flight", k, s.ChunkID)
	case s.ChunkID != j.ID():
		return violates("CID-2", "sent chunk %d, but %d is in flight", s.ChunkID, j.ID())
	case s.NumSlices != j.slices || k < 0 || k >= j.slices:
		return violates("LIM-2", "sent slice %d of %d of a chunk of %d bytes", k, s.NumSlices, len(j.chunk))
	case j.acked[k]:
		return violates("SCH-1", "sent slice %d of chunk %d again, though it was acked", k, s.ChunkID)
	case !bytes.Equal(s.Data, j.chunk[1024*k:min(1024*k+1024, len(j.chunk))]):
		return violates("SLC-4", "slice %d of chunk %d has other bytes than were submitted", k, s.ChunkID)
	case now-j.heardAt >= j.giveUp:
		return violates("SND-9", "sent a slice when it had to give up")
	case deadline > now:
		return violates("SCH-3", "sent slice %d at %d, before its deadline at %d", k, now, deadline)
	case j.pace.AtOnce > 0 && j.atOnce > j.pace.AtOnce:
		return violates("BND-3", "sent %d slices at one time", j.atOnce)
	}
	if j.outgoing--; j.observes && j.outgoing != 0 {
		return violates("Observe", "sent slice %d, but %d other slices were observed", k, j.outgoing)
	}
	j.sent[k] = true
	j.lastAt = now
	return j.meter.Sent(now, size+28)
}

// Acked: an ack is about to be handed to the machine.
func (j *SenderJudge) Acked(now machine.Micros, a codec.Ack) {
	now = j.at(now)
	j.awaited = bitset.Set{}
	if j.chunk == nil || a.ChunkID != j.ID() || a.NumSlices != j.slices || !ackIsValid(a) {
		return
	}
	hold := j.missing == j.slices && a.Acked.Empty()
	for k := range j.slices {
		if a.Acked.Has(k) && j.sent[k] && !j.acked[k] {
			j.acked[k] = true
			j.missing--
			j.awaited.Add(k)
			j.meter.Acked(now, j.cost(k))
		}
	}
	if hold || !j.awaited.Empty() {
		j.heardAt, j.lastAt = now, now
	}
}

// Reported: after an ack the machine either reports the chunk as delivered, or not.
func (j *SenderJudge) Reported(delivered bool) *Violation {
	switch {
	case j.observes && !j.awaited.Empty():
		return violates("Observe", "%d newly acked slices were not observed", j.awaited.Count())
	case !delivered && j.chunk != nil && j.missing == 0:
		return violates("S10", "does not report chunk %d, of which all is acked", j.ID())
	case !delivered:
		return nil
	case j.chunk == nil || j.missing > 0:
		return violates("SAFE-2", "reports chunk %d as delivered, of which %d slices are not acked", j.ID(), j.missing)
	case j.stream.Lawful() && j.stream.Receivers > 0 && j.stream.Complete < j.reported+1:
		return violates("SAFE-2", "reports chunk %d as delivered, but the receiver has not all of it", j.ID())
	case !bytes.Equal(j.lent, j.chunk):
		return violates("SND-18", "chunk %d is not what was submitted any more", j.ID())
	}
	j.chunk, j.lent = nil, nil
	j.reported++
	return nil
}

// GaveUp: the machine has failed.
func (j *SenderJudge) GaveUp(now machine.Micros) *Violation {
	now = j.at(now)
	if j.chunk == nil {
		return violates("S15", "gave up without a chunk in flight")
	}
	if now-j.heardAt < j.giveUp {
		return violates("SND-9", "gave up on chunk %d %d us after the peer's last sign, with %d to wait", j.ID(), now-j.heardAt, j.giveUp)
	}
	j.failed, j.chunk, j.lent = true, nil, nil
	return nil
}

// Polled: a poll has returned nothing more, and the machine has this deadline.
func (j *SenderJudge) Polled(now, deadline machine.Micros) *Violation {
	now = j.at(now)
	j.atOnce = 0
	switch {
	case j.chunk == nil && deadline != machine.Never:
		return violates("SND-16", "has no chunk in flight, but a deadline at %d", deadline)
	case j.chunk == nil:
		return nil
	case deadline > j.heardAt+j.giveUp:
		return violates("SND-16", "its deadline is %d, but it must give up at %d", deadline, j.heardAt+j.giveUp)
	case deadline > max(j.lastAt+j.pace.Longest, now+1) && j.pace.Longest > 0:
		return violates("SCH-2", "sends nothing before %d, though the latest slice or newly acked one was at %d", deadline, j.lastAt)
	}
	return j.ahead("SCH-3", deadline)
}

// Waited: time has passed; since is when the machine was last able to act.
func (j *SenderJudge) Waited(now, since machine.Micros) *Violation {
	if j.chunk == nil {
		return nil
	}
	if now > max(j.heardAt+j.giveUp, since)+j.slack {
		return violates("LIVE-3", "waits in silence: nothing came of chunk %d since %d, and it did not give up", j.ID(), j.heardAt)
	}
	if j.pace.Longest > 0 && now > max(j.lastAt+j.pace.Longest, since)+j.slack {
		return violates("SCH-2", "sent no slice of chunk %d since %d", j.ID(), j.lastAt)
	}
	return nil
}

// Observed: the machine has reported an observation, within the event that is being
// handled. From then on every observation must be given.
func (j *SenderJudge) Observed(o statemachine.Observation) *Violation {
	j.observes = true
	inRange := o.SliceID >= 0 && o.SliceID < j.slices
	known := inRange && j.sent[o.SliceID]
	right := false
	switch o.Kind {
	case statemachine.Sent, statemachine.Resent:
		j.outgoing++
		right = o.RTT == 0 && inRange && !j.acked[o.SliceID] && known == (o.Kind == statemachine.Resent)
	case statemachine.Acked:
		right = o.RTT == 0 && j.awaited.Has(o.SliceID)
		j.awaited.Remove(o.SliceID)
	case statemachine.MeasuredRTT:
		right = o.RTT >= 0 && known
	case statemachine.Spurious:
		right = o.RTT == 0 && known
	}
	if !right || o.At != j.now || o.ChunkID != j.ID() {
		return violates("Observe", "observed at %d: %+v; the slice was sent before: %v", j.now, o, known)
	}
	return nil
}

// cost returns what slice k costs, headers included (BUD-2).
func (j *SenderJudge) cost(k int) int {
	if k == j.slices-1 {
		return 14 + len(j.chunk) - 1024*k + 28
	}
	return 1037 + 28
}
