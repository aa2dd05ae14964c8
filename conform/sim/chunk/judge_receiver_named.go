package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
)

// incomingSet is what is known of named slices.
type incomingSet struct {
	have   [256][]byte // what arrived of the current chunk
	places [256]bool   // where slices were ever kept
}

func (*incomingSet) valid(s codec.Slice) bool { return sliceIsValid(s) }

func (j *incomingSet) put(s codec.Slice, begins bool) (added bool, whole []byte) {
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
}

func (*incomingSet) said(a codec.Ack) said {
	return said{valid: ackIsValid(a), all: a.Acked.Count() == a.NumSlices, nothing: a.Acked.Empty()}
}

func (j *incomingSet) right(a codec.Ack) *Violation {
	for k := range a.NumSlices {
		if a.Acked.Has(k) != (j.have[k] != nil) {
			return Violates("ACK-2", "says of slice %d of chunk %d that it has arrived: %v", k, a.ChunkID, a.Acked.Has(k))
		}
	}
	return nil
}

// most: a slice for each place that had one, pointers, and some hundred bytes of state.
func (j *incomingSet) most() int64 {
	kept := int64(2048 + 2048)
	for _, ever := range j.places {
		if ever {
			kept += 1024
		}
	}
	return kept
}
