package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// connectionVectors are the vectors of sessions and connections.
func connectionVectors(t *testing.T) []testvectors.Vector {
	return slices.Concat(vectorsOf(t, "session-"), vectorsOf(t, "connection-"))
}

// notTakenByConnections are rows, checks and codes that no vector can take, and why.
var notTakenByConnections = map[string]string{
	"J11": "a poll that changes nothing (CXO-10)", "J19": "a poll that changes nothing (CXO-10)", "J28": "a poll that changes nothing (CXO-10)",
	"ended_link": "CXO-4: a datagram that no entry gets is of no trace",
	"CXE-22":     "CXO-4: no address is checked", "address": "CXO-4: no address is checked",
	"unexpected": "a counter of what is of no use; the contract shows the row, or silence",
}

// Every row of the three tables, and every check, is taken by a vector: as the oracles run them,
// not as they say.
func TestEveryConnectionRowIsTaken(t *testing.T) {
	rows, _ := taken(t, connectionVectors(t))
	ids := idsIn(document(t, "CONNECTION.md"), `^\| (?:([IJK]\d+) \||\*\*(CX[HER]-\d+)\*\* \|)`)
	if len(ids) < 44+29+22+16+6+8 {
		t.Errorf("%d rows and checks in the document", len(ids))
	}
	eachIsTaken(t, rows, ids, notTakenByConnections)
}

// Every code of the registry comes from a vector.
func TestEveryConnectionCodeIsGiven(t *testing.T) {
	_, codes := taken(t, connectionVectors(t))
	eachIsTaken(t, codes, codesOf(t, "connection.json"), notTakenByConnections)
}

// withoutConnectionVector are the sentences on what ports do that no vector can test, and why.
var withoutConnectionVector = map[string]string{
	"CXE-22": "CXO-4: no address is checked",
	"CXH-13": "what later versions must keep",
	"CXE-11": "it takes 2^32 datagrams",
	"CXK-13": "what an end forgets",
	"CXS-4":  "the variables; what depends on them has vectors",
	"CXS-15": "what a driver sends to an address",
	"CXS-20": "keys that change, and programs that are asked for them; no step has them",
	"CXM-27": "that asking changes nothing: a step asks for all there is to ask",
	"CXM-24": "when a header is made; what CXM-18 to CXM-20 say of one that does not agree has vectors",
	"CXL-1":  "what identifies a connection; an end in a trace is one",
}

// Every sentence on what vectors can show has one.
func TestConnectionSentencesHaveVectors(t *testing.T) {
	ids := idsIn(document(t, "CONNECTION.md"), `^(?:- |\| )\*\*(CX[HEKCSRML]-\d+)\*\*`)
	if len(ids) < 100 {
		t.Errorf("%d sentences in the document", len(ids))
	}
	eachIsTaken(t, sentencesOf(connectionVectors(t)), ids, withoutConnectionVector)
}

// A vector of connections has one of their levels, by its operation.
func TestLevelsOfConnectionVectors(t *testing.T) {
	var known []testvectors.Vector
	for _, v := range connectionVectors(t) {
		level := map[bool]testvectors.Level{strings.HasPrefix(v.Name, "connection-marks"): testvectors.ConnectionMarks, strings.HasPrefix(v.Name, "connection-clocks"): testvectors.ConnectionClocks}[true]
		if level != "" { // the same operations, of ends that have an extension
			if v.Level != level {
				t.Errorf("%s: level %s", v.Name, v.Level)
			}
		} else if !strings.Contains(string(v.Response), contract.Unsupported) {
			known = append(known, v)
		}
	}
	levelsAreOf(t, known, testvectors.Session, map[string]testvectors.Level{
		sessions.Client.Name: testvectors.SessionClient, sessions.Server.Name: testvectors.SessionServer,
		contract.OpConnectionEncode: testvectors.Connection, contract.OpConnectionDecode: testvectors.Connection,
		connections.Op.Name: testvectors.ConnectionEndpoint, connections.Moves.Name: testvectors.ConnectionMoves,
	})
	if len(known) < 1000 {
		t.Errorf("%d vectors", len(known))
	}
}
