package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// repairVectors are the vectors of repair slices.
func repairVectors(t *testing.T) []testvectors.Vector { return vectorsOf(t, "repair-") }

// Every row of both tables, and every check of the decoder and the encoder, is taken by a
// vector.
func TestEveryRepairRowIsTaken(t *testing.T) {
	rows, _ := taken(t, repairVectors(t))
	ids := idsIn(document(t, "REPAIR.md"), `^(?:\| ([TU]\d+) \||\| \*\*(RPD-\d+)\*\* \||\| (DEC-\d+) \||- \*\*(RPE-[1-5])\*\*)`)
	if len(ids) != 16+29+15+5 {
		t.Errorf("%d rows and checks in the document", len(ids))
	}
	eachIsTaken(t, rows, ids, nil)
}

// Every code of the registry comes from a vector.
func TestEveryRepairCodeIsGiven(t *testing.T) {
	_, codes := taken(t, repairVectors(t))
	for _, v := range vectorsOf(t, "repair-contract") {
		countCodes(valueOf(v.Response), codes)
	}
	eachIsTaken(t, codes, codesOf(t, "repair.json"), nil)
}

// withoutRepairVector are the sentences that no vector can test, and why.
var withoutRepairVector = map[string]string{
	"RPN-6":  "the values; what uses them has vectors",
	"RPC-7":  "how senders share repair slices; their bytes are the same anyhow",
	"RPX-9":  "what any scheduler must do; the rule has vectors",
	"RPX-10": "what any scheduler must do; the rule has vectors",
	"RPX-12": "a wait for an address that is not proven: the driver's",
	"RPR-14": "memory",
	"RPI-1":  "protocol ids of lanes: the driver's",
	"RPI-2":  "protocol ids of lanes: the driver's",
	"RPI-5":  "who begins a connection: the driver's",
	"RPO-10": "a port without a rule",
	"RPO-11": "the levels",
}

// Every sentence on what vectors can show has one.
func TestRepairSentencesHaveVectors(t *testing.T) {
	ids := idsIn(document(t, "REPAIR.md"), `^(?:- |\| )\*\*(RP[NCSAEDXRKLIO]-\d+)\*\*`)
	if len(ids) < 70 {
		t.Errorf("%d sentences in the document", len(ids))
	}
	eachIsTaken(t, sentencesOf(vectorsOf(t, "")), ids, withoutRepairVector)
}

// There are enough of them, and those of a sender with a profile are of the rule's level.
func TestLevelsOfRepairVectors(t *testing.T) {
	vectors := repairVectors(t)
	if len(vectors) < 1000 {
		t.Errorf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		var q struct {
			Op     string
			Config struct{ Profile *struct{} }
		}
		if strings.HasPrefix(v.Name, "repair-contract/") || json.Unmarshal(v.Request, &q) != nil {
			continue
		}
		want := testvectors.Repair
		switch {
		case strings.HasPrefix(q.Op, "connection"):
			want = testvectors.RepairConnection
		case q.Op == contract.OpRepairSender && q.Config.Profile != nil:
			want = testvectors.RepairRule
		case q.Op == contract.OpRepairSender:
			want = testvectors.RepairSender
		}
		if v.Level != want {
			t.Errorf("%s: level %s, want %s", v.Name, v.Level, want)
		}
	}
}
