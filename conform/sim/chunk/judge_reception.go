package chunk

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// Reception is what the judge of a receiver knows of either kind of slices. It follows from what arrived and what was read, and from nothing else.
type Reception struct {
	end

	id         uint16      // of the current chunk
	form       form        // of it; zero while nothing of it is here
	progressAt core.Micros // when something new of it came
	previous   int         // slices of the chunk before; 0 while there is none

	ready  []byte // a complete chunk that waits to be read
	isFull bool   // there is one
	held   int    // slices of the chunk that was last held
	read   int    // chunks that were read
	mixed  int64  // of an unlawful stream: those that nobody submitted (CON-5)

	arrived int64          // slices that arrived
	acks    int64          // acks that were sent
	owed    [3]core.Micros // until when an ack must go out; core.Never if none is due
}

// form is what the first slice of a chunk fixes.
type form struct{ numSlices, lastBytes int } // lastBytes is 0 with named slices

// The three kinds of acks (section 8.2).
const (
	current = iota
	previous
	hold
)

func newReception(s *Stream, giveUp, slack core.Micros) Reception {
	s.Receivers++
	return Reception{
		end: end{stream: s, giveUp: GiveUpOf(giveUp), slack: slack}, id: s.FirstID,
		owed: [3]core.Micros{core.Never, core.Never, core.Never},
	}
}

// Full reports whether a complete chunk waits to be read.
func (j *Reception) Full() bool { return j.isFull }

// Mixed returns how many chunks were read that nobody had submitted, which only
// happens to a stream that is not lawful.
func (j *Reception) Mixed() int64 { return j.mixed }

// arrive takes a slice that is handed to the machine (section 8.4). If it is of the current
// chunk, and does not conflict, put takes it.
func (j *Reception) arrive(now core.Micros, valid bool, s codec.Slice, put func(s codec.Slice, begins bool) (added bool, whole []byte)) {
	of := form{s.NumSlices, s.LastBytes}
	now = j.At(now)
	j.arrived++
	switch {
	case j.failed || !valid:
	case s.ChunkID == j.id-1 && s.NumSlices == j.previous:
		j.owe(previous, now+ackWithin)
	case s.ChunkID != j.id: // foreign
	case j.isFull:
		j.held = s.NumSlices
		j.owe(hold, now+ackWithin)
	case j.form.numSlices > 0 && of != j.form && now-j.progressAt < j.giveUp/2: // conflicts
	default:
		j.keep(now, s, put)
	}
}

func (j *Reception) keep(now core.Micros, s codec.Slice, put func(codec.Slice, bool) (bool, []byte)) {
	of := form{s.NumSlices, s.LastBytes}
	begins := of != j.form
	if begins {
		j.form = of
		j.owed[hold] = core.Never
	}
	j.owe(current, now+ackWithin)
	added, whole := put(s, begins)
	if added {
		j.progressAt = now
	}
	if whole == nil {
		return
	}
	j.ready, j.isFull = whole, true
	j.previous, j.form = s.NumSlices, form{}
	j.id++
	j.stream.Complete++
	j.owed[current], j.owed[previous] = core.Never, now // at once (ACQ-3)
}

func (j *Reception) owe(kind int, by core.Micros) { j.owed[kind] = min(j.owed[kind], by) }

// said is what an ack says, whatever the kind of slices.
type said struct {
	valid   bool
	all     bool // that of a complete chunk
	nothing bool // that of which nothing is here
}

// sent looks at an ack that leaves the machine; right looks at one of the current chunk.
func (j *Reception) sent(now core.Micros, a codec.Ack, is said, right func(codec.Ack) *Violation) *Violation {
	j.At(now)
	if j.acks++; j.acks > j.arrived {
		return Violates("ACQ-2", "sent %d acks for %d slices", j.acks, j.arrived)
	}
	if !is.valid {
		return Violates("6.2", "sent an ack that is none: %+v", a)
	}
	kind := current
	switch {
	case a.ChunkID == j.id-1 && a.NumSlices == j.previous && is.all:
		kind = previous
	case a.ChunkID != j.id:
		return Violates("RCV-4", "acked chunk %d, of which the receiver has not all; the current one is %d", a.ChunkID, j.id)
	case j.form.numSlices == 0 && is.nothing && a.NumSlices == j.held:
		kind = hold
	case a.NumSlices != j.form.numSlices:
		return Violates("RCV-16", "acked chunk %d with %d slices, not %d", a.ChunkID, a.NumSlices, j.form.numSlices)
	default:
		if v := right(a); v != nil {
			return v
		}
	}
	if j.owed[kind] == core.Never {
		return Violates("RCV-16", "sent an ack of chunk %d that was not due", a.ChunkID)
	}
	j.owed[kind] = core.Never
	return nil
}

// Read: the application has asked for a chunk, and got one or none.
func (j *Reception) Read(now core.Micros, chunk []byte, got bool) *Violation {
	j.At(now)
	switch {
	case !got && j.isFull:
		return Violates("SAFE-5", "refused to deliver the complete chunk %d", j.id-1)
	case !got:
		return nil
	case !j.isFull:
		return Violates("SAFE-1", "delivered %d bytes while no chunk was complete", len(chunk))
	case !bytes.Equal(chunk, j.ready):
		return Violates("SAFE-1", "delivered other bytes than had arrived")
	}
	j.ready, j.isFull = nil, false
	j.read++
	return j.genuine(chunk)
}

// genuine compares a chunk that was delivered with what was submitted (SAFE-1).
func (j *Reception) genuine(chunk []byte) *Violation {
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
		return Violates("SAFE-1", "delivered %d chunks of %d", j.read, len(submitted))
	case !bytes.Equal(chunk, submitted[j.read-1]):
		return Violates("SAFE-1", "chunk number %d of the connection is not what was submitted", j.read-1)
	}
	return nil
}

// GaveUp: the machine has failed.
func (j *Reception) GaveUp(now core.Micros) *Violation {
	now = j.At(now)
	if j.form.numSlices == 0 {
		return Violates("R23", "gave up without a chunk that had begun")
	}
	if now-j.progressAt < j.giveUp {
		return Violates("RCV-9", "gave up on chunk %d %d us after its latest slice, with %d to wait", j.id, now-j.progressAt, j.giveUp)
	}
	j.failed, j.form = true, form{}
	j.owed = [3]core.Micros{core.Never, core.Never, core.Never}
	return nil
}

// Deadline: after an event the machine has this deadline (RCV-17, LIVE-1).
func (j *Reception) Deadline(deadline core.Micros) *Violation {
	by := min(j.owed[current], j.owed[previous], j.owed[hold])
	switch {
	case deadline > by:
		return Violates("LIVE-1", "has a deadline at %d, but an ack is due at %d", deadline, by)
	case j.form.numSlices > 0 && deadline > j.progressAt+j.giveUp:
		return Violates("RCV-17", "has a deadline at %d, but must give up at %d", deadline, j.progressAt+j.giveUp)
	case j.form.numSlices == 0 && by == core.Never && deadline != core.Never:
		return Violates("RCV-17", "has a deadline at %d, but nothing is due", deadline)
	}
	return nil
}

// Polled: a poll has returned nothing more, and the machine has this deadline.
func (j *Reception) Polled(now, deadline core.Micros) *Violation {
	j.At(now)
	if v := j.Deadline(deadline); v != nil {
		return v
	}
	return j.ahead("RCV-1", deadline)
}

// Waited: time has passed; since is when the machine was last able to act.
func (j *Reception) Waited(now, since core.Micros) *Violation {
	for _, by := range j.owed {
		if by != core.Never && now > max(by, since)+j.slack {
			return Violates("LIVE-1", "did not send an ack that was due at %d", by)
		}
	}
	if j.form.numSlices > 0 && now > max(j.progressAt+j.giveUp, since)+j.slack {
		return Violates("LIVE-3", "waits in silence: nothing came of chunk %d since %d, and it did not give up", j.id, j.progressAt)
	}
	return nil
}
