package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// Emission is what the judge of a sender knows of either kind of slices.
type Emission struct {
	end
	pace  Pace
	meter *Meter

	chunk     []byte // a copy of the one in flight, or nil
	numSlices int
	missing   int // slices that the peer is not known to have

	reported int         // chunks that the machine reported as delivered
	lent     []byte      // the chunk in flight itself, which nobody may change (SND-18)
	heardAt  core.Micros // submission, news or a hold, whichever came last
	lastAt   core.Micros // these or the latest slice, whichever came last
	atOnce   int         // slices since the latest poll that returned none
}

func newEmission(s *Stream, p Pace, giveUp, slack core.Micros) Emission {
	s.Senders++
	return Emission{end: end{stream: s, giveUp: GiveUpOf(giveUp), slack: slack}, pace: p, meter: NewMeter(p)}
}

// ID returns the id of the chunk in flight, or of the next one.
func (j *Emission) ID() uint16 { return j.stream.FirstID + uint16(j.reported) }

// Busy reports whether a chunk is in flight.
func (j *Emission) Busy() bool { return j.chunk != nil }

func (j *Emission) submitted(now core.Micros, chunk []byte, taken bool) *Violation {
	now = j.At(now)
	fits := len(chunk) >= 1 && len(chunk) <= maxChunk
	switch {
	case taken && j.failed:
		return Violates("S4", "took a chunk after it failed")
	case taken && j.chunk != nil:
		return Violates("S3", "took a chunk while another was in flight")
	case taken && !fits:
		return Violates("S2", "took a chunk of %d bytes", len(chunk))
	case !taken && fits && j.chunk == nil && !j.failed:
		return Violates("S1", "refused a chunk of %d bytes while idle", len(chunk))
	case !taken:
		return nil
	}
	j.lent, j.chunk = chunk, bytes.Clone(chunk)
	j.stream.Submitted = append(j.stream.Submitted, j.chunk)
	j.numSlices = (len(chunk) + 1023) / 1024
	j.missing, j.atOnce = j.numSlices, 0
	j.heardAt, j.lastAt = now, now
	j.meter.Begin(now)
	return nil
}

// sent looks at a slice that is sent; right looks at what it is.
func (j *Emission) sent(now core.Micros, s codec.Slice, size int, deadline core.Micros, right func(codec.Slice) *Violation) *Violation {
	now = j.At(now)
	j.atOnce++
	switch {
	case j.chunk == nil:
		return Violates("CON-2", "sent slice %d of chunk %d with no chunk in flight", s.SliceID, s.ChunkID)
	case s.ChunkID != j.ID():
		return Violates("CID-2", "sent chunk %d, but %d is in flight", s.ChunkID, j.ID())
	}
	if v := right(s); v != nil {
		return v
	}
	switch {
	case now-j.heardAt >= j.giveUp:
		return Violates("SND-9", "sent a slice when it had to give up")
	case deadline > now:
		return Violates("SCH-3", "sent slice %d at %d, before its deadline at %d", s.SliceID, now, deadline)
	case j.pace.AtOnce > 0 && j.atOnce > j.pace.AtOnce:
		return Violates("BND-3", "sent %d slices at one time", j.atOnce)
	}
	j.lastAt = now
	return j.meter.Sent(now, size+28)
}

// heard: an ack with news, or a hold, is about to be handed to the machine.
func (j *Emission) heard(now core.Micros) { j.heardAt, j.lastAt = j.At(now), j.At(now) }

func (j *Emission) reportedAs(delivered bool) *Violation {
	switch {
	case !delivered && j.chunk != nil && j.missing == 0:
		return Violates("S10", "does not report chunk %d, of which all is acked", j.ID())
	case !delivered:
		return nil
	case j.chunk == nil || j.missing > 0:
		return Violates("SAFE-2", "reports chunk %d as delivered, of which %d slices are not acked", j.ID(), j.missing)
	case j.stream.Lawful() && j.stream.Receivers > 0 && j.stream.Complete < j.reported+1:
		return Violates("SAFE-2", "reports chunk %d as delivered, but the receiver has not all of it", j.ID())
	case !bytes.Equal(j.lent, j.chunk):
		return Violates("SND-18", "chunk %d is not what was submitted any more", j.ID())
	}
	j.chunk, j.lent = nil, nil
	j.reported++
	return nil
}

// GaveUp: the machine has failed.
func (j *Emission) GaveUp(now core.Micros) *Violation {
	now = j.At(now)
	if j.chunk == nil {
		return Violates("S15", "gave up without a chunk in flight")
	}
	if now-j.heardAt < j.giveUp {
		return Violates("SND-9", "gave up on chunk %d %d us after the peer's last sign, with %d to wait", j.ID(), now-j.heardAt, j.giveUp)
	}
	j.failed, j.chunk, j.lent = true, nil, nil
	return nil
}

// Polled: a poll has returned nothing more, and the machine has this deadline.
func (j *Emission) Polled(now, deadline core.Micros) *Violation {
	now = j.At(now)
	j.atOnce = 0
	switch {
	case j.chunk == nil && deadline != core.Never:
		return Violates("SND-16", "has no chunk in flight, but a deadline at %d", deadline)
	case j.chunk == nil:
		return nil
	case deadline > j.heardAt+j.giveUp:
		return Violates("SND-16", "its deadline is %d, but it must give up at %d", deadline, j.heardAt+j.giveUp)
	case deadline > max(j.lastAt+j.pace.Longest, now+1) && j.pace.Longest > 0:
		return Violates("SCH-2", "sends nothing before %d, though the latest slice or newly acked one was at %d", deadline, j.lastAt)
	}
	return j.ahead("SCH-3", deadline)
}

// Waited: time has passed; since is when the machine was last able to act.
func (j *Emission) Waited(now, since core.Micros) *Violation {
	if j.chunk == nil {
		return nil
	}
	if now > max(j.heardAt+j.giveUp, since)+j.slack {
		return Violates("LIVE-3", "waits in silence: nothing came of chunk %d since %d, and it did not give up", j.ID(), j.heardAt)
	}
	if j.pace.Longest > 0 && now > max(j.lastAt+j.pace.Longest, since)+j.slack {
		return Violates("SCH-2", "sent no slice of chunk %d since %d", j.ID(), j.lastAt)
	}
	return nil
}
