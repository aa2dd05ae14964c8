package chunk

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// Reception is what the judges of receivers know in the chunk protocol and in its
// variant. It follows from what arrived and what was read, and from nothing else.
type Reception struct {
	end

	id         uint16      // of the current chunk
	form       Form        // of it; zero while nothing of it is here
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

// Form is what the first slice of a chunk fixes.
type Form struct{ NumSlices, LastBytes int } // LastBytes is 0 where slices do not say it

// The three kinds of acks (section 8.2).
const (
	current = iota
	previous
	hold
)

// NewReception returns what is known of a new receiver of a stream. slack is how late
// the receiver's driver may be.
func NewReception(s *Stream, giveUp, slack core.Micros) Reception {
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

// Arrived: a slice is handed to the machine (section 8.4). If it is of the current
// chunk, and does not conflict, put takes it, after it has forgotten all that was here
// if the slice begins the chunk; it returns whether the slice brings something new,
// and the chunk once it is whole.
func (j *Reception) Arrived(now core.Micros, valid bool, chunkID uint16, form Form, put func(begins bool) (added bool, whole []byte)) {
	now = j.At(now)
	j.arrived++
	switch {
	case j.failed || !valid:
	case chunkID == j.id-1 && form.NumSlices == j.previous:
		j.owe(previous, now+ackWithin)
	case chunkID != j.id: // foreign
	case j.isFull:
		j.held = form.NumSlices
		j.owe(hold, now+ackWithin)
	case j.form.NumSlices > 0 && form != j.form && now-j.progressAt < j.giveUp/2: // conflicts
	default:
		j.keep(now, form, put)
	}
}

func (j *Reception) keep(now core.Micros, form Form, put func(bool) (bool, []byte)) {
	begins := form != j.form
	if begins {
		j.form = form
		j.owed[hold] = core.Never
	}
	j.owe(current, now+ackWithin)
	added, whole := put(begins)
	if added {
		j.progressAt = now
	}
	if whole == nil {
		return
	}
	j.ready, j.isFull = whole, true
	j.previous, j.form = form.NumSlices, Form{}
	j.id++
	j.stream.Complete++
	j.owed[current], j.owed[previous] = core.Never, now // at once (ACQ-3)
}

func (j *Reception) owe(kind int, by core.Micros) { j.owed[kind] = min(j.owed[kind], by) }

// Said is an ack as judges of both variants see it.
type Said struct {
	Valid     bool
	ChunkID   uint16
	NumSlices int
	All       bool // that of a complete chunk
	Nothing   bool // that of which nothing is here
}

// Sent: an ack leaves the machine. It says what the receiver has, neither more nor
// less: right looks at one of the current chunk.
func (j *Reception) Sent(now core.Micros, a Said, right func() *Violation) *Violation {
	j.At(now)
	if j.acks++; j.acks > j.arrived {
		return Violates("ACQ-2", "sent %d acks for %d slices", j.acks, j.arrived)
	}
	if !a.Valid {
		return Violates("6.2", "sent an ack that is none: %+v", a)
	}
	kind := current
	switch {
	case a.ChunkID == j.id-1 && a.NumSlices == j.previous && a.All:
		kind = previous
	case a.ChunkID != j.id:
		return Violates("RCV-4", "acked chunk %d, of which the receiver has not all; the current one is %d", a.ChunkID, j.id)
	case j.form.NumSlices == 0 && a.Nothing && a.NumSlices == j.held:
		kind = hold
	case a.NumSlices != j.form.NumSlices:
		return Violates("RCV-16", "acked chunk %d with %d slices, not %d", a.ChunkID, a.NumSlices, j.form.NumSlices)
	default:
		if v := right(); v != nil {
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
	if j.form.NumSlices == 0 {
		return Violates("R23", "gave up without a chunk that had begun")
	}
	if now-j.progressAt < j.giveUp {
		return Violates("RCV-9", "gave up on chunk %d %d us after its latest slice, with %d to wait", j.id, now-j.progressAt, j.giveUp)
	}
	j.failed, j.form = true, Form{}
	j.owed = [3]core.Micros{core.Never, core.Never, core.Never}
	return nil
}

// Deadline: after an event the machine has this deadline (RCV-17, LIVE-1).
func (j *Reception) Deadline(deadline core.Micros) *Violation {
	by := min(j.owed[current], j.owed[previous], j.owed[hold])
	switch {
	case deadline > by:
		return Violates("LIVE-1", "has a deadline at %d, but an ack is due at %d", deadline, by)
	case j.form.NumSlices > 0 && deadline > j.progressAt+j.giveUp:
		return Violates("RCV-17", "has a deadline at %d, but must give up at %d", deadline, j.progressAt+j.giveUp)
	case j.form.NumSlices == 0 && by == core.Never && deadline != core.Never:
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
	if j.form.NumSlices > 0 && now > max(j.progressAt+j.giveUp, since)+j.slack {
		return Violates("LIVE-3", "waits in silence: nothing came of chunk %d since %d, and it did not give up", j.id, j.progressAt)
	}
	return nil
}
