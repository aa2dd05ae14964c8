package statemachine

import (
	"strconv"

	"github.com/chunkwire/chunkwire/codec"
)

// ReceiverState is what a receiver is doing (section 8.1).
type ReceiverState uint8

const (
	// ReceiverWaiting has nothing of the current chunk.
	ReceiverWaiting ReceiverState = iota
	// ReceiverReceiving has some slices of the current chunk, but not all. It
	// leaves with the last one, or when no new one came for too long.
	ReceiverReceiving
	// ReceiverReady has a complete chunk, which waits to be read. It takes no
	// slice of the next chunk before.
	ReceiverReady
	// ReceiverFailed has given up. It is left by no event.
	ReceiverFailed
)

func (s ReceiverState) String() string {
	return [...]string{"WAITING", "RECEIVING", "READY", "FAILED"}[s]
}

// The rows of the receiver's table, section 8.3.
const (
	R1OnlySlice Row = iota + lastSenderRow + 1
	R2FirstSlice
	R3PreviousSlice
	R4ForeignSlice
	R5NewSlice
	R6LastSlice
	R7DuplicateSlice
	R8ConflictingSlice
	R9RepinningSlice
	R10RepinningOnlySlice
	R11PreviousSlice
	R12ForeignSlice
	R13HeldSlice
	R14PreviousSlice
	R15ForeignSlice
	R16Read
	R17WaitingRead
	R18ReceivingRead
	R19WaitingAck
	R20WaitingPoll
	R21ReceivingAck
	R22ReceivingPoll
	R23GiveUp
	R24ReadyAck
	R25ReadyPoll
	R26FailedSlice
	R27FailedRead
	R28FailedPoll
	lastRow = R28FailedPoll
)

// receiverTable is the receiver: every transition that there is.
var receiverTable = []Transition[ReceiverState]{
	{R1OnlySlice, ReceiverWaiting, EventSlice, SliceCompletes, ReceiverReady},
	{R2FirstSlice, ReceiverWaiting, EventSlice, SliceAdds, ReceiverReceiving},
	{R3PreviousSlice, ReceiverWaiting, EventSlice, SlicePrevious, ReceiverWaiting},
	{R4ForeignSlice, ReceiverWaiting, EventSlice, SliceForeign, ReceiverWaiting},
	{R5NewSlice, ReceiverReceiving, EventSlice, SliceAdds, ReceiverReceiving},
	{R6LastSlice, ReceiverReceiving, EventSlice, SliceCompletes, ReceiverReady},
	{R7DuplicateSlice, ReceiverReceiving, EventSlice, SliceDuplicate, ReceiverReceiving},
	{R8ConflictingSlice, ReceiverReceiving, EventSlice, SliceConflicts, ReceiverReceiving},
	{R9RepinningSlice, ReceiverReceiving, EventSlice, SliceRepins, ReceiverReceiving},
	{R10RepinningOnlySlice, ReceiverReceiving, EventSlice, SliceRepinsAndCompletes, ReceiverReady},
	{R11PreviousSlice, ReceiverReceiving, EventSlice, SlicePrevious, ReceiverReceiving},
	{R12ForeignSlice, ReceiverReceiving, EventSlice, SliceForeign, ReceiverReceiving},
	{R13HeldSlice, ReceiverReady, EventSlice, SliceEarly, ReceiverReady},
	{R14PreviousSlice, ReceiverReady, EventSlice, SlicePrevious, ReceiverReady},
	{R15ForeignSlice, ReceiverReady, EventSlice, SliceForeign, ReceiverReady},
	{R16Read, ReceiverReady, EventRead, Always, ReceiverWaiting},
	{R17WaitingRead, ReceiverWaiting, EventRead, Always, ReceiverWaiting},
	{R18ReceivingRead, ReceiverReceiving, EventRead, Always, ReceiverReceiving},
	{R19WaitingAck, ReceiverWaiting, EventPoll, PollAck, ReceiverWaiting},
	{R20WaitingPoll, ReceiverWaiting, EventPoll, PollNothing, ReceiverWaiting},
	{R21ReceivingAck, ReceiverReceiving, EventPoll, PollAck, ReceiverReceiving},
	{R22ReceivingPoll, ReceiverReceiving, EventPoll, PollNothing, ReceiverReceiving},
	{R23GiveUp, ReceiverReceiving, EventPoll, PollGiveUp, ReceiverFailed},
	{R24ReadyAck, ReceiverReady, EventPoll, PollAck, ReceiverReady},
	{R25ReadyPoll, ReceiverReady, EventPoll, PollNothing, ReceiverReady},
	{R26FailedSlice, ReceiverFailed, EventSlice, Always, ReceiverFailed},
	{R27FailedRead, ReceiverFailed, EventRead, Always, ReceiverFailed},
	{R28FailedPoll, ReceiverFailed, EventPoll, Always, ReceiverFailed},
}

var receiverIndex = indexOf(receiverTable)

// ReceiverTable returns a copy of the receiver's transition table.
func ReceiverTable() []Transition[ReceiverState] {
	return append([]Transition[ReceiverState](nil), receiverTable...)
}

// rowIDs names the rows of both machines as the specification does.
var rowIDs = func() (ids [lastRow + 1]string) {
	for r := S1Start; r <= lastSenderRow; r++ {
		ids[r] = "S" + strconv.Itoa(int(r))
	}
	for r := R1OnlySlice; r <= lastRow; r++ {
		ids[r] = "R" + strconv.Itoa(int(r-lastSenderRow))
	}
	return ids
}()

// receiverInput is what a transition's actions need of its event.
type receiverInput struct {
	slice codec.Slice
	dst   []byte
}

// step takes the transition for the guard that holds: it is the only place
// where a receiver's state changes once it is made.
func (r *Receiver) step(guard Guard, in receiverInput) {
	t := &receiverIndex[r.state][guard]
	r.state, r.row = t.To, t.Row
	switch t.Row {
	case R1OnlySlice:
		r.start(in.slice)
		r.store(in.slice)
		r.complete()
	case R2FirstSlice:
		r.start(in.slice)
		r.store(in.slice)
	case R3PreviousSlice, R11PreviousSlice, R14PreviousSlice:
		r.ackPreviousAgain()
	case R4ForeignSlice, R12ForeignSlice, R15ForeignSlice, R26FailedSlice:
		r.stats.Ignored++
	case R5NewSlice:
		r.store(in.slice)
	case R6LastSlice:
		r.store(in.slice)
		r.complete()
	case R7DuplicateSlice:
		r.ackAgain()
	case R8ConflictingSlice:
		r.stats.Conflicts++
	case R9RepinningSlice:
		r.repin(in.slice)
		r.store(in.slice)
	case R10RepinningOnlySlice:
		r.repin(in.slice)
		r.store(in.slice)
		r.complete()
	case R13HeldSlice:
		r.hold(in.slice)
	case R16Read:
		r.deliver(in.dst)
	case R19WaitingAck, R21ReceivingAck, R24ReadyAck:
		r.sendAck()
	case R23GiveUp:
		r.drop()
	case R17WaitingRead, R18ReceivingRead, R27FailedRead,
		R20WaitingPoll, R22ReceivingPoll, R25ReadyPoll, R28FailedPoll:
	}
}
