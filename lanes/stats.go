package lanes

import "github.com/chunkwire/chunkwire/statemachine"

// Stats is what the lanes did so far, and what they are doing. With several lanes, counts are
// those of all, and times are the longest, but MinRTT.
type Stats struct {
	Sender   statemachine.SenderStats
	Receiver statemachine.ReceiverStats

	Sending   statemachine.SenderVars   // of several lanes, the chunk in flight that was sent first
	Receiving statemachine.ReceiverVars // of several lanes, the chunk that is delivered next
	Queued    int                       // chunks that wait behind those in flight
	Complete  int                       // chunks that are complete and were not read
}

// Stats returns the counts so far.
func (l *Lanes) Stats() Stats {
	st := Stats{Sending: l.sending(), Receiving: l.lanes[l.nextIn].receiver.Vars(), Queued: len(l.queue)}
	for i := range l.lanes {
		st.Sender.Add(l.lanes[i].sender.Stats())
		st.Receiver.Add(l.lanes[i].receiver.Stats())
		if l.lanes[i].ready() {
			st.Complete++
		}
	}
	return st
}

// sending returns the variables of the earliest chunk in flight, or of the next one.
func (l *Lanes) sending() statemachine.SenderVars {
	for i := range l.lanes {
		if lane := &l.lanes[l.bySubmission(i)]; !lane.idle() {
			return lane.sender.Vars()
		}
	}
	return l.lanes[l.nextOut].sender.Vars()
}
