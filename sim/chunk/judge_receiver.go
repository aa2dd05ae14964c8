package chunk

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
)

// ReceiverJudge watches one receiver from outside: SAFE-1, SAFE-4, SAFE-5, LIVE-1,
// LIVE-3, ACQ-1 to ACQ-3, BND-1 and BND-2. What it knows of the receiver's state
// follows from what arrived and what was read, and from nothing else.
type ReceiverJudge struct {
	end

	id         uint16      // of the current chunk
	slices     int         // of it; 0 while nothing of it is here
	have       [256][]byte // what arrived of it
	count      int
	progressAt machine.Micros
	previous   int // slices of the chunk before; 0 while there is none

	ready  []byte // a complete chunk that waits to be read
	isFull bool   // there is one
	held   int    // slices of the chunk that was last held
	read   int    // chunks that were read
	mixed  int64  // of an unlawful stream: those that nobody submitted (CON-5)

	arrived int64             // slices that arrived
	acks    int64             // acks that were sent
	owed    [3]machine.Micros // until when an ack must go out; machine.Never if none is due
	places  [256]bool         // where slices were ever kept
}

// The three kinds of acks (section 8.2).
const (
	current = iota
	previous
	hold
)

// NewReceiverJudge returns the judge of a new receiver of a stream. slack is how
// late the receiver's driver may be.
func NewReceiverJudge(s *Stream, giveUp, slack machine.Micros) *ReceiverJudge {
	s.Receivers++
	return &ReceiverJudge{
		end: end{stream: s, giveUp: giveUpOf(giveUp), slack: slack}, id: s.FirstID,
		owed: [3]machine.Micros{machine.Never, machine.Never, machine.Never},
	}
}

// Full reports whether a complete chunk waits to be read.
func (j *ReceiverJudge) Full() bool { return j.isFull }

// Mixed returns how many chunks were read that nobody had submitted, which only
// happens to a stream that is not lawful.
func (j *ReceiverJudge) Mixed() int64 { return j.mixed }

// Arrived: a slice is handed to the machine (section 8.4).
func (j *ReceiverJudge) Arrived(now machine.Micros, s codec.Slice) {
	now = j.at(now)
	j.arrived++
	switch {
	case j.failed || !sliceIsValid(s):
	case s.ChunkID == j.id-1 && s.NumSlices == j.previous:
		j.owe(previous, now+ackWithin)
	case s.ChunkID != j.id: // foreign
	case j.isFull:
		j.held = s.NumSlices
		j.owe(hold, now+ackWithin)
	case j.slices > 0 && s.NumSlices != j.slices && now-j.progressAt < j.giveUp/2: // conflicts
	case j.slices == s.NumSlices && j.have[s.SliceID] != nil:
		j.owe(current, now+ackWithin)
	default:
		if j.slices != s.NumSlices {
			j.begin(s.NumSlices)
		}
		j.keep(now, s)
	}
}

func (j *ReceiverJudge) begin(slices int) {
	j.slices, j.have, j.count = slices, [256][]byte{}, 0
	j.owed[hold] = machine.Never
}

func (j *ReceiverJudge) keep(now machine.Micros, s codec.Slice) {
	j.have[s.SliceID] = bytes.Clone(s.Data)
	j.places[s.SliceID] = true
	j.count++
	j.progressAt = now
	j.owe(current, now+ackWithin)
	if j.count < j.slices {
		return
	}
	j.ready, j.isFull = bytes.Join(j.have[:j.slices], nil), true
	j.previous, j.slices, j.count, j.have = j.slices, 0, 0, [256][]byte{}
	j.id++
	j.stream.Complete++
	j.owed[current], j.owed[previous] = machine.Never, now // at once (ACQ-3)
}

func (j *ReceiverJudge) owe(kind int, by machine.Micros) { j.owed[kind] = min(j.owed[kind], by) }

// Sent: an ack leaves the machine. It says what the receiver has, neither more nor
// less.
func (j *ReceiverJudge) Sent(now machine.Micros, a codec.Ack) *Violation {
	j.at(now)
	if j.acks++; j.acks > j.arrived {
		return violates("ACQ-2", "sent %d acks for %d slices", j.acks, j.arrived)
	}
	if !ackIsValid(a) {
		return violates("6.2", "sent an ack that is none: %+v", a)
	}
	bits, kind := a.Acked.Count(), current
	switch {
	case a.ChunkID == j.id-1 && a.NumSlices == j.previous && bits == a.NumSlices:
		kind = previous
	case a.ChunkID != j.id:
		return violates("RCV-4", "acked chunk %d, of which the receiver has not all; the current one is %d", a.ChunkID, j.id)
	case j.slices == 0 && bits == 0 && a.NumSlices == j.held:
		kind = hold
	case a.NumSlices != j.slices:
		return violates("RCV-16", "acked chunk %d with %d slices, not %d", a.ChunkID, a.NumSlices, j.slices)
	default:
		for k := range a.NumSlices {
			if a.Acked.Has(k) != (j.have[k] != nil) {
				return violates("ACK-2", "says of slice %d of chunk %d that it has arrived: %v", k, a.ChunkID, a.Acked.Has(k))
			}
		}
	}
	if j.owed[kind] == machine.Never {
		return violates("RCV-16", "sent an ack of chunk %d that was not due", a.ChunkID)
	}
	j.owed[kind] = machine.Never
	return nil
}

// Read: the application has asked for a chunk, and got one or none.
func (j *ReceiverJudge) Read(now machine.Micros, chunk []byte, got bool) *Violation {
	j.at(now)
	switch {
	case !got && j.isFull:
		return violates("SAFE-5", "refused to deliver the complete chunk %d", j.id-1)
	case !got:
		return nil
	case !j.isFull:
		return violates("SAFE-1", "delivered %d bytes while no chunk was complete", len(chunk))
	case !bytes.Equal(chunk, j.ready):
		return violates("SAFE-1", "delivered other bytes than had arrived")
	}
	j.ready, j.isFull = nil, false
	j.read++
	return j.genuine(chunk)
}

// genuine compares a chunk that was delivered with what was submitted (SAFE-1).
func (j *ReceiverJudge) genuine(chunk []byte) *Violation {
	submitted := j.stream.Submitted
	if j.stream.Senders == 0 {
		return nil // nobody knows what was submitted
	}
	if !j.stream.Lawful() {
		if !slices.ContainsFunc(submitted, func(c []byte) bool { return bytes.Equal(c, chunk) }) {
			j.mixed++
		}
		return nil
	}
	switch {
	case j.read > len(submitted):
		return violates("SAFE-1", "delivered %d chunks of %d", j.read, len(submitted))
	case !bytes.Equal(chunk, submitted[j.read-1]):
		return violates("SAFE-1", "chunk number %d of the connection is not what was submitted", j.read-1)
	}
	return nil
}

// GaveUp: the machine has failed.
func (j *ReceiverJudge) GaveUp(now machine.Micros) *Violation {
	now = j.at(now)
	if j.slices == 0 {
		return violates("R23", "gave up without a chunk that had begun")
	}
	if now-j.progressAt < j.giveUp {
		return violates("RCV-9", "gave up on chunk %d %d us after its latest slice, with %d to wait", j.id, now-j.progressAt, j.giveUp)
	}
	j.failed, j.slices = true, 0
	j.owed = [3]machine.Micros{machine.Never, machine.Never, machine.Never}
	return nil
}

// Deadline: after an event the machine has this deadline (RCV-17, LIVE-1).
func (j *ReceiverJudge) Deadline(deadline machine.Micros) *Violation {
	by := min(j.owed[current], j.owed[previous], j.owed[hold])
	switch {
	case deadline > by:
		return violates("LIVE-1", "has a deadline at %d, but an ack is due at %d", deadline, by)
	case j.slices > 0 && deadline > j.progressAt+j.giveUp:
		return violates("RCV-17", "has a deadline at %d, but must give up at %d", deadline, j.progressAt+j.giveUp)
	case j.slices == 0 && by == machine.Never && deadline != machine.Never:
		return violates("RCV-17", "has a deadline at %d, but nothing is due", deadline)
	}
	return nil
}

// Polled: a poll has returned nothing more, and the machine has this deadline.
func (j *ReceiverJudge) Polled(now, deadline machine.Micros) *Violation {
	j.at(now)
	if v := j.Deadline(deadline); v != nil {
		return v
	}
	return j.ahead("RCV-1", deadline)
}

// Waited: time has passed; since is when the machine was last able to act.
func (j *ReceiverJudge) Waited(now, since machine.Micros) *Violation {
	for _, by := range j.owed {
		if by != machine.Never && now > max(by, since)+j.slack {
			return violates("LIVE-1", "did not send an ack that was due at %d", by)
		}
	}
	if j.slices > 0 && now > max(j.progressAt+j.giveUp, since)+j.slack {
		return violates("LIVE-3", "waits in silence: nothing came of chunk %d since %d, and it did not give up", j.id, j.progressAt)
	}
	return nil
}

// Keeps: the receiver takes so many bytes of memory (BND-1, RCV-18).
func (j *ReceiverJudge) Keeps(bytes int64) *Violation {
	kept := int64(0)
	for _, ever := range j.places {
		if ever {
			kept += 1024
		}
	}
	if bytes > kept+receiverBytes {
		return violates("BND-1", "keeps %d bytes, though slices of %d arrived", bytes, kept)
	}
	return nil
}
