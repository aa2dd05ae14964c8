package lanes

import (
	"github.com/chunkwire/chunkwire/statemachine"
)

// Stats is what the lanes did so far, and what they are doing. With several lanes, counts are
// of all, and times are the longest, except MinRTT.
type Stats struct {
	Sender   statemachine.SenderStats
	Receiver statemachine.ReceiverStats

	Sending   Progress // of several lanes, the chunk in flight that was sent first
	Receiving Progress // of several lanes, the chunk that is delivered next
	Queued    int      // chunks that wait behind those in flight
	Complete  int      // chunks that are complete and were not read
	Deferred  int64    // slices that were left out, beyond Config.Rebuilds
}

// Progress is how far a chunk is.
type Progress struct {
	ChunkID   uint16 // of the chunk, or of the next one: the lane's
	NumSlices int    // 0 while there is none in flight, or none arrives
	Sent      int    // of the chunk in flight: slices sent at least once; with repair, sent
	Have      int    // slices that the receiver has, as far as this end knows; with repair, independent ones
	Top       int    // with repair, the number of the highest transmission that arrived, and one
}

// progressOut returns how far the chunk in flight is, or the next one.
func (l *lane) progressOut() Progress {
	if l.sender == nil {
		return Progress{}
	}
	v := l.sender.Vars()
	return Progress{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Sent: v.Transmissions, Have: v.Have, Top: v.Top}
}

// progressIn returns how far the chunk is that arrives, or the next one.
func (l *lane) progressIn() Progress {
	if l.receiver == nil {
		return Progress{}
	}
	v := l.receiver.Vars()
	return Progress{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Have: v.Have, Top: v.Top}
}

// Stats returns the counts so far.
func (l *Lanes) Stats() Stats {
	st := Stats{Sending: l.sending(), Receiving: l.lanes[l.nextIn].progressIn(), Queued: len(l.queue), Deferred: l.deferred}
	for s := range l.senders() {
		st.Sender.Add(s.Stats())
	}
	for i := range l.lanes {
		if l.lanes[i].ready() {
			st.Complete++
		}
		if r := l.lanes[i].receiver; r != nil {
			st.Receiver.Add(r.Counts())
		}
	}
	return st
}

// sending returns how far the earliest chunk in flight is, or the next one.
func (l *Lanes) sending() Progress {
	for i := range l.lanes {
		if lane := &l.lanes[l.bySubmission(i)]; !lane.idle() {
			return lane.progressOut()
		}
	}
	return Progress{ChunkID: l.lanes[l.nextOut].progressOut().ChunkID}
}
