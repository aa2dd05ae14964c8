package packet

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
)

const data, document = "../spec/packets.json", "../spec/PACKETS.md"

// Rows, diagrams and constants are the document's (PKP-5).
func TestTablesAreTheDocuments(t *testing.T) {
	for _, err := range []error{
		tabletest.CheckRows(data, "endpoint", EndpointTable()),
		tabletest.CheckRows(data, "sent", SentTable()),
		tabletest.CheckRows(data, "congestion", CongestionTable()),
		tabletest.CheckDiagram(document, "sent", waits.String(), SentTable()),
		tabletest.CheckDiagram(document, "congestion", Bad.String(), CongestionTable()),
		tabletest.CheckConstants(data, map[string]int64{
			"FRAGMENT_SIZE": DefaultFragmentSize, "MAX_FRAGMENTS": DefaultMaxFragments, "MAX_PACKET": int64(Format{}.MaxPacket()),
			"FRAGMENT_ABOVE": largestAbove, "RECEIVED": defaultReceived, "SENT_MAX": defaultSentMax,
			"REASSEMBLY": defaultReassembly, "REASSEMBLY_PACKETS": defaultPackets, "REASSEMBLY_BYTES": int64(2 * Format{}.MaxPacket()),
			"REASSEMBLY_TIME": int64(ReassemblyTime), "LOST_AFTER": int64(LostAfter), "KEPT": int64(Kept),
			"ACK_EVERY": AckEvery, "ACK_DELAY": int64(AckDelay), "LONGEST_SAMPLE": longestSample, "MIN_RTT_PERIOD": int64(minPeriod),
			"SHOWN": mostSamples, "LONGEST_SHOWN": longestShown,
			"BAD_RTT": int64(BadRTT), "FIRST_RECOVERY": int64(FirstRecovery), "LEAST_RECOVERY": int64(LeastRecovery), "MOST_RECOVERY": int64(MostRecovery),
			"SHORT": int64(ShortGood), "REWARD": int64(Reward), "GOOD_INTERVAL": int64(GoodInterval), "BAD_INTERVAL": int64(BadInterval),
		}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

const (
	asksNoAck   = "a number that asks for no ack is never lost"
	onceOverdue = "a number is overdue once, while it waits"
	overdueIs1  = "a number that waits is overdue before it is old"
	ackedOnce   = "what was acked is not asked again (PKA-2)"
	notKept     = "what is forgotten is not kept, and nothing happens to it"
	inGood      = "a guard of GOOD"
	inBad       = "a guard of BAD"
)

// There is one row for each state and guard that can meet.
func TestTablesAreTotal(t *testing.T) {
	for name, m := range map[string]tabletest.Machine{
		"endpoint": {States: []string{open.String()}, Guards: endpointGuards, Table: EndpointTable()},
		"sent": {
			States: []string{"SENT", "QUIET", "LOST", "ACKED", "FORGOTTEN"}, Guards: sentGuards, Table: SentTable(),
			Impossible: slices.Concat(
				tabletest.Never(sentGuards, "SENT", overdueIs1, isOld),
				tabletest.Never(sentGuards, "QUIET", asksNoAck, isOverdue),
				tabletest.Never(sentGuards, "LOST", onceOverdue, isOverdue),
				tabletest.Never(sentGuards, "ACKED", onceOverdue, isOverdue),
				tabletest.Never(sentGuards, "ACKED", ackedOnce, isAcked),
				tabletest.Never(sentGuards, "FORGOTTEN", notKept, isAcked, isOverdue, isOld, isPushedOut),
			),
		},
		"congestion": {
			States: []string{"BAD", "GOOD"}, Guards: congestionGuards, Table: CongestionTable(),
			Impossible: slices.Concat(
				tabletest.Never(congestionGuards, "BAD", inGood, rewardDue, badSoon, badLater, notBad),
				tabletest.Never(congestionGuards, "GOOD", inBad, notGood, goodFirst, goodEnough, goodNotYet),
			),
		},
	} {
		check.Same(t, name, m.CheckTotal(), nil)
	}
}

func TestNames(t *testing.T) {
	check.Equal(t, "modes", []string{Bad.String(), Good.String()}, []string{"BAD", "GOOD"})
	check.Equal(t, "kinds", []string{EventAcked.String(), EventLost.String()}, []string{"acked", "lost"})
	check.Equal(t, "states", []string{waits.String(), quiet.String(), lost.String(), acked.String(), forgotten.String()}, []string{"SENT", "QUIET", "LOST", "ACKED", "FORGOTTEN"})
}
