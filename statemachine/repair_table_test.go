package statemachine

import (
	"fmt"
	"github.com/chunkwire/chunkwire/codec"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
	"pgregory.net/rapid"
)

func TestRepairTablesAreTheDocuments(t *testing.T) {
	const data, document = "../spec/repair.json", "../spec/REPAIR.md"
	check.Same(t, "sender's rows", tabletest.CheckRows(data, "repair-sender", SenderTable(codec.Repair)), nil)
	check.Same(t, "sender's diagram", tabletest.CheckDiagram(document, "repair-sender", repairIdleSender().state.String(), SenderTable(codec.Repair)), nil)
	check.Same(t, "receiver's rows", tabletest.CheckRows(data, "repair-receiver", ReceiverTable(codec.Repair)), nil)
	check.Same(t, "receiver's diagram", tabletest.CheckDiagram(document, "repair-receiver", repairFirstReceiver().state.String(), ReceiverTable(codec.Repair)), nil)
}

func TestRepairTablesAreTotalAndUnambiguous(t *testing.T) {
	check.Same(t, "sender", repairSenderMachine.CheckTotal(), nil)
	check.Same(t, "receiver", repairReceiverMachine.CheckTotal(), nil)
}

func TestRepairTablesAreCopies(t *testing.T) {
	SenderTable(codec.Repair)[0].Next = "elsewhere"
	ReceiverTable(codec.Repair)[0].Next = "elsewhere"
	check.Equal(t, "sender's next state", SenderTable(codec.Repair)[0].Next, "SENDING")
	check.Equal(t, "receiver's next state", ReceiverTable(codec.Repair)[0].Next, "READY")
}

// The sender is that of the chunk protocol, row by row.
func TestTheSenderHasTheRowsOfTheChunkProtocol(t *testing.T) {
	lines := SenderTable(codec.Repair)
	for i := range lines {
		lines[i].Row = "S" + lines[i].Row[1:]
	}
	check.Equal(t, "rows", lines, SenderTable(codec.Named))
}

var repairSenderMachine = tabletest.Machine{
	States: []string{SenderIdle.String(), SenderSending.String(), SenderFailed.String()},
	Guards: senderGuards,
	Table:  SenderTable(codec.Repair),
	Impossible: slices.Concat(
		tabletest.Never(senderGuards, SenderIdle.String(), "no ack has as few slices as an idle sender: none", ackNothingNew, ackHold, ackNews, ackAll),
		tabletest.Never(senderGuards, SenderIdle.String(), "the scheduler is asked only while SenderSending, and nothing is waited for", sliceDue, senderGivesUp),
		tabletest.Never(senderGuards, SenderFailed.String(), "a failed sender has forgotten what it sent", ackNothingNew, ackNews, ackAll),
		tabletest.Never(senderGuards, SenderFailed.String(), "the scheduler is asked only while SenderSending, and nothing is waited for", sliceDue, senderGivesUp),
	),
}

const (
	repairEmptyWaiting = "nothing of the chunk is here, so nothing is fixed, doubled or follows"
	repairIsEarly      = "in READY every slice of the current chunk is early"
	repairNotReceiving = "only while receiving is something missing, or fixed"
	repairOnlyReady    = "only a chunk that waits to be read makes slices early"
)

var repairReceiverMachine = tabletest.Machine{
	States: []string{ReceiverWaiting.String(), ReceiverReceiving.String(), ReceiverReady.String(), ReceiverFailed.String()},
	Guards: receiverGuards,
	Table:  ReceiverTable(codec.Repair),
	Impossible: slices.Concat(
		tabletest.Never(receiverGuards, ReceiverWaiting.String(), repairEmptyWaiting, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes),
		tabletest.Never(receiverGuards, ReceiverWaiting.String(), repairOnlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ReceiverWaiting.String(), repairNotReceiving, receiverGivesUp),
		tabletest.Never(receiverGuards, ReceiverReceiving.String(), repairOnlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ReceiverReady.String(), repairIsEarly, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, sliceAdds, sliceCompletes),
		tabletest.Never(receiverGuards, ReceiverReady.String(), repairNotReceiving, receiverGivesUp),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), "a failed receiver keeps no slice", sliceDuplicate, sliceDependent),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), repairNotReceiving, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, receiverGivesUp),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), repairOnlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ReceiverFailed.String(), "a failed receiver has no ack due", ackDue),
	),
}

// rows are those of both tables.
var rows = func() map[core.Row]core.Line {
	all := map[core.Row]core.Line{}
	for _, l := range append(SenderTable(codec.Repair), ReceiverTable(codec.Repair)...) {
		all[l.Row] = l
	}
	return all
}()

func repairPossible(t *rapid.T, m *tabletest.Machine, state fmt.Stringer, g table.Guard) {
	if why := m.WhyNot(state.String(), g); why != "" {
		t.Fatalf("%v, %v occurred, though: %s", state, g.Text, why)
	}
}

func repairLeads(t *rapid.T, row core.Row, from, to fmt.Stringer) {
	if l := rows[row]; l.State != from.String() || l.Next != to.String() {
		t.Fatalf("row %v from %v to %v, want %v to %v", row, from, to, l.State, l.Next)
	}
}

// What is listed as impossible does not occur in random walks, and every row taken is
// one of the state that the sender was in.
func TestRepairSenderMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sched := &scripted{deadline: core.Never}
		s := repairNewSender(65535, sched)
		now := core.Micros(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before := s.state
			now += rapid.SampledFrom([]core.Micros{0, 1, 300 * ms, 4 * core.Second}).Draw(t, "later")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				_ = s.SubmitEncoded(now, erasure.Encode(make([]byte, rapid.SampledFrom([]int{0, 1, 3000, 262145}).Draw(t, "size"))))
			case 1, 2:
				a := codec.Ack{
					ChunkID:   s.chunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")),
					NumSlices: rapid.SampledFrom([]int{-1, 0, 1, 3, 257}).Draw(t, "slices"),
					Have:      rapid.IntRange(-1, 4).Draw(t, "have"),
					Top:       rapid.IntRange(-1, 8).Draw(t, "top"),
				}
				guard := s.ackGuard(&a)
				repairPossible(t, &repairSenderMachine, before, senderGuards[guard])
				s.HandleAck(now, a)
			case 3:
				sched.due = rapid.IntRange(0, 1).Draw(t, "due")
				left := sched.due
				s.Poll(now)
				check.That(t, before == SenderSending || sched.due == left, "the scheduler is asked only while sending")
			}
			repairLeads(t, s.row, before, s.state)
		}
	})
}

// The same of the receiver.
func TestRepairReceiverMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := repairNewReceiver(65535)
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
				k := rapid.IntRange(1, 3).Draw(t, "slices")
				s := sliceOf(r.chunkID+uint16(rapid.IntRange(-2, 1).Draw(t, "chunk")), rapid.IntRange(0, k+3).Draw(t, "slice"), k)
				r.advance(now)
				repairPossible(t, &repairReceiverMachine, before, receiverGuards[r.sliceGuard(s)])
				r.HandleSlice(now, s)
			}
			repairLeads(t, r.row, before, r.state)
		}
	})
}
