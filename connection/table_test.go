package connection

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

const data, document = "../spec/connection.json", "../spec/CONNECTION.md"

// Rows, diagram and constants are the document's (CXP-5).
func TestTableIsTheDocuments(t *testing.T) {
	for _, err := range []error{
		tabletest.CheckRows(data, "connection", Table()),
		tabletest.CheckDiagram(document, "connection", Open.String(), Table()),
		tabletest.CheckConstants(data, map[string]int64{
			"CLOSE_FIRST": int64(CloseFirst), "CLOSE_TIME": int64(CloseTime), "BAD_TICK": int64(BadTick), "BURST": MessageBurst, "TICK": int64(DefaultTick),
			"HOLES": Holes, "FIRST_CREDIT": FirstCredit, "MOST_CREDIT": MostCredit, "INITIAL_WINDOW": InitialWindow, "TRIAL_WAIT": int64(TrialWait),
		}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// There is one row for each state and guard (CXL-2).
func TestTableIsTotal(t *testing.T) {
	var impossible []tabletest.Impossible
	not := func(why string, state State, which ...uint8) {
		for _, g := range which {
			impossible = append(impossible, tabletest.Impossible{State: state.String(), Guard: guards[g], Why: why})
		}
	}
	not("it has not closed", Open, isOver, closeDue, closeOwed)
	not("no ack counts any more", Closing, lies)
	not("its end has come", Closed, lies)
	not("nothing else is sent", Closing, timedOut, hasFailed, packetDue, closeOwed)
	not("its end has come", Closed, timedOut, hasFailed, packetDue, isOver, closeDue)
	m := tabletest.Machine{States: []string{"OPEN", "CLOSING", "CLOSED"}, Guards: guards, Table: Table(), Impossible: impossible}
	check.Same(t, "error", m.CheckTotal(), nil)
}

func TestNames(t *testing.T) {
	check.Equal(t, "states", []string{Open.String(), Closing.String(), Closed.String()}, []string{"OPEN", "CLOSING", "CLOSED"})
	check.Equal(t, "types", []string{TypeClose.String(), TypeSlice.String(), TypeChunkAck.String(), Type(3).String()}, []string{"close", "slice", "chunk ack", "unknown"})
	check.Equal(t, "events", []string{NoEvent.String(), Accepted.String(), Moved.String()}, []string{"none", "accepted", "moved"})
}

// Nothing is rounded away, the budget never holds more than the burst, and at says when it is
// not below 0 any more (CXM-4).
func TestBudget(t *testing.T) {
	b := budget{left: burst}
	b.spend(MessageBurst)
	check.That(t, b.some() && b.left == 0, "the burst is spent")
	b.spend(1)
	check.That(t, !b.some(), "it is overdrawn")
	const rate = 3_000_000
	check.Same(t, "time", b.at(rate), core.Micros(3)) // 8 bits at 3 bits a microsecond
	b.refill(2, rate)
	check.That(t, !b.some(), "not yet")
	b.refill(3, rate)
	check.That(t, b.some() && b.left == 1_000_000, "a bit is left")
	check.Same(t, "time", b.at(rate), core.Micros(3))
	b.refill(core.Never-1, rate)
	check.Same(t, "most", b.left, burst)
}

// The session ends a connection in any state, without a word (K20 to K22).
func TestTheSessionEndsIt(t *testing.T) {
	why := errors.New("replaced")
	for state, row := range map[State]core.Row{Open: "K20", Closing: "K21", Closed: "K22"} {
		link := session.NewLink(session.LinkConfig{Mode: session.CRC, Agreed: session.Agreed{Link: 1, Timeout: core.Second}})
		c := check.Must(NewConn(Config{}, link, ServerSide, 0))
		if state != Open {
			check.Same(t, "error", c.Close(0, 0, ""), nil)
		}
		if state == Closed {
			c.end(0, nil)
		}
		c.end(0, why)
		check.Same(t, "row", c.Row(), row)
		check.Same(t, "state", c.State(), Closed)
		check.Equal(t, "error", c.Err() == why, state == Open)
		_, ok := c.Poll(0, nil)
		check.That(t, !ok && c.Deadline() == core.Never, "nothing is said")
	}
}
