package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/oracle/packet"
)

// packetVectors are the vectors of the packet layer.
func packetVectors(t *testing.T) []testvectors.Vector { return vectorsOf(t, "packet-") }

// vectorsOf are those of the files whose names begin so.
func vectorsOf(t *testing.T, prefix string) (list []testvectors.Vector) {
	t.Helper()
	for _, f := range generated(t) {
		if strings.HasPrefix(f.name, prefix) {
			list = append(list, f.vectors()...)
		}
	}
	return list
}

// taken counts the rows that the oracle takes, and the checks and codes with which it
// refuses.
func taken(t *testing.T, vectors []testvectors.Vector) (rows, codes map[string]int) {
	t.Helper()
	rows, codes = map[string]int{}, map[string]int{}
	refused := func(e *packet.Error) {
		if e != nil {
			rows[e.Check]++
			codes[e.Code]++
		}
	}
	for _, v := range vectors {
		if strings.HasPrefix(v.Name, "packet-contract/") {
			continue // about the port
		}
		var h contract.Header
		if err := json.Unmarshal(v.Request, &h); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		switch h.Op {
		case contract.OpPacketDecode:
			q := request[contract.PacketDecodeRequest](t, v)
			_, err := decodeResponse(q)
			refused(err)
		case contract.OpPacketEndpoint:
			q := request[contract.EndpointRequest](t, v)
			for _, step := range endpointSteps(q.Config, q.Events) {
				refused(step.Refused)
				for _, row := range step.Rows {
					rows[row]++
				}
			}
		case contract.OpPacketCongestion:
			_, list := congestionSteps(request[contract.CongestionRequest](t, v))
			for _, row := range slices.Concat(list...) {
				rows[row]++
			}
		}
	}
	return rows, codes
}

func request[Q any](t *testing.T, v testvectors.Vector) (q Q) {
	t.Helper()
	if err := json.Unmarshal(v.Request, &q); err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return q
}

// notTakenByVectors are rows, checks and codes that no vector can take, and why.
var notTakenByVectors = map[string]string{
	"P5":      "the layer above refuses nothing (PKO-4)",
	"P12":     "the layer above refuses nothing (PKO-4)",
	"PKD-10":  "its steps are those of PKD-14",
	"PKD-12":  "the order of the others",
	"PKD-13":  "about memory and termination",
	"refused": "the layer above refuses nothing (PKO-4)",
}

// Every row of the three tables, and every check of the decoder, is taken by a vector:
// as the oracle runs them, not as they say.
func TestEveryPacketRowIsTaken(t *testing.T) {
	rows, _ := taken(t, packetVectors(t))
	found := regexp.MustCompile(`(?m)^\| (?:([PLC]\d+) \||\*\*(PKD-\d+)\*\* \|)|^- \*\*(PKD-\d+)\*\*`).FindAllSubmatch(specification(t).packets, -1)
	if len(found) != 13+11+8+14 {
		t.Errorf("%d rows and checks in the document", len(found))
	}
	for _, m := range found {
		id := string(m[1]) + string(m[2]) + string(m[3])
		if (rows[id] > 0) == (notTakenByVectors[id] != "") {
			t.Errorf("%s: %d times; why not: %q", id, rows[id], notTakenByVectors[id])
		}
	}
}

// Every code of the registry comes from a vector.
func TestEveryPacketCodeIsGiven(t *testing.T) {
	_, codes := taken(t, packetVectors(t))
	codes["invalid_field"]++ // of packet_header; the oracle has no such request
	text, err := os.ReadFile("../../spec/packets.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Codes []struct{ Code string } }
	if err := json.Unmarshal(text, &document); err != nil || len(document.Codes) < 15 {
		t.Fatalf("%d codes, %v", len(document.Codes), err)
	}
	for _, c := range document.Codes {
		if (codes[c.Code] > 0) == (notTakenByVectors[c.Code] != "") {
			t.Errorf("%s: %d times; why not: %q", c.Code, codes[c.Code], notTakenByVectors[c.Code])
		}
	}
}

// withoutPacketVector are the sentences on the wire format, the endpoint and congestion
// avoidance that no vector can test, and why.
var withoutPacketVector = map[string]string{
	"PKN-4":  "a driver's clock; a trace brings its times along",
	"PKP-5":  "the values; what uses them has vectors",
	"PKD-13": "memory and reads beyond the end; what comes of them has vectors",
	"PKX-1":  "memory; a trace shows none",
	"PKL-7":  "variables; the contract shows neither, and silent is given",
	"PKL-8":  "estimates; the contract shows none",
	"PKC-3":  "a driver's cadence; the contract has no request for it",
	"PKC-8":  "the deadline; the contract does not show it",
	"PKI-4":  "the deadline; the contract does not show it",
	"PKI-6":  "a driver's order of events",
	"PKI-7":  "how both ends are configured; a trace has one",
	"PKO-1":  "which operations there are",
	"PKO-3":  "the form of a response that many vectors have",
}

// Every sentence on what vectors can show has one.
func TestPacketSentencesHaveVectors(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range packetVectors(t) {
		for _, id := range v.Sentences {
			seen[id] = true
		}
	}
	found := regexp.MustCompile(`(?m)^(?:- |\| )\*\*(PK[NPTFDSRXALCIO]-\d+)\*\*`).FindAllSubmatch(specification(t).packets, -1)
	if len(found) < 60 {
		t.Errorf("%d sentences in the document", len(found))
	}
	for _, m := range found {
		if id := string(m[1]); seen[id] == (withoutPacketVector[id] != "") {
			t.Errorf("%s: a vector: %t; why none: %q", id, seen[id], withoutPacketVector[id])
		}
	}
}

// A vector of the packet layer has one of its levels, by its operation.
func TestLevelsOfPacketVectors(t *testing.T) {
	count := 0
	for _, v := range packetVectors(t) {
		var h contract.Header
		_ = json.Unmarshal(v.Request, &h)
		want := testvectors.Packets
		if h.Op == contract.OpPacketEndpoint {
			want = testvectors.PacketsEndpoint
		}
		if v.Level != want {
			t.Errorf("%s: level %s, want %s", v.Name, v.Level, want)
		}
		count++
	}
	if count < 600 {
		t.Errorf("%d vectors", count)
	}
}

// A vector with which the package does not agree is found.
func TestDisagreementIsFound(t *testing.T) {
	groups, err := testvectors.Groups()
	if err != nil {
		t.Fatal(err)
	}
	flags, err := testvectors.Flags()
	if err != nil {
		t.Fatal(err)
	}
	g := newGroup(groups[slices.IndexFunc(groups, func(g testvectors.Group) bool { return g.Name == "packet-header" })], flags)
	g.headerExamples()
	if err := g.disagrees(); err != nil {
		t.Error(err)
	}
	q := contract.PacketHeaderRequest{Op: contract.OpPacketHeader, Sequence: 1}
	a := headerResponse(q)
	*a.Hex = "00" + (*a.Hex)[2:]
	g.addPair("wrong", about{"c", "row", "PKT-1"}, q, a)
	if err := g.disagrees(); err == nil || !strings.Contains(err.Error(), "packet-header/wrong") {
		t.Errorf("%v", err)
	}
}
