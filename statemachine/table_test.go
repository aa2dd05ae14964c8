package statemachine

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

func TestTablesAreTheDocuments(t *testing.T) {
	const data, document = "../spec/protocol.json", "../spec/PROTOCOL.md"
	for _, err := range []error{
		tabletest.CheckRows(data, "sender", SenderTable(codec.Named)), tabletest.CheckDiagram(document, "sender", idleSender().state.String(), SenderTable(codec.Named)),
		tabletest.CheckRows(data, "receiver", ReceiverTable(codec.Named)), tabletest.CheckDiagram(document, "receiver", firstReceiver().state.String(), ReceiverTable(codec.Named)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestTablesAreTotalAndUnambiguous(t *testing.T) {
	check.Same(t, "sender", senderMachine.CheckTotal(), nil)
	check.Same(t, "receiver", receiverMachine.CheckTotal(), nil)
}

func TestTablesAreCopies(t *testing.T) {
	SenderTable(codec.Named)[0].Next = "elsewhere"
	ReceiverTable(codec.Named)[0].Next = "elsewhere"
	check.Equal(t, "sender's next state", SenderTable(codec.Named)[0].Next, "SENDING")
	check.Equal(t, "receiver's next state", ReceiverTable(codec.Named)[0].Next, "READY")
}

var senderMachine = tabletest.Machine{
	States: []string{SenderIdle.String(), SenderSending.String(), SenderFailed.String()},
	Guards: senderGuards,
	Table:  SenderTable(codec.Named),
	Impossible: slices.Concat(
		tabletest.Never(senderGuards, SenderIdle.String(), "no ack has as few slices as an idle sender: none", ackNothingNew, ackHold, ackNews, ackAll),
		tabletest.Never(senderGuards, SenderIdle.String(), "the scheduler is asked only while sending, and nothing is waited for", sliceDue, senderGivesUp),
		tabletest.Never(senderGuards, SenderFailed.String(), "the scheduler is asked only while sending, and nothing is waited for", sliceDue, senderGivesUp),
	),
}

const (
	emptyWaiting = "nothing of the chunk is here, so nothing is fixed or doubled"
	isEarly      = "in READY every slice of the current chunk is early"
	notReceiving = "only while receiving is something missing, or fixed"
	onlyReady    = "only a chunk that waits to be read makes slices early"
)

var receiverMachine = tabletest.Machine{
	States: []string{ReceiverWaiting.String(), ReceiverReceiving.String(), ReceiverReady.String(), ReceiverFailed.String()},
	Guards: receiverGuards,
	Table:  ReceiverTable(codec.Named),
	Impossible: slices.Concat(
		tabletest.Never(receiverGuards, ReceiverWaiting.String(), emptyWaiting, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes),
		tabletest.Never(receiverGuards, ReceiverWaiting.String(), onlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ReceiverWaiting.String(), notReceiving, receiverGivesUp),
		tabletest.Never(receiverGuards, ReceiverReceiving.String(), onlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ReceiverReceiving.String(), "no named slice depends on others", sliceDependent),
		tabletest.Never(receiverGuards, ReceiverReady.String(), isEarly, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, sliceAdds, sliceCompletes),
		tabletest.Never(receiverGuards, ReceiverReady.String(), notReceiving, receiverGivesUp),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), "a failed receiver keeps no slice", sliceDuplicate, sliceDependent),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), notReceiving, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, receiverGivesUp),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), onlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), "a failed receiver has no ack due", ackDue),
	),
}

// What is listed as impossible does not occur in random walks, and every row taken is
// one of the state that the sender was in.
func TestSenderMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sched := &inTurn{deadline: core.Never}
		s := newSender(65535, sched)
		now := core.Micros(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before, calls := s.state, len(sched.log)
			now += rapid.SampledFrom([]core.Micros{0, 1, 300 * ms, 4 * core.Second}).Draw(t, "later")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				_ = s.Submit(now, make([]byte, rapid.SampledFrom([]int{0, 1, 3000, 262145}).Draw(t, "size")))
			case 1, 2:
				a := codec.Ack{
					ChunkID:   s.chunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")),
					NumSlices: rapid.SampledFrom([]int{-1, 0, 1, 3, 257}).Draw(t, "slices"),
				}
				a.Acked[0] = rapid.Uint64Range(0, 15).Draw(t, "bits")
				guard := s.ackGuard(&a)
				possible(t, &senderMachine, before, senderGuards[guard])
				s.HandleAck(now, a)
			case 3:
				s.Poll(now)
				check.That(t, before == SenderSending || len(sched.log) == calls, "the scheduler is asked only while sending")
			}
			leads(t, s.row, before, s.state)
		}
	})
}

func possible(t *rapid.T, m *tabletest.Machine, state fmt.Stringer, g table.Guard) {
	if why := m.WhyNot(state.String(), g); why != "" {
		t.Fatalf("%v, %v occurred, though: %s", state, g.Text, why)
	}
}

func leads(t *rapid.T, row core.Row, from, to fmt.Stringer) {
	if l := exRows[row]; l.State != from.String() || l.Next != to.String() {
		t.Fatalf("row %v from %v to %v, want %v to %v", row, from, to, l.State, l.Next)
	}
}

// The same of the receiver.
func TestReceiverMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newReceiver(65535)
		now := core.Micros(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before, due := r.state, r.pending
			now += rapid.SampledFrom([]core.Micros{0, 1, 5 * core.Second, 9 * core.Second}).Draw(t, "later")
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0:
				_, _ = r.Read(now, nil)
			case 1:
				_, _ = r.Poll(now)
				check.That(t, before != ReceiverFailed || due == PendingAcks{}, "a failed receiver has no ack due")
			default:
				n := rapid.IntRange(1, 3).Draw(t, "slices")
				s := chunktest.Slice(r.chunkID+uint16(rapid.IntRange(-2, 1).Draw(t, "chunk")), rapid.IntRange(0, n).Draw(t, "slice"), n)
				r.advance(now)
				possible(t, &receiverMachine, before, receiverGuards[r.sliceGuard(s)])
				r.HandleSlice(now, s)
			}
			leads(t, r.row, before, r.state)
		}
	})
}
