package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors"
)

const specPath = "../../spec"

func specification(t *testing.T) documents {
	t.Helper()
	docs, err := readDocuments(specPath, "../../testvectors/files")
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// once makes all files, once for all tests.
var once = sync.OnceValues(func() ([]file, error) {
	docs, err := readDocuments(specPath, "../../testvectors/files")
	if err != nil {
		return nil, err
	}
	return generate(docs, nil)
})

func generated(t *testing.T) []file {
	t.Helper()
	list, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The committed files are those that are generated: once more, and so the same each time.
func TestCommittedFiles(t *testing.T) {
	var out bytes.Buffer
	o := options{dir: "../../testvectors/files", check: true}
	if err := o.put(&out, generated(t), regexp.MustCompile("")); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A request that stands twice is no evidence twice.
func TestNoRequestTwice(t *testing.T) {
	seen := map[string]string{}
	for _, f := range generated(t) {
		for _, v := range f.vectors() {
			if other, ok := seen[string(v.Request)]; ok && v.Request != nil {
				t.Errorf("%s asks what %s asks", v.Name, other)
			}
			seen[string(v.Request)] = v.Name
		}
	}
}

// Every flag is used, and explained in flags.json.
func TestEveryFlagIsUsed(t *testing.T) {
	flags, err := testvectors.Flags()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range generated(t) {
		for _, v := range f.vectors() {
			for _, name := range v.Flags {
				used[name] = true
			}
		}
	}
	for name := range flags {
		if !used[name] {
			t.Errorf("no vector has the flag %s", name)
		}
	}
}

// withoutVector are the sentences on the wire format and the machines that no vector
// can test, and why.
var withoutVector = map[string]string{
	"ENC-5":  "the contract has no request for it: the length of acked is num_slices",
	"FRM-7":  "allows transports something that does not show in a datagram",
	"LAW-4":  "is about memory",
	"LIM-5":  "the values; what uses them has vectors",
	"DEC-16": "a permission for drivers; a port decodes",
	"SND-20": "how an end is configured",
	"SPC-4":  "profiles pass through the contract as figures",
	"SPC-5":  "the values; what uses them has vectors",
	"TIM-2":  "a driver's clock; a trace brings its times along",
	"SND-17": "how both ends are configured; a trace has one",
	"RCV-18": "memory; a trace shows none",
	"SAFE-6": "lanes; a trace has one machine",
	"SND-23": "all that shows is what the scheduler does then (SCH-10)",
}

// Every sentence on the wire format and the machines has a vector, and every row of
// the machines' tables.
func TestSentencesHaveVectors(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range generated(t) {
		for _, v := range f.vectors() {
			for _, id := range v.Sentences {
				seen[id] = true
			}
		}
	}
	families := strings.Fields("LIM BIT SLC ACK FRM LAW ENC DEC ACC SND RCV ACQ AKT SCH RTT GAP TMR BUD SPC CID TIM SAFE LIVE")
	pattern := regexp.MustCompile(`(?m)^(?:- |\| )(?:\*\*([A-Z]{3,4}-\d+)\*\*|([SR]\d+) \|)`)
	for _, m := range pattern.FindAllStringSubmatch(string(document(t, "PROTOCOL.md")), -1) {
		id := m[1] + m[2]
		family, _, isSentence := strings.Cut(id, "-")
		if (!isSentence || slices.Contains(families, family)) && seen[id] == (withoutVector[id] != "") {
			t.Errorf("%s: a vector: %t; why none: %q", id, seen[id], withoutVector[id])
		}
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "contract.json")
	list := generated(t)
	do := func(o options) (string, error) {
		var out bytes.Buffer
		o.dir = dir
		err := o.put(&out, list, regexp.MustCompile("^contract/"))
		return out.String(), err
	}
	change := func(old, new string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	drift := func(want string) {
		t.Helper()
		if out, err := do(options{check: true}); !errors.Is(err, errDrift) || !strings.Contains(out, want) {
			t.Errorf("%v, want %q in:\n%s", err, want, out)
		}
		if _, err := do(options{}); err != nil {
			t.Fatal(err)
		}
		if out, err := do(options{check: true}); err != nil || out != "" {
			t.Errorf("just written, but: %v\n%s", err, out)
		}
	}
	drift("missing")
	change(`"bad_request"`, `"good_request"`)
	drift("good_request")
	change("\n  \"license\"", "\n\n  \"license\"")
	drift("line 5")
	change("contract/unknown-op", "contract/known-op")
	drift("contract/known-op")
	other := filepath.Join(dir, "other.json")
	if err := os.WriteFile(other, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := do(options{check: true}); !errors.Is(err, errDrift) || !strings.Contains(out, "other.json: no group") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBadUsage(t *testing.T) {
	for _, args := range [][]string{{"--fly"}, {"more"}, {"--run", "("}} {
		root := newRoot()
		root.SetArgs(append(args, "--spec="+specPath))
		if err := root.Execute(); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A required trace of a receiver leaves the timing of acks open (TRC-5).
func TestPollsEarly(t *testing.T) {
	for _, c := range []struct {
		script string
		want   bool
	}{
		{"0 slice 0 0/2 : R2\n100ms poll : R22 0:10", false},
		{"0 slice 0 0/2 : R2\n100ms-1 poll : R22 0:10", true},
		{"0 slice 0 0/2 : R2\n99ms slice 0 0/2 : R7\n100ms poll : R22 0:10", false},
		{"0 slice 0 0/1 5 : R1\n0 poll : R25 0:1", false},
		{"0 slice 0 0/1 5 : R1\n1 poll : R25 0:1", true},
		{"0 slice 0 0/1 5 : R1\n0 poll : R25 0:1\n1 slice 1 0/1 5 : R13\n2 poll : R25", true},
		{"0 slice 0 0/1 5 : R1\n0 poll : R25 0:1\n1 read : R16 chunk=5\n2 slice 0 0/1 5 : R3\n3 slice 1 0/1 5 : R1\n3 poll : R25 1:1", false},
	} {
		p := check.Must(chunks.Receiver.Run(strings.Split(c.script, "\n")))
		r := &conform.Recorded{Events: p.Events, Steps: p.Steps}
		if got := pollsEarly(r); got != c.want {
			t.Errorf("%q: %t, want %t", c.script, got, c.want)
		}
	}
}
