package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
)

// senderEvent applies an event, and returns the guard that held for it: of an ack what
// the sender says, of others what must hold.
type senderEvent func(s *Sender) (guard uint8)

func submitted(size int, guard uint8) senderEvent {
	return func(s *Sender) uint8 { _ = s.Submit(0, chunktest.Chunk(size, 9)); return guard }
}

func acked(chunkID uint16, bits string) senderEvent {
	return func(s *Sender) uint8 {
		a := chunktest.Ack(chunkID, bits)
		guard := s.ackGuard(&a)
		s.HandleAck(0, a)
		return guard
	}
}

func polled(now core.Micros, guard uint8) senderEvent {
	return func(s *Sender) uint8 { s.Poll(now); return guard }
}

// Whatever can hold, in each state (SND-1, SND-2, SND-5 to SND-9, SND-22).
func TestEveryEventInEveryStateOfTheSender(t *testing.T) {
	var driven []tabletest.Driven
	for _, d := range []struct {
		row   core.Row
		guard uint8
		from  func() *Sender
		event senderEvent
	}{
		{"S1", sizeValid, idleSender, submitted(3000, sizeValid)},
		{"S2", sizeInvalid, idleAgainSender, submitted(0, sizeInvalid)},
		{"S5", ackForeign, idleAgainSender, acked(7, "1")},
		{"S12", noSliceDue, idleAgainSender, polled(core.Second, noSliceDue)},
		{"S3", sizeValid, startedSender, submitted(3000, sizeValid)},
		{"S3", sizeInvalid, ackedSender, submitted(262145, sizeInvalid)},
		{"S6", ackForeign, sentSender, acked(8, "111")},
		{"S7", ackNothingNew, ackedSender, acked(7, "010")},
		{"S8", ackHold, sentSender, acked(7, "000")},
		{"S9", ackNews, ackedSender, acked(7, "100")},
		{"S10", ackAll, ackedSender, acked(7, "101")},
		{"S13", sliceDue, startedSender, polled(0, sliceDue)},
		{"S14", noSliceDue, sentSender, polled(0, noSliceDue)},
		{"S15", senderGivesUp, sentSender, polled(DefaultGiveUp, senderGivesUp)},
		{"S4", sizeValid, failedSender, submitted(1, sizeValid)},
		{"S4", sizeInvalid, failedSender, submitted(0, sizeInvalid)},
		{"S11", ackForeign, failedSender, acked(6, "111")},
		{"S11", ackNothingNew, failedSender, acked(7, "000")},
		{"S11", ackHold, failedUnacked, acked(7, "000")},
		{"S11", ackNews, failedSender, acked(7, "001")},
		{"S11", ackAll, failedSender, acked(7, "111")},
		{"S16", noSliceDue, failedSender, polled(0, noSliceDue)},
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

func arrived(chunkID uint16, id, n int) receiverEvent {
	return func(r *Receiver) uint8 {
		s := chunktest.Slice(chunkID, id, n)
		guard := r.sliceGuard(s)
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
func owing(from func() *Receiver, s codec.Slice) func() *Receiver {
	return func() *Receiver {
		r := from()
		r.Poll(r.now + ms)
		return give(r, s)
	}
}

// Whatever can hold, in each state (RCV-1, RCV-3 to RCV-9, RCV-21).
func TestEveryEventInEveryStateOfTheReceiver(t *testing.T) {
	var driven []tabletest.Driven
	old, first := chunktest.Slice(7, 0, 2), chunktest.Slice(8, 0, 3)
	for _, d := range []struct {
		row   core.Row
		guard uint8
		from  func() *Receiver
		event receiverEvent
	}{
		{"R1", sliceCompletes, waitingReceiver, arrived(8, 0, 1)},
		{"R2", sliceAdds, firstReceiver, arrived(7, 1, 2)},
		{"R3", slicePrevious, waitingReceiver, arrived(7, 1, 2)},
		{"R4", sliceForeign, firstReceiver, arrived(6, 0, 1)},
		{"R17", anyRead, waitingReceiver, asked},
		{"R19", ackDue, owing(waitingReceiver, old), after(ms, ackDue)},
		{"R20", noAckDue, owing(waitingReceiver, old), after(ms-1, noAckDue)},

		{"R5", sliceAdds, receivingReceiver, arrived(8, 1, 3)},
		{"R6", sliceCompletes, almostReceiver, arrived(8, 1, 3)},
		{"R7", sliceDuplicate, almostReceiver, arrived(8, 2, 3)},
		{"R8", sliceConflicts, receivingReceiver, arrived(8, 1, 2)},
		{"R9", sliceReplaces, halfway, arrived(8, 1, 2)},
		{"R10", sliceReplacesAndCompletes, halfway, arrived(8, 0, 1)},
		{"R11", slicePrevious, receivingReceiver, arrived(7, 0, 2)},
		{"R12", sliceForeign, receivingReceiver, arrived(7, 0, 3)},
		{"R18", anyRead, almostReceiver, asked},
		{"R21", ackDue, owing(receivingReceiver, first), after(ms, ackDue)},
		{"R22", noAckDue, receivingReceiver, after(DefaultGiveUp-1, noAckDue)},
		{"R23", receiverGivesUp, receivingReceiver, after(DefaultGiveUp, receiverGivesUp)},

		{"R13", sliceEarly, readyReceiver, arrived(8, 0, 3)},
		{"R14", slicePrevious, readyReceiver, arrived(7, 1, 2)},
		{"R15", sliceForeign, readyReceiver, arrived(9, 0, 3)},
		{"R16", anyRead, readyReceiver, asked},
		{"R24", ackDue, owing(readyReceiver, first), after(ms, ackDue)},
		{"R25", noAckDue, readyReceiver, after(3*DefaultGiveUp, noAckDue)},

		{"R26", sliceForeign, failedReceiver, arrived(9, 0, 1)},
		{"R26", slicePrevious, failedReceiver, arrived(7, 0, 2)},
		{"R26", sliceAdds, failedReceiver, arrived(8, 3, 5)},
		{"R26", sliceCompletes, failedReceiver, arrived(8, 0, 1)},
		{"R27", anyRead, failedReceiver, asked},
		{"R28", noAckDue, failedReceiver, after(DefaultGiveUp, noAckDue)},
	} {
		r := d.from()
		state := r.state.String()
		check.Equal(t, string(d.row)+" in "+state+": guard", d.event(r), d.guard)
		check.Equal(t, state+": row", r.Vars().Row, d.row)
		driven = append(driven, tabletest.Driven{State: state, Guard: receiverGuards[d.guard], Row: r.row, Next: r.state.String()})
	}
	check.Same(t, "what is wrong", receiverMachine.CheckDriven(driven), nil)
}
