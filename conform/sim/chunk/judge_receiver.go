package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// ReceiverJudge watches one receiver from outside: SAFE-1, SAFE-4, SAFE-5, LIVE-1,
// LIVE-3, ACQ-1 to ACQ-3, BND-1 and BND-2.
type ReceiverJudge struct {
	Reception
	have   [256][]byte // what arrived of the current chunk
	places [256]bool   // where slices were ever kept
}

// NewReceiverJudge returns the judge of a new receiver of a stream. slack is how
// late the receiver's driver may be.
func NewReceiverJudge(s *Stream, giveUp, slack core.Micros) *ReceiverJudge {
	return &ReceiverJudge{Reception: NewReception(s, giveUp, slack)}
}

// Arrived: a slice is handed to the machine (section 8.4).
func (j *ReceiverJudge) Arrived(now core.Micros, s codec.Slice) {
	j.Reception.Arrived(now, sliceIsValid(s), s.ChunkID, Form{NumSlices: s.NumSlices}, func(begins bool) (added bool, whole []byte) {
		if begins {
			j.have = [256][]byte{}
		}
		if j.have[s.SliceID] != nil {
			return false, nil
		}
		j.have[s.SliceID] = bytes.Clone(s.Data)
		j.places[s.SliceID] = true
		for _, data := range j.have[:s.NumSlices] {
			if data == nil {
				return true, nil
			}
		}
		return true, bytes.Join(j.have[:s.NumSlices], nil)
	})
}

// Sent: an ack leaves the machine. It says what the receiver has, neither more nor
// less.
func (j *ReceiverJudge) Sent(now core.Micros, a codec.Ack) *Violation {
	said := Said{Valid: ackIsValid(a), ChunkID: a.ChunkID, NumSlices: a.NumSlices, All: a.Acked.Count() == a.NumSlices, Nothing: a.Acked.Empty()}
	return j.Reception.Sent(now, said, func() *Violation {
		for k := range a.NumSlices {
			if a.Acked.Has(k) != (j.have[k] != nil) {
				return Violates("ACK-2", "says of slice %d of chunk %d that it has arrived: %v", k, a.ChunkID, a.Acked.Has(k))
			}
		}
		return nil
	})
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
		return Violates("BND-1", "keeps %d bytes, though slices of %d arrived", bytes, kept)
	}
	return nil
}
