package statemachine

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// exState is a state of the whole: the real machines, by value, what is in flight,
// and what an observer who sees both ends has counted.
type exState struct {
	sender    exSender   // its scheduler is the explorer's; what that knows is in sched
	receiver  exReceiver // its slices are shared between states and never written to
	sched     anyScheduler
	slices    explore.Bag[exPacket]
	acks      explore.Bag[exPacket]
	submitted uint8
	reported  uint8 // chunks that the sender said were delivered
	delivered uint8 // chunks that were read
	forged    uint8 // which forgeries have happened
	restarted uint8 // which ends have
}

// exSender and exReceiver are machines with their ledgers, by value.
type exSender struct {
	Sender
	sentSet
}

type exReceiver struct {
	Receiver
	receivedSet
}

// attach gives the machines their ledgers, for an event; detach takes them away.
func (st *exState) attach() {
	st.sender.ledger, st.receiver.ledger = &st.sender.sentSet, &st.receiver.receivedSet
}

func (st *exState) detach() { st.sender.ledger, st.receiver.ledger = nil, nil }

const (
	senderRestarted   = 1
	receiverRestarted = 2
)

// anyScheduler stands for all conforming schedulers: at every poll the explorer has it
// return nothing, or any of the slices that were not reported to it as acked.
type anyScheduler struct {
	NoPath
	unacked core.Set
	next    int // -1: nothing
}

func (s *anyScheduler) Begin(f Flight)                  { s.unacked, s.next = core.FirstN(f.NumSlices), -1 }
func (s *anyScheduler) Acked(_ core.Micros, p Progress) { s.unacked = s.unacked.Minus(p.News) }
func (s *anyScheduler) Held(core.Micros)                {}
func (s *anyScheduler) Deadline() core.Micros           { return core.Never }
func (s *anyScheduler) Stats() ScheduleStats            { return ScheduleStats{} }

func (s *anyScheduler) Next(core.Micros) (int, bool) {
	id := s.next
	s.next = -1
	return id, id >= 0
}

// epoch is the present, at both ends, in every state. See foldReceiver.
const epoch = 100 * core.Second

// foldSender brings a sender to which it is now into the form in which states are
// compared. Of its times only one is ever compared with anything: give up holds when
// heardAt is long ago. That is a move of the explorer's.
func foldSender(s *Sender) {
	s.now, s.heardAt, s.startedAt = epoch, epoch, 0
	s.stats, s.row, s.refusal, s.out, s.given = SenderStats{}, "", nil, codec.Slice{}, given{}
}

// foldReceiver does the same for a receiver to which it is now: what its code compares
// with now stays on the same side of it, and the rest goes.
func foldReceiver(r *Receiver, now core.Micros) {
	switch t := &r.acks; {
	case t.At == core.Never:
	case t.At <= now:
		t.At = epoch
	default:
		t.At = epoch + acktimer.Interval
	}
	switch t := &r.acks; {
	case !t.SentOne:
		t.LastAt = 0
	case now-t.LastAt >= acktimer.Interval:
		t.LastAt = epoch - acktimer.Interval
	default:
		t.LastAt = epoch
	}
	if r.state == ReceiverReceiving && now-r.progressAt >= r.giveUp/2 {
		r.progressAt = epoch - r.giveUp/2
	} else {
		r.progressAt = epoch
	}
	r.now, r.startedAt = epoch, 0
	r.stats, r.row, r.out, r.read = ReceiverStats{}, "", codec.Ack{}, nil
}

// halfPassed reports whether the receiver waits for a new slice since half of the time
// after which it gives up.
func halfPassed(r *Receiver) bool { return r.progressAt < epoch }

// waiting reports whether 2 ms make a difference to the receiver.
func waiting(r *Receiver) bool {
	return r.acks.At == epoch+acktimer.Interval || r.acks.SentOne && r.acks.LastAt == epoch
}

// Key takes everything of a folded state that can make a difference.
func (w *exWorld) Key(st *exState) explore.Key {
	k := senderKey(st)
	w.mixReceiver(&k, &st.receiver)
	st.slices.Mix(&k)
	st.acks.Mix(&k)
	k.Mix(uint64(st.submitted)<<32 | uint64(st.reported)<<24 | uint64(st.delivered)<<16 | uint64(st.forged)<<8 | uint64(st.restarted))
	return k
}

func senderKey(st *exState) (k explore.Key) {
	s := &st.sender
	k.Mix(uint64(s.state)<<16|uint64(s.chunkID), uint64(len(s.chunk))<<16|uint64(s.numSlices))
	k.Mix(uint64(s.heardAt))
	for _, set := range []core.Set{s.sent, s.acked, st.sched.unacked} {
		k.Mix(set[:]...)
	}
	return k
}

func (w *exWorld) receiverKey(r *exReceiver) (k explore.Key) {
	w.mixReceiver(&k, r)
	return k
}

// mixReceiver compares slices by where they are, since equal ones are kept once.
func (w *exWorld) mixReceiver(k *explore.Key, r *exReceiver) {
	k.Mix(uint64(r.state)<<16|uint64(r.chunkID), uint64(r.numSlices)<<32|uint64(r.previousSlices))
	k.Mix(r.received[:]...)
	k.Mix(uint64(r.progressAt))
	for _, page := range r.slices {
		k.Mix(uint64(w.pageNumber(page)))
	}
	k.Mix(uint64(len(r.slices)), uint64(r.lastSize)<<32|uint64(r.readSize))
	k.Mix(uint64(r.acks.At), uint64(r.acks.LastAt), uint64(r.acks.Unreported)<<32^uint64(r.acks.LastNew))
	k.MixBits(r.acks.SentOne, r.acks.AfterGap, r.pending.Current, r.pending.Previous, r.pending.Hold)
	k.Mix(uint64(r.heldSlices))
}

// page returns the one place where such content is kept.
func (w *exWorld) page(content *[codec.SliceSize]byte) *[codec.SliceSize]byte {
	for _, p := range w.pages {
		if bytes.Equal(p[:], content[:]) {
			return p
		}
	}
	kept := *content
	w.pages = append(w.pages, &kept)
	return &kept
}

func (w *exWorld) pageNumber(p *[codec.SliceSize]byte) int {
	for i, known := range w.pages {
		if known == p {
			return i + 1
		}
	}
	return 0
}
