package chunk

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// ReceiverJudge watches one receiver from outside: SAFE-1, SAFE-4, SAFE-5, LIVE-1,
// LIVE-3, ACQ-1 to ACQ-3, BND-1 and BND-2.
type ReceiverJudge struct {
	Reception
	in incoming
}

// incoming is what is known of the slices of the chunk that arrives, by their kind.
type incoming interface {
	valid(s codec.Slice) bool
	// put takes a slice of the current chunk, after it has forgotten all that was here if
	// the slice begins the chunk. It returns whether the slice brings something new, and the
	// chunk once it is whole.
	put(s codec.Slice, begins bool) (added bool, whole []byte)
	// said returns what an ack says.
	said(a codec.Ack) said
	// right looks at an ack of the current chunk.
	right(a codec.Ack) *Violation
	// most returns how many bytes a receiver may keep (BND-1, RPV-BND-1, RCV-18).
	most() int64
}

// NewReceiverJudge returns the judge of a new receiver of a stream. slack is how
// late the receiver's driver may be.
func NewReceiverJudge(kind codec.Kind, s *Stream, giveUp, slack core.Micros) *ReceiverJudge {
	j := &ReceiverJudge{Reception: newReception(s, giveUp, slack), in: &incomingSet{}}
	if kind == codec.Repair {
		j.in = &incomingRank{}
	}
	return j
}

// Arrived: a slice is handed to the machine (section 8.4).
func (j *ReceiverJudge) Arrived(now core.Micros, s codec.Slice) {
	j.Reception.arrive(now, j.in.valid(s), s, j.in.put)
}

// Sent: an ack leaves the machine. It says what the receiver has, neither more nor
// less.
func (j *ReceiverJudge) Sent(now core.Micros, a codec.Ack) *Violation {
	return j.Reception.sent(now, a, j.in.said(a), j.in.right)
}

// Keeps: the receiver takes so many bytes of memory.
func (j *ReceiverJudge) Keeps(bytes int64) *Violation {
	if most := j.in.most(); bytes > most {
		return Violates("BND-1", "keeps %d bytes, though it may keep %d", bytes, most)
	}
	return nil
}
