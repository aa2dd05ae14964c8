package repair

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
	"github.com/chunkwire/chunkwire/statemachine"
	"pgregory.net/rapid"
)

func TestTablesAreTheDocuments(t *testing.T) {
	const data, document = "../spec/repair.json", "../spec/REPAIR.md"
	check.Same(t, "sender's rows", tabletest.CheckRows(data, "repair-sender", SenderTable()), nil)
	check.Same(t, "sender's diagram", tabletest.CheckDiagram(document, "repair-sender", idleSender().state.String(), SenderTable()), nil)
	check.Same(t, "receiver's rows", tabletest.CheckRows(data, "repair-receiver", ReceiverTable()), nil)
	check.Same(t, "receiver's diagram", tabletest.CheckDiagram(document, "repair-receiver", firstReceiver().state.String(), ReceiverTable()), nil)
}

func TestTablesAreTotalAndUnambiguous(t *testing.T) {
	check.Same(t, "sender", senderMachine.CheckTotal(), nil)
	check.Same(t, "receiver", receiverMachine.CheckTotal(), nil)
}

func TestTablesAreCopies(t *testing.T) {
	SenderTable()[0].Next = "elsewhere"
	ReceiverTable()[0].Next = "elsewhere"
	check.Equal(t, "sender's next state", SenderTable()[0].Next, "SENDING")
	check.Equal(t, "receiver's next state", ReceiverTable()[0].Next, "READY")
}

// The sender is that of the chunk protocol, row by row.
func TestTheSenderHasTheRowsOfTheChunkProtocol(t *testing.T) {
	lines := SenderTable()
	for i := range lines {
		lines[i].Row = "S" + lines[i].Row[1:]
	}
	check.Equal(t, "rows", lines, statemachine.SenderTable(codec.Named))
}

var senderMachine = tabletest.Machine{
	States: []string{idle.String(), sending.String(), gaveUp.String()},
	Guards: senderGuards,
	Table:  SenderTable(),
	Impossible: slices.Concat(
		tabletest.Never(senderGuards, idle.String(), "no ack has as few slices as an idle sender: none", ackNothingNew, ackHold, ackNews, ackAll),
		tabletest.Never(senderGuards, idle.String(), "the scheduler is asked only while sending, and nothing is waited for", sliceDue, senderGivesUp),
		tabletest.Never(senderGuards, gaveUp.String(), "a failed sender has forgotten what it sent", ackNothingNew, ackNews, ackAll),
		tabletest.Never(senderGuards, gaveUp.String(), "the scheduler is asked only while sending, and nothing is waited for", sliceDue, senderGivesUp),
	),
}

const (
	emptyWaiting = "nothing of the chunk is here, so nothing is fixed, doubled or follows"
	isEarly      = "in READY every slice of the current chunk is early"
	notReceiving = "only while receiving is something missing, or fixed"
	onlyReady    = "only a chunk that waits to be read makes slices early"
)

var receiverMachine = tabletest.Machine{
	States: []string{waiting.String(), receiving.String(), ready.String(), failed.String()},
	Guards: receiverGuards,
	Table:  ReceiverTable(),
	Impossible: slices.Concat(
		tabletest.Never(receiverGuards, waiting.String(), emptyWaiting, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes),
		tabletest.Never(receiverGuards, waiting.String(), onlyReady, sliceEarly),
		tabletest.Never(receiverGuards, waiting.String(), notReceiving, receiverGivesUp),
		tabletest.Never(receiverGuards, receiving.String(), onlyReady, sliceEarly),
		tabletest.Never(receiverGuards, ready.String(), isEarly, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, sliceAdds, sliceCompletes),
		tabletest.Never(receiverGuards, ready.String(), notReceiving, receiverGivesUp),
		tabletest.Never(receiverGuards, failed.String(), "a failed receiver keeps no slice", sliceDuplicate, sliceDependent),
		tabletest.Never(receiverGuards, failed.String(), notReceiving, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, receiverGivesUp),
		tabletest.Never(receiverGuards, failed.String(), onlyReady, sliceEarly),
		tabletest.Never(receiverGuards, failed.String(), "a failed receiver has no ack due", ackDue),
	),
}

// rows are those of both tables.
var rows = func() map[core.Row]core.Line {
	all := map[core.Row]core.Line{}
	for _, l := range append(SenderTable(), ReceiverTable()...) {
		all[l.Row] = l
	}
	return all
}()

func possible(t *rapid.T, m *tabletest.Machine, state fmt.Stringer, g table.Guard) {
	if why := m.WhyNot(state.String(), g); why != "" {
		t.Fatalf("%v, %v occurred, though: %s", state, g.Text, why)
	}
}

func leads(t *rapid.T, row core.Row, from, to fmt.Stringer) {
	if l := rows[row]; l.State != from.String() || l.Next != to.String() {
		t.Fatalf("row %v from %v to %v, want %v to %v", row, from, to, l.State, l.Next)
	}
}

// What is listed as impossible does not occur in random walks, and every row taken is
// one of the state that the sender was in.
func TestSenderMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sched := &scripted{deadline: core.Never}
		s := newSender(65535, sched)
		now := core.Micros(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before := s.state
			now += rapid.SampledFrom([]core.Micros{0, 1, 300 * ms, 4 * core.Second}).Draw(t, "later")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				_ = s.Submit(now, erasure.Encode(make([]byte, rapid.SampledFrom([]int{0, 1, 3000, 262145}).Draw(t, "size"))))
			case 1, 2:
				a := Ack{
					ChunkID:   s.chunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")),
					NumSlices: rapid.SampledFrom([]int{-1, 0, 1, 3, 257}).Draw(t, "slices"),
					Have:      rapid.IntRange(-1, 4).Draw(t, "have"),
					Top:       rapid.IntRange(-1, 8).Draw(t, "top"),
				}
				guard, _ := s.ackGuard(&a)
				possible(t, &senderMachine, before, senderGuards[guard])
				s.HandleAck(now, a)
			case 3:
				sched.due = rapid.IntRange(0, 1).Draw(t, "due")
				left := sched.due
				s.Poll(now)
				check.That(t, before == sending || sched.due == left, "the scheduler is asked only while sending")
			}
			leads(t, s.row, before, s.state)
		}
	})
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
				check.That(t, before != failed || due == statemachine.PendingAcks{}, "a failed receiver has no ack due")
			default:
				k := rapid.IntRange(1, 3).Draw(t, "slices")
				s := sliceOf(r.chunkID+uint16(rapid.IntRange(-2, 1).Draw(t, "chunk")), rapid.IntRange(0, k+3).Draw(t, "slice"), k)
				r.advance(now)
				possible(t, &receiverMachine, before, receiverGuards[r.sliceGuard(&s)])
				r.HandleSlice(now, s)
			}
			leads(t, r.row, before, r.state)
		}
	})
}
