package repair

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/repair/code"
	"github.com/chunkwire/chunkwire/core"
)

// ReceiverJudge watches one receiver from outside: nothing is delivered but what the
// slices that arrived determine; an ack says exactly how many dimensions are here, and
// the largest number that arrived, so neither falls; and what the judges of the chunk
// protocol say of acks and times.
type ReceiverJudge struct {
	chunk.Reception
	held     map[int]bool // ids that are here of the current chunk
	span     *code.Span   // of them
	top      int          // of the current chunk
	previous int          // that of the chunk before
	mostHeld int          // slices that were ever kept at a time
}

// NewReceiverJudge returns the judge of a new receiver of a stream. slack is how late
// the receiver's driver may be.
func NewReceiverJudge(s *chunk.Stream, giveUp, slack core.Micros) *ReceiverJudge {
	return &ReceiverJudge{Reception: chunk.NewReception(s, giveUp, slack)}
}

// Arrived: a slice is handed to the machine.
func (j *ReceiverJudge) Arrived(now core.Micros, s codec.Slice) {
	form := chunk.Form{NumSlices: s.NumSlices, LastBytes: s.LastBytes}
	j.Reception.Arrived(now, sliceIsValid(s), s.ChunkID, form, func(begins bool) (added bool, whole []byte) {
		if begins {
			j.held, j.span, j.top = map[int]bool{}, code.NewSpan(s.NumSlices), 0
		}
		j.top = max(j.top, code.Number(s.SliceID, s.NumSlices, j.top)+1)
		if j.held[s.SliceID] || !j.span.Add(code.Row(s.SliceID, s.NumSlices), code.Filled(s.Data)) {
			return false, nil
		}
		j.held[s.SliceID] = true
		j.mostHeld = max(j.mostHeld, len(j.held))
		if j.span.Rank() < s.NumSlices {
			return true, nil
		}
		j.previous = j.top
		return true, j.span.Solve()[:1024*(s.NumSlices-1)+s.LastBytes]
	})
}

// Sent: an ack leaves the machine. It says what the receiver has, neither more nor
// less.
func (j *ReceiverJudge) Sent(now core.Micros, a codec.Ack) *violation {
	said := chunk.Said{
		Valid: ackIsValid(a), ChunkID: a.ChunkID, NumSlices: a.NumSlices,
		All: a.Have == a.NumSlices && a.Top == code.ID(j.previous, a.NumSlices), Nothing: a.Have == 0 && a.Top == 0,
	}
	return j.Reception.Sent(now, said, func() *violation {
		if a.Have != j.span.Rank() || a.Top != code.ID(j.top, a.NumSlices) {
			return chunk.Violates("ACK-2", "says of chunk %d that %d dimensions arrived, below %d: they are %d and %d", a.ChunkID, a.Have, a.Top, j.span.Rank(), j.top)
		}
		return nil
	})
}

// Keeps: the receiver takes so many bytes of memory (RPV-BND-1, RCV-18): for each slice that
// was ever held at a time itself, a row of 256 bytes and what is rebuilt in its place, and
// some blocks of scratch and tables.
func (j *ReceiverJudge) Keeps(bytes int64) *violation {
	const scratch, tables = 28 * 1024, 20 * 1024
	if most := int64(j.mostHeld)*(1024+256+1024) + scratch + tables; bytes > most {
		return chunk.Violates("BND-1", "keeps %d bytes, though %d slices were held at most", bytes, j.mostHeld)
	}
	return nil
}
