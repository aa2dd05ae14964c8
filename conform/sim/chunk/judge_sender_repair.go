package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// outgoingCount is what is known of repair slices: each id is sent once and in order until
// they are used up, with the bytes of the code.
type outgoingCount struct {
	*Emission
	number    int             // transmissions of the chunk in flight
	have, top int             // the largest that were acked
	counted   *eventlog.Event // what must be logged of the latest ack
}

func (j *outgoingCount) submitted() { j.number, j.have, j.top = 0, 0, 0 }

func (j *outgoingCount) right(s codec.Slice) *Violation {
	switch k := j.numSlices; {
	case s.NumSlices != k || s.LastBytes != len(j.chunk)-1024*(k-1):
		return Violates("LIM-2", "sent id %d of %d slices, the last of %d bytes, of a chunk of %d", s.SliceID, s.NumSlices, s.LastBytes, len(j.chunk))
	case s.SliceID != idOf(j.number, k):
		return Violates("RPN-2", "transmission %d of chunk %d has the id %d, not %d", j.number, s.ChunkID, s.SliceID, idOf(j.number, k))
	case !bytes.Equal(s.Data, repairoracle.Slice(j.chunk, int64(s.SliceID))):
		return Violates("RPC-4", "id %d of chunk %d has other bytes than the code", s.SliceID, s.ChunkID)
	}
	return nil
}

func (j *outgoingCount) sent(codec.Slice)         { j.number++ }
func (j *outgoingCount) extra(s codec.Slice) bool { return !s.Source() }

func (j *outgoingCount) acked(now core.Micros, a codec.Ack) (sign bool) {
	j.counted = nil
	if !repairAckIsValid(a) {
		return false
	}
	number, some := repairoracle.Field(int64(j.numSlices), int64(j.number), int64(a.Top))
	top := int(number)
	if !some || a.Have > top {
		return false
	}
	news := a.Have > j.have || top > j.top
	hold := j.have == 0 && j.top == 0 && a.Have == 0 && top == 0
	if news {
		j.have, j.top = max(j.have, a.Have), max(j.top, top)
		j.missing = j.numSlices - j.have
		j.counted = &eventlog.Event{Kind: eventlog.SlicesCounted, At: now, ChunkID: j.ID(), Have: j.have, Top: j.top}
	}
	return news || hold
}

func (j *outgoingCount) unlogged() *Violation {
	if j.counted == nil {
		return nil
	}
	return Violates("Log", "%d and %d were not logged", j.counted.Have, j.counted.Top)
}

func (j *outgoingCount) logged(e eventlog.Event) bool {
	switch e.Kind {
	case eventlog.SliceSent:
		return e.SliceID == idOf(j.number, j.numSlices) && (e.SliceID < j.numSlices || e.Why != eventlog.First)
	case eventlog.SlicesCounted:
		counted := j.counted
		j.counted = nil
		return counted != nil && e == *counted
	case eventlog.RTTSampled:
		return e.RTT >= 0 && j.top > 0 && e.SliceID == idOf(j.top-1, j.numSlices)
	}
	return true
}
