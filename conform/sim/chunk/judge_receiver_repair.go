package chunk

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/code"
)

// incomingRank is what is known of repair slices: nothing is delivered but what the slices
// that arrived determine, and an ack says exactly how many dimensions are here, and the
// largest number that arrived, so neither falls.
type incomingRank struct {
	held     map[int]bool // ids that are here of the current chunk
	span     *code.Span   // of them
	top      int          // of the current chunk
	previous int          // that of the chunk before
	mostHeld int          // slices that were ever kept at a time
}

func (*incomingRank) valid(s codec.Slice) bool { return repairSliceIsValid(s) }

func (j *incomingRank) put(s codec.Slice, begins bool) (added bool, whole []byte) {
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
}

func (j *incomingRank) said(a codec.Ack) said {
	return said{
		valid: repairAckIsValid(a), nothing: a.Have == 0 && a.Top == 0,
		all: repairAckIsValid(a) && a.Have == a.NumSlices && a.Top == code.ID(j.previous, a.NumSlices),
	}
}

func (j *incomingRank) right(a codec.Ack) *Violation {
	if a.Have != j.span.Rank() || a.Top != code.ID(j.top, a.NumSlices) {
		return Violates("ACK-2", "says of chunk %d that %d dimensions arrived, below %d: they are %d and %d", a.ChunkID, a.Have, a.Top, j.span.Rank(), j.top)
	}
	return nil
}

// most: for each slice that was ever held at a time itself, a row of 256 bytes and what is
// rebuilt in its place, and some blocks of scratch and tables.
func (j *incomingRank) most() int64 {
	const scratch, tables = 28 * 1024, 20 * 1024
	return int64(j.mostHeld)*(1024+256+1024) + scratch + tables
}
