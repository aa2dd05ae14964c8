package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
)

// senderEvent applies an event, and returns the guard that held for it: of an ack what
// the sender says, of others what must hold.
type repairSenderEvent func(s *Sender) (guard uint8)

func repairSubmitted(size int, guard uint8) repairSenderEvent {
	return func(s *Sender) uint8 { _ = s.SubmitEncoded(0, erasure.Encode(make([]byte, size))); return guard }
}

func repairAcked(a codec.Ack) repairSenderEvent {
	return func(s *Sender) uint8 {
		guard := s.ackGuard(&a)
		s.HandleAck(0, a)
		return guard
	}
}

func repairPolled(now core.Micros, guard uint8) repairSenderEvent {
	return func(s *Sender) uint8 { s.Poll(now); return guard }
}

// due allows the scheduler a transmission.
func due(from func() *Sender) func() *Sender {
	return func() *Sender {
		s := from()
		s.sched.(*scripted).due = 1
		return s
	}
}

// Whatever can hold, in each state (RPX-2 to RPX-4).
func TestRepairEveryEventInEveryStateOfTheSender(t *testing.T) {
	var driven []tabletest.Driven
	for _, d := range []struct {
		row   core.Row
		guard uint8
		from  func() *Sender
		event repairSenderEvent
	}{
		{"T1", sizeValid, repairIdleSender, repairSubmitted(3000, sizeValid)},
		{"T2", sizeInvalid, repairIdleAgainSender, repairSubmitted(0, sizeInvalid)},
		{"T5", ackForeign, repairIdleAgainSender, repairAcked(codec.Ack{ChunkID: 7, NumSlices: 1, Have: 1, Top: 1})},
		{"T12", noSliceDue, repairIdleAgainSender, repairPolled(core.Second, noSliceDue)},
		{"T3", sizeValid, repairStartedSender, repairSubmitted(3000, sizeValid)},
		{"T3", sizeInvalid, repairAckedSender, repairSubmitted(262145, sizeInvalid)},
		{"T6", ackForeign, repairSentSender, repairAcked(codec.Ack{ChunkID: 8, NumSlices: 3, Have: 3, Top: 3})},
		{"T7", ackNothingNew, repairAckedSender, repairAcked(ackOf(1, 2))},
		{"T8", ackHold, repairSentSender, repairAcked(ackOf(0, 0))},
		{"T9", ackNews, repairAckedSender, repairAcked(ackOf(2, 2))},
		{"T10", ackAll, repairAckedSender, repairAcked(ackOf(3, 4))},
		{"T13", sliceDue, due(repairStartedSender), repairPolled(0, sliceDue)},
		{"T14", noSliceDue, repairSentSender, repairPolled(0, noSliceDue)},
		{"T15", senderGivesUp, due(repairSentSender), repairPolled(giveUp, senderGivesUp)},
		{"T4", sizeValid, repairFailedSender, repairSubmitted(1, sizeValid)},
		{"T4", sizeInvalid, repairFailedSender, repairSubmitted(0, sizeInvalid)},
		{"T11", ackForeign, repairFailedSender, repairAcked(codec.Ack{ChunkID: 6, NumSlices: 3, Have: 3, Top: 3})},
		{"T11", ackHold, repairFailedSender, repairAcked(ackOf(0, 0))},
		{"T16", noSliceDue, due(repairFailedSender), repairPolled(0, noSliceDue)},
	} {
		s := d.from()
		state := s.state.String()
		check.Equal(t, string(d.row)+" in "+state+": guard", d.event(s), d.guard)
		check.Equal(t, state+": row", s.Vars().Row, d.row)
		driven = append(driven, tabletest.Driven{State: state, Guard: senderGuards[d.guard], Row: s.row, Next: s.state.String()})
	}
	check.Same(t, "what is wrong", repairSenderMachine.CheckDriven(driven), nil)
}

// receiverEvent applies an event, and returns the guard that held for it.
type repairReceiverEvent func(r *Receiver) (guard uint8)

func repairArrived(s codec.Slice) repairReceiverEvent {
	return func(r *Receiver) uint8 {
		guard := r.sliceGuard(s)
		give(r, s)
		return guard
	}
}

func repairAsked(r *Receiver) uint8 {
	_, _ = r.Read(r.now, nil)
	return anyRead
}

// after polls after a while. What must hold then is for Deadline to say.
func repairAfter(d core.Micros, guard uint8) repairReceiverEvent {
	return func(r *Receiver) uint8 {
		due := r.now+d >= r.Deadline()
		r.Poll(r.now + d)
		if due == (guard == noAckDue) {
			return anyReceiverPoll
		}
		return guard
	}
}

// owing has an ack due in a millisecond.
func repairOwing(from func() *Receiver, s codec.Slice) func() *Receiver {
	return func() *Receiver {
		r := from()
		r.Poll(r.now + ms)
		return give(r, s)
	}
}

// Whatever can hold, in each state (RPR-2 to RPR-5). One of the slices
// that are alike is dependent.
func TestRepairEveryEventInEveryStateOfTheReceiver(t *testing.T) {
	var driven []tabletest.Driven
	old, first := sliceOf(7, 0, 2), sliceOf(8, alike[0], 3)
	for _, d := range []struct {
		row   core.Row
		guard uint8
		from  func() *Receiver
		event repairReceiverEvent
	}{
		{"U1", sliceCompletes, repairWaitingReceiver, repairArrived(sliceOf(8, 9, 1))},
		{"U2", sliceAdds, repairFirstReceiver, repairArrived(sliceOf(7, 1, 2))},
		{"U3", slicePrevious, repairWaitingReceiver, repairArrived(sliceOf(7, 8000, 2))},
		{"U4", sliceForeign, repairFirstReceiver, repairArrived(sliceOf(6, 0, 1))},
		{"U18", anyRead, repairWaitingReceiver, repairAsked},
		{"U20", ackDue, repairOwing(repairWaitingReceiver, old), repairAfter(ms, ackDue)},
		{"U21", noAckDue, repairOwing(repairWaitingReceiver, old), repairAfter(ms-1, noAckDue)},

		{"U5", sliceAdds, repairReceivingReceiver, repairArrived(sliceOf(8, 1, 3))},
		{"U6", sliceCompletes, repairAlmostReceiver, repairArrived(sliceOf(8, 1, 3))},
		{"U7", sliceDuplicate, repairAlmostReceiver, repairArrived(sliceOf(8, alike[0], 3))},
		{"U8", sliceDependent, repairAlmostReceiver, repairArrived(sliceOf(8, alike[1], 3))},
		{"U9", sliceConflicts, repairReceivingReceiver, repairArrived(sliceOf(8, 1, 2))},
		{"U10", sliceReplaces, repairHalfway, repairArrived(sliceOf(8, 1, 2))},
		{"U11", sliceReplacesAndCompletes, repairHalfway, repairArrived(sliceOf(8, 0, 1))},
		{"U12", slicePrevious, repairReceivingReceiver, repairArrived(sliceOf(7, 0, 2))},
		{"U13", sliceForeign, repairReceivingReceiver, repairArrived(sliceOf(7, 0, 3))},
		{"U19", anyRead, repairAlmostReceiver, repairAsked},
		{"U22", ackDue, repairOwing(repairReceivingReceiver, first), repairAfter(ms, ackDue)},
		{"U23", noAckDue, repairReceivingReceiver, repairAfter(giveUp-1, noAckDue)},
		{"U24", receiverGivesUp, repairReceivingReceiver, repairAfter(giveUp, receiverGivesUp)},

		{"U14", sliceEarly, repairReadyReceiver, repairArrived(sliceOf(8, 0, 3))},
		{"U15", slicePrevious, repairReadyReceiver, repairArrived(sliceOf(7, 1, 2))},
		{"U16", sliceForeign, repairReadyReceiver, repairArrived(sliceOf(9, 0, 3))},
		{"U17", anyRead, repairReadyReceiver, repairAsked},
		{"U25", ackDue, repairOwing(repairReadyReceiver, first), repairAfter(ms, ackDue)},
		{"U26", noAckDue, repairReadyReceiver, repairAfter(3*giveUp, noAckDue)},

		{"U27", sliceForeign, repairFailedReceiver, repairArrived(sliceOf(9, 0, 1))},
		{"U27", slicePrevious, repairFailedReceiver, repairArrived(sliceOf(7, 0, 2))},
		{"U27", sliceAdds, repairFailedReceiver, repairArrived(sliceOf(8, 3, 5))},
		{"U27", sliceCompletes, repairFailedReceiver, repairArrived(sliceOf(8, 0, 1))},
		{"U28", anyRead, repairFailedReceiver, repairAsked},
		{"U29", noAckDue, repairFailedReceiver, repairAfter(giveUp, noAckDue)},
	} {
		r := d.from()
		state := r.state.String()
		check.Equal(t, string(d.row)+" in "+state+": guard", d.event(r), d.guard)
		check.Equal(t, state+": row", r.Vars().Row, d.row)
		driven = append(driven, tabletest.Driven{State: state, Guard: receiverGuards[d.guard], Row: r.row, Next: r.state.String()})
	}
	check.Same(t, "what is wrong", repairReceiverMachine.CheckDriven(driven), nil)
}
