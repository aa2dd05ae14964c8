package netsim

// LinkStats counts what happened on a [Link]. All except SentBytes are numbers of
// datagrams. At any time
//
//	Delivered = Sent - LostPolicer - LostQueue - LostOutage - LostRandom + Duplicated
//
// A datagram counts as delivered at once, though it can still be under way.
type LinkStats struct {
	Sent        int64 // datagrams handed to the link
	SentBytes   int64 // their payload in bytes, without overhead
	Delivered   int64 // arrivals, copies included
	LostPolicer int64 // dropped by the policer
	LostQueue   int64 // dropped because the queue was full, or by its AQM
	LostOutage  int64 // lost behind the bottleneck in an outage
	LostRandom  int64 // lost behind the bottleneck by chance
	Duplicated  int64 // copies made
	Reordered   int64 // datagrams and copies held back
	Marked      int64 // datagrams delivered with a mark
	Corrupted   int64 // datagrams delivered with a bit flipped
}

// add adds the counts of t.
func (s *LinkStats) add(t LinkStats) {
	s.Sent += t.Sent
	s.SentBytes += t.SentBytes
	s.Delivered += t.Delivered
	s.LostPolicer += t.LostPolicer
	s.LostQueue += t.LostQueue
	s.LostOutage += t.LostOutage
	s.LostRandom += t.LostRandom
	s.Duplicated += t.Duplicated
	s.Reordered += t.Reordered
	s.Marked += t.Marked
	s.Corrupted += t.Corrupted
}
