package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// incomingRank is what is known of repair slices: nothing is delivered but what the slices
// that arrived determine, and an ack says exactly how many dimensions are here, and the
// largest number that arrived, so neither falls.
type incomingRank struct {
	held     map[int]bool          // ids that are here of the current chunk
	span     *repairoracle.Decoder // of them
	top      int                   // of the current chunk
	previous int                   // that of the chunk before
	mostHeld int                   // slices that were ever kept at a time
}

func (*incomingRank) valid(s codec.Slice) bool { return repairSliceIsValid(s) }

func (j *incomingRank) put(s codec.Slice, begins bool) (added bool, whole []byte) {
	if begins {
		j.held, j.span, j.top = map[int]bool{}, repairoracle.NewDecoder(int64(s.NumSlices), int64(s.LastBytes)), 0
	}
	j.top = max(j.top, int(repairoracle.Arrived(int64(s.NumSlices), int64(j.top), int64(s.SliceID)))+1)
	if j.held[s.SliceID] || !j.span.Add(int64(s.SliceID), bytes.Clone(s.Data)) {
		return false, nil
	}
	j.held[s.SliceID] = true
	j.mostHeld = max(j.mostHeld, len(j.held))
	if int(j.span.Rank()) < s.NumSlices {
		return true, nil
	}
	j.previous = j.top
	whole, _ = j.span.Rebuild()
	return true, whole
}

func (j *incomingRank) said(a codec.Ack) said {
	return said{
		valid: repairAckIsValid(a), nothing: a.Have == 0 && a.Top == 0,
		all: repairAckIsValid(a) && a.Have == a.NumSlices && a.Top == idOf(j.previous, a.NumSlices),
	}
}

func (j *incomingRank) right(a codec.Ack) *Violation {
	if a.Have != int(j.span.Rank()) || a.Top != idOf(j.top, a.NumSlices) {
		return Violates("ACK-2", "says of chunk %d that %d dimensions arrived, below %d: they are %d and %d", a.ChunkID, a.Have, a.Top, j.span.Rank(), j.top)
	}
	return nil
}

// idOf is the id of a transmission.
func idOf(n, numSlices int) int { return int(repairoracle.ID(int64(numSlices), int64(n))) }

// most: for each slice that was ever held at a time itself, a row of 256 bytes and what is
// rebuilt in its place, and some blocks of scratch and tables.
func (j *incomingRank) most() int64 {
	const scratch, tables = 28 * 1024, 20 * 1024
	return int64(j.mostHeld)*(1024+256+1024) + scratch + tables
}
