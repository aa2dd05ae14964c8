package statemachine

import (
	"fmt"
	"testing"
)

// machineState is a state of either machine.
type machineState interface {
	~uint8
	fmt.Stringer
}

var (
	senderStates   = []SenderState{SenderIdle, SenderSending, SenderFailed}
	receiverStates = []ReceiverState{ReceiverWaiting, ReceiverReceiving, ReceiverReady, ReceiverFailed}

	senderGuards = []Guard{
		SizeValid, SizeInvalid,
		AckForeign, AckNothingNew, AckHold, AckNews, AckAll,
		PollNothing, PollSlice, PollGiveUp,
	}
	receiverGuards = []Guard{
		SliceForeign, SlicePrevious, SliceDuplicate, SliceConflicts, SliceRepins,
		SliceRepinsAndCompletes, SliceAdds, SliceCompletes, SliceEarly,
		ReadAsked,
		PollNothing, PollAck, PollGiveUp,
	}
)

func TestSenderTableIsTheDocuments(t *testing.T) {
	wantEqual(t, "sender's table: the document (-), the code (+)", written(SenderTable()), documentTable(t, "S"))
}

func TestReceiverTableIsTheDocuments(t *testing.T) {
	wantEqual(t, "receiver's table: the document (-), the code (+)", written(ReceiverTable()), documentTable(t, "R"))
}

// written returns a table in the document's words.
func written[S machineState](table []Transition[S]) (rows [][5]string) {
	for _, t := range table {
		rows = append(rows, [5]string{
			t.Row.String(), t.From.String(), t.Event.String(), t.Guard.String(), t.To.String(),
		})
	}
	return rows
}

func TestSenderTableIsTotalAndUnambiguous(t *testing.T) {
	checkTable(t, SenderTable(), senderStates, senderGuards, &senderIndex, senderCannot)
}

func TestReceiverTableIsTotalAndUnambiguous(t *testing.T) {
	checkTable(t, ReceiverTable(), receiverStates, receiverGuards, &receiverIndex, receiverCannot)
}

// checkTable finds exactly one row for each state and guard, but no row of its
// own for a guard that cannot hold in the state.
func checkTable[S machineState](t *testing.T, table []Transition[S], states []S, guards []Guard, ix *index[S], cannot []cannotOccur[S]) {
	matched := map[Row]bool{}
	for _, state := range states {
		for _, g := range guards {
			rows := rowsFor(table, state, g)
			switch {
			case whyNot(cannot, state, g) != "" && (len(rows) == 0 || rows[0].Guard == Always):
				continue
			case len(rows) != 1:
				t.Errorf("%v, %v, %v: rows %v, want exactly one", state, g.Event(), g, rows)
				continue
			}
			matched[rows[0].Row] = true
			if ix[state][g] != rows[0] {
				t.Errorf("%v, %v: the index has %v, want %v", state, g, ix[state][g], rows[0])
			}
		}
	}
	for _, tr := range table {
		if !matched[tr.Row] {
			t.Errorf("row %v can never be taken", tr.Row)
		}
		if tr.Guard != Always && tr.Guard.Event() != tr.Event {
			t.Errorf("row %v: guard %v is not one of event %v", tr.Row, tr.Guard, tr.Event)
		}
	}
}

func rowsFor[S machineState](table []Transition[S], state S, g Guard) (rows []Transition[S]) {
	for _, tr := range table {
		if tr.From == state && tr.Event == g.Event() && (tr.Guard == g || tr.Guard == Always) {
			rows = append(rows, tr)
		}
	}
	return rows
}

func TestRowsAreNumberedInOrder(t *testing.T) {
	for i, tr := range SenderTable() {
		wantEqual(t, "row", tr.Row.String(), fmt.Sprintf("S%d", i+1))
	}
	for i, tr := range ReceiverTable() {
		wantEqual(t, "row", tr.Row.String(), fmt.Sprintf("R%d", i+1))
	}
	wantEqual(t, "number of rows", len(SenderTable())+len(ReceiverTable()), int(lastRow))
	wantEqual(t, "no row", Row(0).String(), "")
}

func TestEveryGuardBelongsToAMachine(t *testing.T) {
	used := map[Guard]bool{}
	for _, g := range append(append([]Guard{}, senderGuards...), receiverGuards...) {
		used[g] = true
	}
	texts := map[string]Guard{}
	for g := Always + 1; g < numGuards; g++ {
		must(t, used[g], "guard "+g.String()+" is used")
		text := g.Event().String() + " " + g.String()
		if other, twice := texts[text]; twice {
			t.Errorf("guards %d and %d are both called %q", g, other, text)
		}
		texts[text] = g
	}
	wantEqual(t, "always", Always.String(), "always")
}

func TestTablesAreCopies(t *testing.T) {
	SenderTable()[0].To = SenderFailed
	ReceiverTable()[0].To = ReceiverFailed
	wantEqual(t, "sender's table", SenderTable()[0].To, SenderSending)
	wantEqual(t, "receiver's table", ReceiverTable()[0].To, ReceiverReady)
}
