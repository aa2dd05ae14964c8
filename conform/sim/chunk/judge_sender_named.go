package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// outgoingSet is what is known of named slices.
type outgoingSet struct {
	*Emission
	isSent, isAcked [256]bool
	awaited         core.Set // slices of the latest ack that must be logged as acked
}

func (j *outgoingSet) submitted() { j.isSent, j.isAcked = [256]bool{}, [256]bool{} }

func (j *outgoingSet) right(s codec.Slice) *Violation {
	switch k := s.SliceID; {
	case s.NumSlices != j.numSlices || k < 0 || k >= j.numSlices:
		return Violates("LIM-2", "sent slice %d of %d of a chunk of %d bytes", k, s.NumSlices, len(j.chunk))
	case j.isAcked[k]:
		return Violates("SCH-1", "sent slice %d of chunk %d again, though it was acked", k, s.ChunkID)
	case !bytes.Equal(s.Data, j.chunk[1024*k:min(1024*k+1024, len(j.chunk))]):
		return Violates("SLC-4", "slice %d of chunk %d has other bytes than were submitted", k, s.ChunkID)
	}
	return nil
}

func (j *outgoingSet) sent(s codec.Slice)       { j.isSent[s.SliceID] = true }
func (j *outgoingSet) extra(s codec.Slice) bool { return j.isSent[s.SliceID] }

func (j *outgoingSet) acked(now core.Micros, a codec.Ack) (sign bool) {
	j.awaited = core.Set{}
	if !ackIsValid(a) {
		return false
	}
	hold := j.missing == j.numSlices && a.Acked.Empty()
	for k := range j.numSlices {
		if a.Acked.Has(k) && j.isSent[k] && !j.isAcked[k] {
			j.isAcked[k] = true
			j.missing--
			j.awaited.Add(k)
			j.meter.Acked(now, j.cost(k))
		}
	}
	return hold || !j.awaited.Empty()
}

func (j *outgoingSet) unlogged() *Violation {
	if j.awaited.Empty() {
		return nil
	}
	return Violates("Log", "%d newly acked slices were not logged", j.awaited.Count())
}

func (j *outgoingSet) logged(e eventlog.Event) bool {
	inRange := e.SliceID >= 0 && e.SliceID < j.numSlices
	known := inRange && j.isSent[e.SliceID]
	switch e.Kind {
	case eventlog.SliceSent:
		return e.RTT == 0 && inRange && !j.isAcked[e.SliceID] && known == (e.Times > 1) && known == (e.Why != eventlog.First)
	case eventlog.SliceAcked:
		awaited := j.awaited.Has(e.SliceID)
		j.awaited.Remove(e.SliceID)
		return e.RTT == 0 && awaited
	case eventlog.RTTSampled:
		return e.RTT >= 0 && known
	case eventlog.SliceSpurious, eventlog.SliceLost:
		return e.RTT == 0 && known
	}
	return false
}

// cost returns what slice k costs, headers included (BUD-2).
func (j *outgoingSet) cost(k int) int {
	if k == j.numSlices-1 {
		return 14 + len(j.chunk) - 1024*k + 28
	}
	return 1037 + 28
}
