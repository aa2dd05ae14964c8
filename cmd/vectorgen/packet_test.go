package main

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors"
)

// packetVectors are the vectors of the packet layer.
func packetVectors(t *testing.T) []testvectors.Vector { return vectorsOf(t, "packet-") }

// notTakenByVectors are rows, checks and codes that no vector can take, and why.
var notTakenByVectors = map[string]string{
	"PKD-10": "its steps are those of PKD-14",
	"PKD-12": "the order of the others",
	"PKD-13": "about memory and termination",
}

// Every row of the three tables, and every check of the decoder, is taken by a vector:
// as the oracle runs them, not as they say.
func TestEveryPacketRowIsTaken(t *testing.T) {
	rows, _ := taken(t, packetVectors(t))
	ids := idsIn(document(t, "PACKETS.md"), `^\| (?:([PLC]\d+) \||\*\*(PKD-\d+)\*\* \|)|^- \*\*(PKD-\d+)\*\*`)
	if len(ids) != 13+11+8+14 {
		t.Errorf("%d rows and checks in the document", len(ids))
	}
	eachIsTaken(t, rows, ids, notTakenByVectors)
}

// Every code of the registry comes from a vector.
func TestEveryPacketCodeIsGiven(t *testing.T) {
	_, codes := taken(t, packetVectors(t))
	codes["invalid_field"]++ // of packet_header; the oracle has no such request
	eachIsTaken(t, codes, codesOf(t, "packets.json"), notTakenByVectors)
}

// withoutPacketVector are the sentences on the wire format, the endpoint and congestion
// avoidance that no vector can test, and why.
var withoutPacketVector = map[string]string{
	"PKN-4":  "a driver's clock; a trace brings its times along",
	"PKP-5":  "the values; what uses them has vectors",
	"PKD-13": "memory and reads beyond the end; what comes of them has vectors",
	"PKX-1":  "memory; a trace shows none",
	"PKS-4":  "an endpoint of packets alone leaves no number out; a connection with a seed does (connection-lies)",
	"PKC-3":  "a driver's cadence; the contract has no request for it",
	"PKI-6":  "a driver's order of events",
	"PKI-7":  "how both ends are configured; a trace has one",
	"PKO-1":  "which operations there are",
	"PKO-3":  "the form of a response that many vectors have",
}

// Every sentence on what vectors can show has one.
func TestPacketSentencesHaveVectors(t *testing.T) {
	ids := idsIn(document(t, "PACKETS.md"), `^(?:- |\| )\*\*(PK[NPTFDSRXALCIO]-\d+)\*\*`)
	if len(ids) < 60 {
		t.Errorf("%d sentences in the document", len(ids))
	}
	eachIsTaken(t, sentencesOf(packetVectors(t)), ids, withoutPacketVector)
}

// A vector of the packet layer has one of its levels, by its operation.
func TestLevelsOfPacketVectors(t *testing.T) {
	vectors := packetVectors(t)
	levelsAreOf(t, vectors, testvectors.Packets, map[string]testvectors.Level{packets.Endpoint.Name: testvectors.PacketsEndpoint, packets.Path.Name: testvectors.PacketsPath})
	if len(vectors) < 600 {
		t.Errorf("%d vectors", len(vectors))
	}
}
