package statemachine

import "github.com/chunkwire/chunkwire/codec"

// exState is a state of the whole: the real machines, by value, what is in
// flight, and what an observer who sees both ends has counted.
type exState struct {
	sender    Sender   // its scheduler is the explorer's; what that knows is in sched
	receiver  Receiver // its slices are shared between states and never written to
	sched     anyScheduler
	slices    exChannel
	acks      exChannel
	submitted uint8
	reported  uint8 // chunks that the sender said were delivered
	delivered uint8 // chunks that were read
	forged    uint8 // which forgeries have happened
	restarted uint8 // which ends have
}

const (
	senderRestarted   = 1
	receiverRestarted = 2
)

// anyScheduler stands for all conforming schedulers: at every poll the explorer
// has it return nothing, or any of the slices that it has not been told are
// acked.
type anyScheduler struct {
	unacked codec.Bitset
	next    int // -1: nothing
}

func (s *anyScheduler) Begin(f Flight)                   { s.unacked, s.next = codec.FirstN(f.NumSlices), -1 }
func (s *anyScheduler) Acked(_ Micros, set codec.Bitset) { s.unacked = s.unacked.Minus(set) }
func (s *anyScheduler) Held(Micros)                      {}
func (s *anyScheduler) Deadline() Micros                 { return Never }
func (s *anyScheduler) Stats() ScheduleStats             { return ScheduleStats{} }

func (s *anyScheduler) Next(Micros) (int, bool) {
	id := s.next
	s.next = -1
	return id, id >= 0
}

// epoch is the present, at both ends, in every state. See foldReceiver.
const epoch = 100 * Second

// foldSender brings a sender to which it is now into the form in which states
// are compared. Of its times only one is ever compared with anything: give up
// holds when heardFromAt is long ago. That is a move of the explorer's.
func foldSender(s *Sender) {
	s.now, s.heardFromAt, s.startedAt = epoch, epoch, 0
	s.stats, s.row, s.refusal, s.out = SenderStats{}, 0, nil, codec.Slice{}
}

// foldReceiver does the same for a receiver to which it is now: what its code
// compares with now stays on the same side of it, and the rest goes.
func foldReceiver(r *Receiver, now Micros) {
	switch t := &r.acks; {
	case t.at == Never:
	case t.at <= now:
		t.at = epoch
	default:
		t.at = epoch + ackInterval
	}
	switch t := &r.acks; {
	case !t.sentOne:
		t.lastAt = 0
	case now-t.lastAt >= ackInterval:
		t.lastAt = epoch - ackInterval
	default:
		t.lastAt = epoch
	}
	if r.state == ReceiverReceiving && now-r.progressAt >= r.giveUp/2 {
		r.progressAt = epoch - r.giveUp/2
	} else {
		r.progressAt = epoch
	}
	r.now, r.startedAt = epoch, 0
	r.stats, r.row, r.out, r.chunk = ReceiverStats{}, 0, codec.Ack{}, nil
}

// halfPassed tells whether the receiver waits for a new slice since half of the
// time after which it gives up.
func halfPassed(r *Receiver) bool { return r.progressAt < epoch }

// waiting tells whether 2 ms make a difference to the receiver.
func waiting(r *Receiver) bool {
	return r.acks.at == epoch+ackInterval || r.acks.sentOne && r.acks.lastAt == epoch
}
