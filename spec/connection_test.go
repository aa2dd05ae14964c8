package spec_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
)

// The examples of CONNECTION.md are requests to a port, each with its response behind it
// (CXO-1 to CXO-13).
func TestConnectionExamplesAreWhatAPortAnswers(t *testing.T) {
	checkExamples(t, "CONNECTION.md", map[string]int{
		"session_encode": 6, "session_decode": 8, "session_cookie": 1, "session_keys": 2, "session_seal": 5, "session_open": 8,
		"connection_encode": 1, "connection_decode": 6,
	})
}

// The hello of section 4.1, field by field, is that of its PROOF (CXH-2, CXK-1).
func TestHelloOfTheDocument(t *testing.T) {
	hello, m := "", exampleProof(t)
	for _, row := range rows(t, "CONNECTION.md", "| Bytes | Field |") {
		hello += strings.ReplaceAll(row[0], " ", "")
	}
	datagram, err := m.Append(nil)
	if err != nil || !strings.HasPrefix(hex.EncodeToString(datagram), hello) || len(hello) != 2*97 {
		t.Errorf("%x, %v, want %s", datagram, err, hello)
	}
}

// exampleProof returns the PROOF of section 4.1, which is an example of the decoder.
func exampleProof(t *testing.T) session.Message {
	t.Helper()
	_, rest, found := strings.Cut(documentText(t, "CONNECTION.md"), `"op":"session_decode","hex":"4a`)
	if !found {
		t.Fatal("the document decodes no PROOF")
	}
	text, _, _ := strings.Cut(rest, `"`)
	datagram, err := hex.DecodeString("4a" + text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := session.Decode(datagram)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Constants that follow from others (CXP-5).
func TestConstantsOfConnectionsFitTogether(t *testing.T) {
	c, packets := constantsOf(t, "connection.json"), constantsOf(t, "packets.json")
	const head, aeadTag, fragmentHead, header, headers = 9, 16, 5, 9, 48
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"a client proves no cookie that a server finds too old, if it is on its way for less than a second", c["COOKIE_LIFE"]-c["COOKIE_USE"] >= 1_000_000},
		{"a half-open connection outlives the cookies of its proofs", c["HALF_OPEN"] >= c["COOKIE_LIFE"]},
		{"so does the memory of one that ended", c["REMEMBER"] >= c["COOKIE_LIFE"]},
		{"challenges of one LINK after another are kept for two seconds", c["KEPT_CHALLENGES"]*c["LINK_INTERVAL"] >= 2_000_000},
		{"they are proved before the next one comes", c["PROOF_SPACING"] < c["LINK_INTERVAL"]},
		{"a refusal stands while LINK is sent four times", c["REFUSE_WAIT"] >= 4*c["LINK_INTERVAL"]},
		{"the last CLOSE goes before CLOSING is over", 31*c["CLOSE_FIRST"] < c["CLOSE_TIME"]},
		{"the largest body fits", head+fragmentHead+header+packets["FRAGMENT_ABOVE"]+aeadTag <= c["LARGEST_DATAGRAM"]},
		{"the largest datagram fits IPv6's least MTU", c["LARGEST_DATAGRAM"]+headers <= 1280},
		{"a burst is more than a packet", c["BURST"] > c["LARGEST_DATAGRAM"]},
		{"BAD has the interval of the packet layer", c["BAD_TICK"] == packets["BAD_INTERVAL"]},
		{"ticks are more frequent than LINKs", c["TICK"] < c["LINK_INTERVAL"]},
	} {
		if !check.ok {
			t.Errorf("%s: %v", check.what, c)
		}
	}
}

// The records of section 7 are decoded and encoded so (CXR-1 to CXR-3, CXR-7).
func TestRecordsOfConnections(t *testing.T) {
	table := rows(t, "CONNECTION.md", "| Record | Bytes | What it shows |")
	types := map[string]connection.Type{"CLOSE": connection.TypeClose, "SLICE": connection.TypeSlice, "CHUNK_ACK": connection.TypeChunkAck}
	if len(table) != len(types) {
		t.Errorf("%d records", len(table))
	}
	format := connection.Format{Lanes: 2}
	for _, row := range table {
		payload, err := hex.DecodeString(strings.ReplaceAll(row[1], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var r connection.Record
		next, err := format.Decode(payload, 0, &r)
		if name, _, _ := strings.Cut(row[0], " "); err != nil || next != len(payload) || r.Type != types[name] {
			t.Errorf("%v: %v, %d, %v", row, r, next, err)
		}
		if again, err := format.Append(nil, &r); err != nil || !bytes.Equal(again, payload) {
			t.Errorf("%v: %x, %v", row, again, err)
		}
	}
}

// The registry of CONNECTION.md has the codes of packages session and connection; those of the
// bodies of slices and acks are PROTOCOL.md's.
func TestCodesOfConnectionsAreTheCodes(t *testing.T) {
	of := codesOf(t, "../connection/session/errors.go")
	others := slices.DeleteFunc(codesOf(t, "../connection/errors.go"), func(code string) bool { return slices.Contains(of, code) })
	checkCodes(t, "connection.json", "../connection/session/errors.go", others...)
}

// Each attacker of section 11.2, and each fault of section 5.3 of the rationale, has its tests.
func TestAttackersHaveTests(t *testing.T) {
	known := testNames(t, "../transport", "../transport/attack", "../connection/session", "../connection", "../conform/sim/handshake", "../cmd/chunkwire")
	attackers := rows(t, "CONNECTION.md", "| Id | Attack | What happens | By | Test |")
	faults := rows(t, "RATIONALE.md", "| Id | Fault of the chunk protocol alone | In a connection | Excluded by | Test |")
	if len(attackers) != 28 || len(faults) != 14 {
		t.Errorf("%d attackers, %d faults", len(attackers), len(faults))
	}
	for _, row := range append(attackers, faults...) {
		for name := range strings.SplitSeq(row[len(row)-1], ", ") {
			if !known[name] {
				t.Errorf("%s: there is no test %s", row[0], name)
			}
		}
	}
}

// testNames returns the names of the tests of some folders.
func testNames(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(folder + "/*_test.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllSubmatch(code, -1) {
				names[string(m[1])] = true
			}
		}
	}
	return names
}
