package channel

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
)

const data, document = "../spec/channels.json", "../spec/CHANNELS.md"

// Rows, diagrams and constants are the document's (CHP-5).
func TestTablesAreTheDocuments(t *testing.T) {
	for _, err := range []error{
		tabletest.CheckRows(data, "channel-sender", SenderTable()),
		tabletest.CheckRows(data, "channel-receiver", ReceiverTable()),
		tabletest.CheckDiagram(document, "channel-sender", Open.String(), SenderTable()),
		tabletest.CheckDiagram(document, "channel-receiver", Open.String(), ReceiverTable()),
		tabletest.CheckConstants(data, map[string]int64{
			"WINDOW": DefaultWindow, "DATA": DefaultData, "GROUP": DefaultGroup, "SEND_QUEUE": DefaultSendQueue, "GIVE_UP": int64(DefaultGiveUp),
			"FRESH": Fresh, "MOST_GROUPS": MostGroups, "MOST_SKIP": mostSkipped, "PAYLOAD": LargestPayload, "OVERTAKEN": Overtaken,
			"HOLD_MARGIN": int64(holdMargin), "HOLD_UNMEASURED": int64(holdUnmeasured), "PROBE_MARGIN": int64(probeMargin), "PROBE_SOON": int64(probeSoon), "LEAST_CAP": int64(leastCap),
			"REPEAT_LEAST": int64(repeatLeast), "REPEAT_UNMEASURED": int64(repeatUnmeasured), "BACKOFF_MOST": backoffMost,
			"REPORT_DELAY": int64(ReportDelay), "REPORT_SPACING": int64(ReportSpacing),
		}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// There is one row for each state and guard.
func TestTablesAreTotal(t *testing.T) {
	both := []string{"OPEN", "FAILED"}
	for name, m := range map[string]tabletest.Machine{
		"sender":   {States: both, Guards: senderGuards, Table: SenderTable()},
		"receiver": {States: both, Guards: receiverGuards, Table: ReceiverTable()},
	} {
		check.Same(t, name, m.CheckTotal(), nil)
	}
}

func TestNames(t *testing.T) {
	check.Equal(t, "states", []string{Open.String(), Failed.String()}, []string{"OPEN", "FAILED"})
	check.Equal(t, "kinds", []string{Ordered.String(), Unordered.String(), Unreliable.String()}, []string{"ordered", "unordered", "unreliable"})
	for typ, want := range []string{"pad", "unreliable", "message", "fragment", "skip", "report", "status", "unknown"} {
		check.Equal(t, "type", Type(typ).String(), want)
	}
}
