package session

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/internal/table"
)

const data, document = "../../spec/connection.json", "../../spec/CONNECTION.md"

// Rows, diagrams and constants are the document's (CXP-5).
func TestTablesAreTheDocuments(t *testing.T) {
	for _, err := range []error{
		tabletest.CheckRows(data, "session-client", ClientTable()),
		tabletest.CheckRows(data, "session-server", ServerTable()),
		tabletest.CheckDiagram(document, "session-client", Linking.String(), ClientTable()),
		tabletest.CheckDiagram(document, "session-server", Free.String(), ServerTable()),
		tabletest.CheckConstants(data, map[string]int64{
			"LINK_INTERVAL": int64(LinkInterval), "LINK_FAST": int64(LinkFast), "LINK_SLOW": int64(LinkSlow),
			"PROOF_SPACING": int64(ProofSpacing), "KEPT_CHALLENGES": KeptChallenges, "COOKIE_USE": int64(CookieUse), "COOKIE_LIFE": int64(CookieLife),
			"REFUSE_WAIT": int64(RefuseWait), "HALF_OPEN": int64(HalfOpen), "REMEMBER": int64(Remember), "REPLAY": Replay,
			"MAX_CONNECTIONS": DefaultMaxConnections, "LARGEST_DATAGRAM": LargestDatagram,
		}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func impossible(all []table.Guard, why string, guards ...uint8) func(states ...string) []tabletest.Impossible {
	return func(states ...string) (list []tabletest.Impossible) {
		for _, state := range states {
			for _, g := range guards {
				list = append(list, tabletest.Impossible{State: state, Guard: all[g], Why: why})
			}
		}
		return list
	}
}

// There is one row for each state and guard that can meet.
func TestTablesAreTotal(t *testing.T) {
	client := tabletest.Machine{
		States: []string{"LINKING", "OPEN", "RELINKING", "CLOSED"}, Guards: clientGuards, Table: ClientTable(),
		Impossible: slices.Concat(
			impossible(clientGuards, "only what is open falls silent", isSilent)("LINKING", "RELINKING"),
			impossible(clientGuards, "no attempt to link goes on", refusalStands, proofDue, linkDue)("OPEN"),
			impossible(clientGuards, "there is no key yet", anyData)("LINKING"),
		),
	}
	check.Same(t, "client", client.CheckTotal(), nil)
	server := tabletest.Machine{
		States: []string{"FREE", "UNCONFIRMED", "CONFIRMED", "ENDED"}, Guards: entryGuards, Table: ServerTable(),
		Impossible: slices.Concat(
			impossible(entryGuards, "there is no entry", proofOld, proofHello, proofResumesIt, proofBegins, anyEntryData, pollHalfOpen, pollRemembered, pollOther, anyEnd)("FREE"),
			impossible(entryGuards, "the guards of a connection that lives are others", proofResumes, proofNoRoom)("UNCONFIRMED", "CONFIRMED"),
			impossible(entryGuards, "the guards of a connection that lives are others", proofResumesIt, proofBegins)("ENDED"),
			impossible(entryGuards, "it did not end", pollRemembered)("UNCONFIRMED"),
			impossible(entryGuards, "it was confirmed, or is over", pollHalfOpen)("ENDED"),
		),
	}
	check.Same(t, "server", server.CheckTotal(), nil)
}

func TestNames(t *testing.T) {
	check.Equal(t, "modes", []string{CRC.String(), MAC.String(), AEAD.String(), Mode(0).String(), Mode(0x43).String()}, []string{"crc", "mac", "aead", "unknown mode", "unknown mode"})
	var kinds, reasons, events []string
	for _, k := range []Kind{0x3f, KindCRC, KindAEAD, 0x43, KindLink, KindChallenge, KindProof, KindLinked, KindRefused, 0x4d} {
		kinds = append(kinds, k.String())
	}
	check.Equal(t, "kinds", kinds, []string{"unknown", "DATA", "DATA", "unknown", "LINK", "CHALLENGE", "PROOF", "LINKED", "REFUSED", "unknown"})
	for r := range Reason(11) {
		reasons = append(reasons, r.String())
	}
	check.Equal(t, "reasons", reasons, []string{"reason 0", "full", "identity", "version", "protocol", "mode", "format", "variant", "closed", "replaced", "reason 10"})
	for k := NoEvent; k <= EventEnded; k++ {
		events = append(events, k.String())
	}
	check.Equal(t, "events", events, []string{"none", "challenged", "refused", "made", "answered", "moved", "confirmed", "ended"})
}

// Statistics of what does not occur are 0.
func TestCountsOfNothing(t *testing.T) {
	var s ServerStats
	check.Equal(t, "counts", []int64{s.Silent("nonsense"), s.Silent(CodeTag), s.Refused(0), s.Refused(10), s.Refused(200), s.Refused(Full)}, make([]int64, 6))
}
