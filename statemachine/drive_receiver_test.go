package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

const (
	emptyWaiting = "nothing of the chunk is here, so nothing is pinned or doubled"
	isEarly      = "in READY every slice of the current chunk is early"
	nothingDue   = "a failed receiver owes no ack and waits for nothing"
	notReceiving = "only while receiving is something missing, or pinned"
	onlyReady    = "only a chunk that waits to be read makes slices early"
)

// receiverCannot is the list of what cannot occur.
var receiverCannot = []cannotOccur[ReceiverState]{
	{ReceiverWaiting, SliceDuplicate, emptyWaiting},
	{ReceiverWaiting, SliceConflicts, emptyWaiting},
	{ReceiverWaiting, SliceRepins, emptyWaiting},
	{ReceiverWaiting, SliceRepinsAndCompletes, emptyWaiting},
	{ReceiverWaiting, SliceEarly, onlyReady},
	{ReceiverWaiting, PollGiveUp, notReceiving},
	{ReceiverReceiving, SliceEarly, onlyReady},
	{ReceiverReady, SliceDuplicate, isEarly},
	{ReceiverReady, SliceConflicts, isEarly},
	{ReceiverReady, SliceRepins, isEarly},
	{ReceiverReady, SliceRepinsAndCompletes, isEarly},
	{ReceiverReady, SliceAdds, isEarly},
	{ReceiverReady, SliceCompletes, isEarly},
	{ReceiverReady, PollGiveUp, notReceiving},
	{ReceiverFailed, SliceDuplicate, "a failed receiver keeps no slice"},
	{ReceiverFailed, SliceConflicts, notReceiving},
	{ReceiverFailed, SliceRepins, notReceiving},
	{ReceiverFailed, SliceRepinsAndCompletes, notReceiving},
	{ReceiverFailed, SliceEarly, onlyReady},
	{ReceiverFailed, PollAck, nothingDue},
	{ReceiverFailed, PollGiveUp, notReceiving},
}

// receiverEvent is an event, and the guard that holds for it as the receiver
// sees it.
type receiverEvent struct {
	apply func(r *Receiver)
	guard func(r *Receiver) Guard
}

// sliceEvent is slice id of n, of the chunk with the given id.
func sliceEvent(chunkID uint16, id, n int) receiverEvent {
	s := sliceOf(chunkID, id, n)
	return receiverEvent{
		apply: func(r *Receiver) { r.HandleSlice(r.now, s) },
		guard: func(r *Receiver) Guard { return r.sliceGuard(s) },
	}
}

// sliceOf returns a full slice.
func sliceOf(chunkID uint16, id, n int) codec.Slice {
	return codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: n, Data: chunkOf(1024, uint32(id))}
}

func readEvent() receiverEvent {
	return receiverEvent{
		apply: func(r *Receiver) { _, _ = r.Read(r.now, nil) },
		guard: func(*Receiver) Guard { return ReadAsked },
	}
}

// receiverPoll polls after a while; what must then hold is for Deadline to say.
func receiverPoll(after Micros, want Guard) receiverEvent {
	return receiverEvent{
		apply: func(r *Receiver) { r.Poll(r.now + after) },
		guard: func(r *Receiver) Guard {
			switch due := r.now+after >= r.Deadline(); {
			case !due:
				return PollNothing
			case want == PollNothing:
				return PollAck
			}
			return want
		},
	}
}

// A receiver in each of its states, reached by events only. The current chunk
// is 8, of three slices; the chunk 7 before it had two.

func newReceiver() *Receiver { return NewReceiver(ReceiverConfig{FirstChunkID: 7}) }

func give(r *Receiver, slices ...codec.Slice) *Receiver {
	for _, s := range slices {
		r.HandleSlice(r.now, s)
	}
	return r
}

func quiet(r *Receiver) *Receiver {
	for range 4 {
		r.Poll(r.now)
	}
	return r
}

func readyReceiver() *Receiver {
	return quiet(give(newReceiver(), sliceOf(7, 0, 2), sliceOf(7, 1, 2)))
}

func waitingReceiver() *Receiver {
	r := readyReceiver()
	_, _ = r.Read(0, nil)
	return r
}

func receivingReceiver() *Receiver {
	r := waitingReceiver()
	r.Poll(2 * Millisecond) // from now on an ack may go out again
	return quiet(give(r, sliceOf(8, 0, 3)))
}

func almostReceiver() *Receiver { return quiet(give(receivingReceiver(), sliceOf(8, 2, 3))) }

// halfway has waited for half the time to give up.
func halfway() *Receiver {
	r := receivingReceiver()
	r.Poll(r.now + DefaultGiveUp/2)
	return r
}

func failedReceiver() *Receiver {
	r := almostReceiver()
	r.Poll(r.now + DefaultGiveUp)
	return r
}

func oweAck(from func() *Receiver, s codec.Slice) func() *Receiver {
	return func() *Receiver {
		r := from()
		r.Poll(r.now + Millisecond)
		return give(r, s)
	}
}

var receiverDrives = []struct {
	state ReceiverState
	guard Guard
	row   Row
	from  func() *Receiver
	event receiverEvent
}{
	{ReceiverWaiting, SliceCompletes, R1OnlySlice, waitingReceiver, sliceEvent(8, 0, 1)},
	{ReceiverWaiting, SliceAdds, R2FirstSlice, newReceiver, sliceEvent(7, 1, 2)},
	{ReceiverWaiting, SlicePrevious, R3PreviousSlice, waitingReceiver, sliceEvent(7, 1, 2)},
	{ReceiverWaiting, SliceForeign, R4ForeignSlice, newReceiver, sliceEvent(6, 0, 1)},
	{ReceiverWaiting, ReadAsked, R17WaitingRead, waitingReceiver, readEvent()},
	{ReceiverWaiting, PollAck, R19WaitingAck, oweAck(waitingReceiver, sliceOf(7, 0, 2)), receiverPoll(Millisecond, PollAck)},
	{ReceiverWaiting, PollNothing, R20WaitingPoll, oweAck(waitingReceiver, sliceOf(7, 0, 2)), receiverPoll(Millisecond-1, PollNothing)},

	{ReceiverReceiving, SliceAdds, R5NewSlice, receivingReceiver, sliceEvent(8, 1, 3)},
	{ReceiverReceiving, SliceCompletes, R6LastSlice, almostReceiver, sliceEvent(8, 1, 3)},
	{ReceiverReceiving, SliceDuplicate, R7DuplicateSlice, almostReceiver, sliceEvent(8, 2, 3)},
	{ReceiverReceiving, SliceConflicts, R8ConflictingSlice, receivingReceiver, sliceEvent(8, 1, 2)},
	{ReceiverReceiving, SliceRepins, R9RepinningSlice, halfway, sliceEvent(8, 1, 2)},
	{ReceiverReceiving, SliceRepinsAndCompletes, R10RepinningOnlySlice, halfway, sliceEvent(8, 0, 1)},
	{ReceiverReceiving, SlicePrevious, R11PreviousSlice, receivingReceiver, sliceEvent(7, 0, 2)},
	{ReceiverReceiving, SliceForeign, R12ForeignSlice, receivingReceiver, sliceEvent(7, 0, 3)},
	{ReceiverReceiving, ReadAsked, R18ReceivingRead, almostReceiver, readEvent()},
	{ReceiverReceiving, PollAck, R21ReceivingAck, oweAck(receivingReceiver, sliceOf(8, 0, 3)), receiverPoll(Millisecond, PollAck)},
	{ReceiverReceiving, PollNothing, R22ReceivingPoll, receivingReceiver, receiverPoll(DefaultGiveUp-1, PollNothing)},
	{ReceiverReceiving, PollGiveUp, R23GiveUp, receivingReceiver, receiverPoll(DefaultGiveUp, PollGiveUp)},

	{ReceiverReady, SliceEarly, R13HeldSlice, readyReceiver, sliceEvent(8, 0, 3)},
	{ReceiverReady, SlicePrevious, R14PreviousSlice, readyReceiver, sliceEvent(7, 1, 2)},
	{ReceiverReady, SliceForeign, R15ForeignSlice, readyReceiver, sliceEvent(9, 0, 3)},
	{ReceiverReady, ReadAsked, R16Read, readyReceiver, readEvent()},
	{ReceiverReady, PollAck, R24ReadyAck, oweAck(readyReceiver, sliceOf(8, 0, 1)), receiverPoll(Millisecond, PollAck)},
	{ReceiverReady, PollNothing, R25ReadyPoll, readyReceiver, receiverPoll(3*DefaultGiveUp, PollNothing)},

	{ReceiverFailed, SliceForeign, R26FailedSlice, failedReceiver, sliceEvent(9, 0, 1)},
	{ReceiverFailed, SlicePrevious, R26FailedSlice, failedReceiver, sliceEvent(7, 0, 2)},
	{ReceiverFailed, SliceAdds, R26FailedSlice, failedReceiver, sliceEvent(8, 3, 5)},
	{ReceiverFailed, SliceCompletes, R26FailedSlice, failedReceiver, sliceEvent(8, 0, 1)},
	{ReceiverFailed, ReadAsked, R27FailedRead, failedReceiver, readEvent()},
	{ReceiverFailed, PollNothing, R28FailedPoll, failedReceiver, receiverPoll(DefaultGiveUp, PollNothing)},
}

// Whatever can hold, in each state (RCV-1, RCV-3 to RCV-9).
func TestEveryEventInEveryStateOfTheReceiver(t *testing.T) {
	driven := map[combination[ReceiverState]]Row{}
	for _, d := range receiverDrives {
		r := d.from()
		wantEqual(t, "state before", r.State(), d.state)
		wantEqual(t, d.state.String()+": guard", d.event.guard(r), d.guard)
		d.event.apply(r)
		want := rowsFor(ReceiverTable(), d.state, d.guard)[0]
		wantEqual(t, d.state.String()+", "+d.guard.String()+": row", r.Row().String(), want.Row.String())
		wantEqual(t, d.state.String()+", "+d.guard.String()+": row by name", r.Row(), d.row)
		wantEqual(t, d.state.String()+", "+d.guard.String()+": next state", r.State(), want.To)
		driven[combination[ReceiverState]{d.state, d.guard}] = r.Row()
	}
	checkDriven(t, receiverStates, receiverGuards, ReceiverTable(), driven, receiverCannot)
}

// What is listed as impossible does not occur in random walks, and every row
// taken is one of the state that the receiver was in.
func TestReceiverMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewReceiver(ReceiverConfig{FirstChunkID: 65535})
		now := Micros(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before, owed := r.State(), r.pending
			now += rapid.SampledFrom([]Micros{0, 1, 5 * Second, 9 * Second}).Draw(t, "later")
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0:
				_, _ = r.Read(now, nil)
			case 1:
				_, _ = r.Poll(now)
				if before == ReceiverFailed && owed != (pendingAcks{}) {
					t.Fatalf("a failed receiver owes acks")
				}
			default:
				n := rapid.IntRange(1, 3).Draw(t, "slices")
				s := sliceOf(r.ChunkID()+uint16(rapid.IntRange(-2, 1).Draw(t, "chunk")),
					rapid.IntRange(0, n).Draw(t, "slice"), n)
				r.advance(now)
				g := r.sliceGuard(s)
				if why := whyNot(receiverCannot, before, g); why != "" {
					t.Fatalf("%v, %v occurred, though: %s", before, g, why)
				}
				r.HandleSlice(now, s)
			}
			tr := ReceiverTable()[r.Row()-R1OnlySlice]
			if tr.From != before || tr.To != r.State() {
				t.Fatalf("row %v from %v to %v, want %v to %v", r.Row(), before, r.State(), tr.From, tr.To)
			}
		}
	})
}
