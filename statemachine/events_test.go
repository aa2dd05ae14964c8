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
	return func(s *Sender) uint8 { _ = submit(s, chunktest.Chunk(size, 9)); return guard }
}

// acked is an ack as someAck has it.
func acked(chunkID uint16, bits string, have, top int) senderEvent {
	return func(s *Sender) uint8 {
		a := someAck(s.kind, chunkID, bits, have, top)
		guard := s.ackGuard(&a)
		s.HandleAck(0, a)
		return guard
	}
}

// polled polls a sender whose scheduler has a slice, if it may be asked for one.
func polled(now core.Micros, guard uint8) senderEvent {
	return func(s *Sender) uint8 {
		if sched, ok := s.sched.(*scripted); ok && (guard != noSliceDue || s.state != SenderSending) {
			sched.due = 1
		}
		s.Poll(now)
		return guard
	}
}

// rows are the row of each kind's table.
type rows [2]core.Row

// senderCase is an event in a state, and the row that it takes, by kind: none where there is
// no such event.
type senderCase struct {
	rows  rows
	guard uint8
	from  func(codec.Kind) *Sender
	event senderEvent
}

var senderCases = []senderCase{
	{rows{"S1", "T1"}, sizeValid, idleSender, submitted(3000, sizeValid)},
	{rows{"S2", "T2"}, sizeInvalid, idleAgainSender, submitted(0, sizeInvalid)},
	{rows{"S5", "T5"}, ackForeign, idleAgainSender, acked(7, "1", 1, 1)},
	{rows{"S12", "T12"}, noSliceDue, idleAgainSender, polled(core.Second, noSliceDue)},
	{rows{"S3", "T3"}, sizeValid, startedSender, submitted(3000, sizeValid)},
	{rows{"S3", "T3"}, sizeInvalid, ackedSender, submitted(262145, sizeInvalid)},
	{rows{"S6", "T6"}, ackForeign, sentSender, acked(8, "111", 3, 3)},
	{rows{"S7", "T7"}, ackNothingNew, ackedSender, acked(7, "010", 1, 2)},
	{rows{"S8", "T8"}, ackHold, sentSender, acked(7, "000", 0, 0)},
	{rows{"S9", "T9"}, ackNews, ackedSender, acked(7, "100", 2, 2)},
	{rows{"S10", "T10"}, ackAll, ackedSender, acked(7, "101", 3, 4)},
	{rows{"S13", "T13"}, sliceDue, startedSender, polled(0, sliceDue)},
	{rows{"S14", "T14"}, noSliceDue, sentSender, polled(0, noSliceDue)},
	{rows{"S15", "T15"}, senderGivesUp, sentSender, polled(DefaultGiveUp, senderGivesUp)},
	{rows{"S4", "T4"}, sizeValid, failedSender, submitted(1, sizeValid)},
	{rows{"S4", "T4"}, sizeInvalid, failedSender, submitted(0, sizeInvalid)},
	{rows{"S11", "T11"}, ackForeign, failedSender, acked(6, "111", 3, 3)},
	{rows{"S11", ""}, ackNothingNew, failedSender, acked(7, "000", 0, 0)},
	{rows{"S11", ""}, ackHold, failedUnacked, acked(7, "000", 0, 0)},
	{rows{"", "T11"}, ackNothingNew, failedSender, acked(7, "000", 0, 0)},
	{rows{"S11", ""}, ackNews, failedSender, acked(7, "001", 0, 0)},
	{rows{"S11", ""}, ackAll, failedSender, acked(7, "111", 0, 0)},
	{rows{"S16", "T16"}, noSliceDue, failedSender, polled(0, noSliceDue)},
}

// Whatever can hold, in each state (SND-1, SND-2, SND-5 to SND-9, SND-22; RPX-2 to RPX-4).
func TestEveryEventInEveryStateOfTheSender(t *testing.T) {
	for _, kind := range kinds {
		var driven []tabletest.Driven
		for _, c := range senderCases {
			row := c.rows[kind]
			if row == "" {
				continue
			}
			s := c.from(kind)
			state := s.state.String()
			check.Equal(t, string(row)+" in "+state+": guard", c.event(s), c.guard)
			check.Equal(t, state+": row", s.Vars().Row, row)
			driven = append(driven, tabletest.Driven{State: state, Guard: senderGuards[c.guard], Row: s.row, Next: s.state.String()})
		}
		check.Same(t, "what is wrong", senderMachines[kind].CheckDriven(driven), nil)
	}
}

// receiverEvent applies an event, and returns the guard that held for it.
type receiverEvent func(r *Receiver) (guard uint8)

func arrived(chunkID uint16, id, n int) receiverEvent {
	return func(r *Receiver) uint8 {
		s := someSlice(r.kind, chunkID, id, n)
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
func owing(from func(codec.Kind) *Receiver, s func(codec.Kind) codec.Slice) func(codec.Kind) *Receiver {
	return func(kind codec.Kind) *Receiver {
		r := from(kind)
		r.Poll(r.now + ms)
		return give(r, s(kind))
	}
}

// receiverCase is as senderCase.
type receiverCase struct {
	rows  rows
	guard uint8
	from  func(codec.Kind) *Receiver
	event receiverEvent
}

func old(kind codec.Kind) codec.Slice { return someSlice(kind, 7, 0, 2) }

// One of the slices that are alike is dependent.
var receiverCases = []receiverCase{
	{rows{"R1", ""}, sliceCompletes, waitingReceiver, arrived(8, 0, 1)},
	{rows{"", "U1"}, sliceCompletes, waitingReceiver, arrived(8, 9, 1)},
	{rows{"R2", "U2"}, sliceAdds, firstReceiver, arrived(7, 1, 2)},
	{rows{"R3", ""}, slicePrevious, waitingReceiver, arrived(7, 1, 2)},
	{rows{"", "U3"}, slicePrevious, waitingReceiver, arrived(7, 8000, 2)},
	{rows{"R4", "U4"}, sliceForeign, firstReceiver, arrived(6, 0, 1)},
	{rows{"R17", "U18"}, anyRead, waitingReceiver, asked},
	{rows{"R19", "U20"}, ackDue, owing(waitingReceiver, old), after(ms, ackDue)},
	{rows{"R20", "U21"}, noAckDue, owing(waitingReceiver, old), after(ms-1, noAckDue)},

	{rows{"R5", "U5"}, sliceAdds, receivingReceiver, arrived(8, 1, 3)},
	{rows{"R6", "U6"}, sliceCompletes, almostReceiver, arrived(8, 1, 3)},
	{rows{"R7", ""}, sliceDuplicate, almostReceiver, arrived(8, 2, 3)},
	{rows{"", "U7"}, sliceDuplicate, almostReceiver, arrived(8, alike[0], 3)},
	{rows{"", "U8"}, sliceDependent, almostReceiver, arrived(8, alike[1], 3)},
	{rows{"R8", "U9"}, sliceConflicts, receivingReceiver, arrived(8, 1, 2)},
	{rows{"R9", "U10"}, sliceReplaces, halfway, arrived(8, 1, 2)},
	{rows{"R10", "U11"}, sliceReplacesAndCompletes, halfway, arrived(8, 0, 1)},
	{rows{"R11", "U12"}, slicePrevious, receivingReceiver, arrived(7, 0, 2)},
	{rows{"R12", "U13"}, sliceForeign, receivingReceiver, arrived(7, 0, 3)},
	{rows{"R18", "U19"}, anyRead, almostReceiver, asked},
	{rows{"R21", "U22"}, ackDue, owing(receivingReceiver, firstSlice), after(ms, ackDue)},
	{rows{"R22", "U23"}, noAckDue, receivingReceiver, after(DefaultGiveUp-1, noAckDue)},
	{rows{"R23", "U24"}, receiverGivesUp, receivingReceiver, after(DefaultGiveUp, receiverGivesUp)},

	{rows{"R13", "U14"}, sliceEarly, readyReceiver, arrived(8, 0, 3)},
	{rows{"R14", "U15"}, slicePrevious, readyReceiver, arrived(7, 1, 2)},
	{rows{"R15", "U16"}, sliceForeign, readyReceiver, arrived(9, 0, 3)},
	{rows{"R16", "U17"}, anyRead, readyReceiver, asked},
	{rows{"R24", "U25"}, ackDue, owing(readyReceiver, firstSlice), after(ms, ackDue)},
	{rows{"R25", "U26"}, noAckDue, readyReceiver, after(3*DefaultGiveUp, noAckDue)},

	{rows{"R26", "U27"}, sliceForeign, failedReceiver, arrived(9, 0, 1)},
	{rows{"R26", "U27"}, slicePrevious, failedReceiver, arrived(7, 0, 2)},
	{rows{"R26", "U27"}, sliceAdds, failedReceiver, arrived(8, 3, 5)},
	{rows{"R26", "U27"}, sliceCompletes, failedReceiver, arrived(8, 0, 1)},
	{rows{"R27", "U28"}, anyRead, failedReceiver, asked},
	{rows{"R28", "U29"}, noAckDue, failedReceiver, after(DefaultGiveUp, noAckDue)},
}

// Whatever can hold, in each state (RCV-1, RCV-3 to RCV-9, RCV-21; RPR-2 to RPR-5).
func TestEveryEventInEveryStateOfTheReceiver(t *testing.T) {
	for _, kind := range kinds {
		var driven []tabletest.Driven
		for _, c := range receiverCases {
			row := c.rows[kind]
			if row == "" {
				continue
			}
			r := c.from(kind)
			state := r.state.String()
			check.Equal(t, string(row)+" in "+state+": guard", c.event(r), c.guard)
			check.Equal(t, state+": row", r.Vars().Row, row)
			driven = append(driven, tabletest.Driven{State: state, Guard: receiverGuards[c.guard], Row: r.row, Next: r.state.String()})
		}
		check.Same(t, "what is wrong", receiverMachines[kind].CheckDriven(driven), nil)
	}
}
