package transport

import "github.com/chunkwire/chunkwire/statemachine"

// sending returns the earliest chunk in flight.
func (c *Conn) sending() Sending {
	for _, l := range c.bySubmission() {
		if s := l.sender; s.NumSlices() > 0 {
			return Sending{s.ChunkID(), s.NumSlices(), s.Sent(), s.Acked()}
		}
	}
	return Sending{ChunkID: c.lanes[c.nextOut].sender.ChunkID()}
}

// receiving returns the chunk that is to be delivered next.
func (c *Conn) receiving() Receiving {
	r := c.turn()
	if r.NumSlices() == 0 {
		return Receiving{ChunkID: r.ChunkID()}
	}
	return Receiving{r.ChunkID(), r.NumSlices(), r.Received()}
}

func addSenderStats(sum *statemachine.SenderStats, s statemachine.SenderStats) {
	sum.Chunks += s.Chunks
	sum.ChunkBytes += s.ChunkBytes
	sum.SlicesSent += s.SlicesSent
	sum.SlicesResent += s.SlicesResent
	sum.SlicesAcked += s.SlicesAcked
	sum.BytesSent += s.BytesSent
	sum.AcksReceived += s.AcksReceived
	sum.AcksIgnored += s.AcksIgnored
	sum.LastChunkTime = max(sum.LastChunkTime, s.LastChunkTime)
	sum.Schedule.SmoothedRTT = max(sum.Schedule.SmoothedRTT, s.Schedule.SmoothedRTT)
	if m := s.Schedule.MinRTT; sum.Schedule.MinRTT == 0 || m > 0 && m < sum.Schedule.MinRTT {
		sum.Schedule.MinRTT = m
	}
	sum.Schedule.Lost += s.Schedule.Lost
	sum.Schedule.Timeouts += s.Schedule.Timeouts
	sum.Schedule.Spurious += s.Schedule.Spurious
}

func addReceiverStats(sum *statemachine.ReceiverStats, r statemachine.ReceiverStats) {
	sum.Chunks += r.Chunks
	sum.ChunkBytes += r.ChunkBytes
	sum.SlicesReceived += r.SlicesReceived
	sum.SlicesStored += r.SlicesStored
	sum.Duplicates += r.Duplicates
	sum.Held += r.Held
	sum.Conflicts += r.Conflicts
	sum.Repins += r.Repins
	sum.Ignored += r.Ignored
	sum.AcksSent += r.AcksSent
	sum.LastChunkTime = max(sum.LastChunkTime, r.LastChunkTime)
}
