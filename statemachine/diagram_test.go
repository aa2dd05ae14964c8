package statemachine

import (
	"fmt"
	"strings"
	"testing"
)

// diagramOf draws a machine: a line for each pair of states, in the order of
// the first row that leads from the one to the other.
func diagramOf[S interface {
	~uint8
	fmt.Stringer
}](table []Transition[S], initial S) string {
	type arrow struct{ from, to S }
	var order []arrow
	rows := map[arrow][]string{}
	for _, t := range table {
		a := arrow{t.From, t.To}
		if rows[a] == nil {
			order = append(order, a)
		}
		rows[a] = append(rows[a], t.Row.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n    [*] --> %v\n", initial)
	for _, a := range order {
		fmt.Fprintf(&b, "    %v --> %v: %s\n", a.from, a.to, strings.Join(rows[a], ", "))
	}
	return b.String()
}

func TestTheDrawingFollowsItsRules(t *testing.T) {
	got := diagramOf([]Transition[SenderState]{
		{S2RefuseSize, SenderIdle, EventSubmit, SizeInvalid, SenderIdle},
		{S1Start, SenderIdle, EventSubmit, SizeValid, SenderSending},
		{S15GiveUp, SenderSending, EventPoll, PollGiveUp, SenderFailed},
		{S5IdleAck, SenderIdle, EventAck, Always, SenderIdle},
	}, SenderIdle)
	wantEqual(t, "diagram", got, `stateDiagram-v2
    [*] --> IDLE
    IDLE --> IDLE: S2, S5
    IDLE --> SENDING: S1
    SENDING --> FAILED: S15
`)
}

func TestSenderDiagramIsTheDocuments(t *testing.T) {
	compareDiagram(t, "sender", diagramOf(SenderTable(), NewSender(SenderConfig{}).State()))
}

func TestReceiverDiagramIsTheDocuments(t *testing.T) {
	compareDiagram(t, "receiver", diagramOf(ReceiverTable(), NewReceiver(ReceiverConfig{}).State()))
}

func compareDiagram(t *testing.T, name, want string) {
	t.Helper()
	if got, found := documentDiagram(t, name); !found || got != want {
		t.Fatalf("%s must hold this block:\n<!-- diagram: %s -->\n```mermaid\n%s```\nits block is:\n%s",
			documentPath, name, want, got)
	}
}
