package repair

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
)

// senderEvent applies an event, and returns the guard that held for it: of an ack what
// the sender says, of others what must hold.
type senderEvent func(s *Sender) (guard uint8)

func submitted(size int, guard uint8) senderEvent {
	return func(s *Sender) uint8 { _ = s.Submit(0, erasure.Encode(make([]byte, size))); return guard }
}

func acked(a Ack) senderEvent {
	return func(s *Sender) uint8 {
		guard, _ := s.ackGuard(&a)
		s.HandleAck(0, a)
		return guard
	}
}

func polled(now core.Micros, guard uint8) senderEvent {
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
func TestEveryEventInEveryStateOfTheSender(t *testing.T) {
	var driven []tabletest.Driven
	for _, d := range []struct {
		row   core.Row
		guard uint8
		from  func() *Sender
		event senderEvent
	}{
		{"T1", sizeValid, idleSender, submitted(3000, sizeValid)},
		{"T2", sizeInvalid, idleAgainSender, submitted(0, sizeInvalid)},
		{"T5", ackForeign, idleAgainSender, acked(Ack{ChunkID: 7, NumSlices: 1, Have: 1, Top: 1})},
		{"T12", noSliceDue, idleAgainSender, polled(core.Second, noSliceDue)},
		{"T3", sizeValid, startedSender, submitted(3000, sizeValid)},
		{"T3", sizeInvalid, ackedSender, submitted(262145, sizeInvalid)},
		{"T6", ackForeign, sentSender, acked(Ack{ChunkID: 8, NumSlices: 3, Have: 3, Top: 3})},
		{"T7", ackNothingNew, ackedSender, acked(ackOf(1, 2))},
		{"T8", ackHold, sentSender, acked(ackOf(0, 0))},
		{"T9", ackNews, ackedSender, acked(ackOf(2, 2))},
		{"T10", ackAll, ackedSender, acked(ackOf(3, 4))},
		{"T13", sliceDue, due(startedSender), polled(0, sliceDue)},
		{"T14", noSliceDue, sentSender, polled(0, noSliceDue)},
		{"T15", senderGivesUp, due(sentSender), polled(giveUp, senderGivesUp)},
		{"T4", sizeValid, failedSender, submitted(1, sizeValid)},
		{"T4", sizeInvalid, failedSender, submitted(0, sizeInvalid)},
		{"T11", ackForeign, failedSender, acked(Ack{ChunkID: 6, NumSlices: 3, Have: 3, Top: 3})},
		{"T11", ackHold, failedSender, acked(ackOf(0, 0))},
		{"T16", noSliceDue, due(failedSender), polled(0, noSliceDue)},
	} {
		s := d.from()
		state := s.state.String()
		check.Equal(t, string(d.row)+" in "+state+": guard", d.event(s), d.guard)
		check.Equal(t, state+": row", s.Vars().Row, d.row)
		driven = append(driven, tabletest.Driven{State: state, Guard: senderGuards[d.guard], Row: s.row, Next: s.state.String()})
	}
	check.Same(t, "what is wrong", senderMachine.CheckDriven(driven), nil)
}

// receiverEvent applies an event, and returns the guard that held for it.
type receiverEvent func(r *Receiver) (guard uint8)

func arrived(s Slice) receiverEvent {
	return func(r *Receiver) uint8 {
		guard := r.sliceGuard(&s)
		give(r, s)
		return guard
	}
}

func asked(r *Receiver) uint8 {
	_, _ = r.Read(r.now, nil)
	return anyRead
}

// after polls after a while. What must hold then is for Deadline to say.
func after(d core.Micros, guard uint8) receiverEvent {
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
func owing(from func() *Receiver, s Slice) func() *Receiver {
	return func() *Receiver {
		r := from()
		r.Poll(r.now + ms)
		return give(r, s)
	}
}

// Whatever can hold, in each state (RPR-2 to RPR-5). One of the slices
// that are alike is dependent.
func TestEveryEventInEveryStateOfTheReceiver(t *testing.T) {
	var driven []tabletest.Driven
	old, first := sliceOf(7, 0, 2), sliceOf(8, alike[0], 3)
	for _, d := range []struct {
		row   core.Row
		guard uint8
		from  func() *Receiver
		event receiverEvent
	}{
		{"U1", sliceCompletes, waitingReceiver, arrived(sliceOf(8, 9, 1))},
		{"U2", sliceAdds, firstReceiver, arrived(sliceOf(7, 1, 2))},
		{"U3", slicePrevious, waitingReceiver, arrived(sliceOf(7, 8000, 2))},
		{"U4", sliceForeign, firstReceiver, arrived(sliceOf(6, 0, 1))},
		{"U18", anyRead, waitingReceiver, asked},
		{"U20", ackDue, owing(waitingReceiver, old), after(ms, ackDue)},
		{"U21", noAckDue, owing(waitingReceiver, old), after(ms-1, noAckDue)},

		{"U5", sliceAdds, receivingReceiver, arrived(sliceOf(8, 1, 3))},
		{"U6", sliceCompletes, almostReceiver, arrived(sliceOf(8, 1, 3))},
		{"U7", sliceDuplicate, almostReceiver, arrived(sliceOf(8, alike[0], 3))},
		{"U8", sliceDependent, almostReceiver, arrived(sliceOf(8, alike[1], 3))},
		{"U9", sliceConflicts, receivingReceiver, arrived(sliceOf(8, 1, 2))},
		{"U10", sliceReplaces, halfway, arrived(sliceOf(8, 1, 2))},
		{"U11", sliceReplacesAndCompletes, halfway, arrived(sliceOf(8, 0, 1))},
		{"U12", slicePrevious, receivingReceiver, arrived(sliceOf(7, 0, 2))},
		{"U13", sliceForeign, receivingReceiver, arrived(sliceOf(7, 0, 3))},
		{"U19", anyRead, almostReceiver, asked},
		{"U22", ackDue, owing(receivingReceiver, first), after(ms, ackDue)},
		{"U23", noAckDue, receivingReceiver, after(giveUp-1, noAckDue)},
		{"U24", receiverGivesUp, receivingReceiver, after(giveUp, receiverGivesUp)},

		{"U14", sliceEarly, readyReceiver, arrived(sliceOf(8, 0, 3))},
		{"U15", slicePrevious, readyReceiver, arrived(sliceOf(7, 1, 2))},
		{"U16", sliceForeign, readyReceiver, arrived(sliceOf(9, 0, 3))},
		{"U17", anyRead, readyReceiver, asked},
		{"U25", ackDue, owing(readyReceiver, first), after(ms, ackDue)},
		{"U26", noAckDue, readyReceiver, after(3*giveUp, noAckDue)},

		{"U27", sliceForeign, failedReceiver, arrived(sliceOf(9, 0, 1))},
		{"U27", slicePrevious, failedReceiver, arrived(sliceOf(7, 0, 2))},
		{"U27", sliceAdds, failedReceiver, arrived(sliceOf(8, 3, 5))},
		{"U27", sliceCompletes, failedReceiver, arrived(sliceOf(8, 0, 1))},
		{"U28", anyRead, failedReceiver, asked},
		{"U29", noAckDue, failedReceiver, after(giveUp, noAckDue)},
	} {
		r := d.from()
		state := r.state.String()
		check.Equal(t, string(d.row)+" in "+state+": guard", d.event(r), d.guard)
		check.Equal(t, state+": row", r.Vars().Row, d.row)
		driven = append(driven, tabletest.Driven{State: state, Guard: receiverGuards[d.guard], Row: r.row, Next: r.state.String()})
	}
	check.Same(t, "what is wrong", receiverMachine.CheckDriven(driven), nil)
}
