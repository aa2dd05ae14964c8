package statemachine

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

func TestTablesAreTheDocuments(t *testing.T) {
	for _, c := range []struct {
		kind                   codec.Kind
		data, document, prefix string
	}{{codec.Named, "../spec/protocol.json", "../spec/PROTOCOL.md", ""}, {codec.Repair, "../spec/repair.json", "../spec/REPAIR.md", "repair-"}} {
		for _, err := range []error{
			tabletest.CheckRows(c.data, c.prefix+"sender", SenderTable(c.kind)),
			tabletest.CheckDiagram(c.document, c.prefix+"sender", idleSender(c.kind).state.String(), SenderTable(c.kind)),
			tabletest.CheckRows(c.data, c.prefix+"receiver", ReceiverTable(c.kind)),
			tabletest.CheckDiagram(c.document, c.prefix+"receiver", firstReceiver(c.kind).state.String(), ReceiverTable(c.kind)),
		} {
			check.Same(t, "what is wrong", err, nil)
		}
	}
}

func TestTablesAreTotalAndUnambiguous(t *testing.T) {
	for _, kind := range kinds {
		check.Same(t, "sender", senderMachines[kind].CheckTotal(), nil)
		check.Same(t, "receiver", receiverMachines[kind].CheckTotal(), nil)
	}
}

func TestTablesAreCopies(t *testing.T) {
	for _, kind := range kinds {
		SenderTable(kind)[0].Next = "elsewhere"
		ReceiverTable(kind)[0].Next = "elsewhere"
		check.Equal(t, "sender's next state", SenderTable(kind)[0].Next, "SENDING")
		check.Equal(t, "receiver's next state", ReceiverTable(kind)[0].Next, "READY")
	}
}

// The sender of repair slices has the rows of the chunk protocol's sender.
func TestTheSenderHasTheRowsOfTheChunkProtocol(t *testing.T) {
	lines := SenderTable(codec.Repair)
	for i := range lines {
		lines[i].Row = "S" + lines[i].Row[1:]
	}
	check.Equal(t, "rows", lines, SenderTable(codec.Named))
}

var senderMachines = [...]*tabletest.Machine{
	codec.Named:  senderMachine(codec.Named, nil),
	codec.Repair: senderMachine(codec.Repair, tabletest.Never(senderGuards, SenderFailed.String(), "a failed sender has forgotten what it sent", ackHold, ackNews, ackAll)),
}

func senderMachine(kind codec.Kind, own []tabletest.Impossible) *tabletest.Machine {
	const notAsked = "the scheduler is asked only while sending, and nothing is waited for"
	return &tabletest.Machine{
		States: []string{SenderIdle.String(), SenderSending.String(), SenderFailed.String()},
		Guards: senderGuards,
		Table:  SenderTable(kind),
		Impossible: slices.Concat(own,
			tabletest.Never(senderGuards, SenderIdle.String(), "no ack has as few slices as an idle sender: none", ackNothingNew, ackHold, ackNews, ackAll),
			tabletest.Never(senderGuards, SenderIdle.String(), notAsked, sliceDue, senderGivesUp),
			tabletest.Never(senderGuards, SenderFailed.String(), notAsked, sliceDue, senderGivesUp),
		),
	}
}

const (
	emptyWaiting = "nothing of the chunk is here, so nothing is fixed, doubled or follows"
	isEarly      = "in READY every slice of the current chunk is early"
	notReceiving = "only while receiving is something missing, or fixed"
	onlyReady    = "only a chunk that waits to be read makes slices early"
)

var receiverMachines = [...]*tabletest.Machine{
	codec.Named:  receiverMachine(codec.Named, tabletest.Never(receiverGuards, ReceiverReceiving.String(), "no named slice depends on others", sliceDependent)),
	codec.Repair: receiverMachine(codec.Repair, nil),
}

func receiverMachine(kind codec.Kind, own []tabletest.Impossible) *tabletest.Machine {
	return &tabletest.Machine{
		States: []string{ReceiverWaiting.String(), ReceiverReceiving.String(), ReceiverReady.String(), ReceiverFailed.String()},
		Guards: receiverGuards,
		Table:  ReceiverTable(kind),
		Impossible: slices.Concat(own,
			tabletest.Never(receiverGuards, ReceiverWaiting.String(), emptyWaiting, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes),
			tabletest.Never(receiverGuards, ReceiverWaiting.String(), onlyReady, sliceEarly),
			tabletest.Never(receiverGuards, ReceiverWaiting.String(), notReceiving, receiverGivesUp),
			tabletest.Never(receiverGuards, ReceiverReceiving.String(), onlyReady, sliceEarly),
			tabletest.Never(receiverGuards, ReceiverReady.String(), isEarly, sliceDuplicate, sliceDependent, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, sliceAdds, sliceCompletes),
			tabletest.Never(receiverGuards, ReceiverReady.String(), notReceiving, receiverGivesUp),
			tabletest.Never(receiverGuards, ReceiverFailed.String(), "a failed receiver keeps no slice", sliceDuplicate, sliceDependent),
			tabletest.Never(receiverGuards, ReceiverFailed.String(), notReceiving, sliceConflicts, sliceReplaces, sliceReplacesAndCompletes, receiverGivesUp),
			tabletest.Never(receiverGuards, ReceiverFailed.String(), onlyReady, sliceEarly),
			tabletest.Never(receiverGuards, ReceiverFailed.String(), "a failed receiver has no ack due", ackDue),
		),
	}
}

// rowsByID are the rows of the tables of both documents.
var rowsByID = func() map[core.Row]core.Line {
	all := map[core.Row]core.Line{}
	for _, kind := range kinds {
		for _, l := range append(SenderTable(kind), ReceiverTable(kind)...) {
			all[l.Row] = l
		}
	}
	return all
}()

func possible(t *rapid.T, m *tabletest.Machine, state fmt.Stringer, g table.Guard) {
	if why := m.WhyNot(state.String(), g); why != "" {
		t.Fatalf("%v, %v occurred, though: %s", state, g.Text, why)
	}
}

// leads returns what is wrong with a row that was taken from the one state to the other.
func leads(row core.Row, from, to fmt.Stringer) error {
	if l := rowsByID[row]; l.State != from.String() || l.Next != to.String() {
		return fmt.Errorf("row %v from %v to %v, want %v to %v", row, from, to, l.State, l.Next)
	}
	return nil
}

// What is listed as impossible does not occur in random walks, and every row taken is
// one of the state that the sender was in.
func TestSenderMeetsNothingImpossible(t *testing.T) {
	for _, kind := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			s := newSender(kind, 65535, idleSender(kind).sched)
			for range rapid.IntRange(1, 60).Draw(t, "events") {
				before := s.state
				s.advance(s.now + rapid.SampledFrom([]core.Micros{0, 1, 300 * ms, 4 * core.Second}).Draw(t, "later"))
				switch rapid.IntRange(0, 3).Draw(t, "event") {
				case 0:
					_ = submit(s, make([]byte, rapid.SampledFrom([]int{0, 1, 3000, 262145}).Draw(t, "size")))
				case 1, 2:
					a := drawAck(t, s)
					possible(t, senderMachines[kind], before, senderGuards[s.ackGuard(&a)])
					s.HandleAck(s.now, a)
				case 3:
					if sched, ok := s.sched.(*scripted); ok {
						sched.due = rapid.IntRange(0, 1).Draw(t, "due")
					}
					calls := asks(s)
					s.Poll(s.now)
					check.That(t, before == SenderSending || asks(s) == calls, "the scheduler is asked only while sending")
				}
				check.Same(t, "what is wrong", leads(s.row, before, s.state), nil)
			}
		})
	}
}

// asks changes when the scheduler of a sender is asked for a slice, and has one.
func asks(s *Sender) int {
	if sched, ok := s.sched.(*scripted); ok {
		return sched.due
	}
	return len(s.sched.(*inTurn).log)
}

// drawAck draws an ack of or near the chunk in flight, which may be invalid.
func drawAck(t *rapid.T, s *Sender) codec.Ack {
	a := codec.Ack{
		ChunkID:   s.chunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")),
		NumSlices: rapid.SampledFrom([]int{-1, 0, 1, 3, 257}).Draw(t, "slices"),
	}
	if s.kind == codec.Repair {
		a.Have, a.Top = rapid.IntRange(-1, 4).Draw(t, "have"), rapid.IntRange(-1, 8).Draw(t, "top")
	} else {
		a.Acked[0] = rapid.Uint64Range(0, 15).Draw(t, "bits")
	}
	return a
}

// The same of the receiver.
func TestReceiverMeetsNothingImpossible(t *testing.T) {
	for _, kind := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			r := newReceiver(kind, 65535)
			for range rapid.IntRange(1, 60).Draw(t, "events") {
				before, due := r.state, r.pending
				r.advance(r.now + rapid.SampledFrom([]core.Micros{0, 1, 5 * core.Second, 9 * core.Second}).Draw(t, "later"))
				switch rapid.IntRange(0, 4).Draw(t, "event") {
				case 0:
					_, _ = r.Read(r.now, nil)
				case 1:
					_, _ = r.Poll(r.now)
					check.That(t, before != ReceiverFailed || due == PendingAcks{}, "a failed receiver has no ack due")
				default:
					n := rapid.IntRange(1, 3).Draw(t, "slices")
					s := someSlice(kind, r.chunkID+uint16(rapid.IntRange(-2, 1).Draw(t, "chunk")), rapid.IntRange(0, n+3*int(kind)).Draw(t, "slice"), n)
					possible(t, receiverMachines[kind], before, receiverGuards[r.sliceGuard(s)])
					r.HandleSlice(r.now, s)
				}
				check.Same(t, "what is wrong", leads(r.row, before, r.state), nil)
			}
		})
	}
}
