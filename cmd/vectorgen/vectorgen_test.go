package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const specPath = "../../spec/PROTOCOL.md"

func specification(t *testing.T) []byte {
	t.Helper()
	spec, err := os.ReadFile(specPath)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func generated(t *testing.T) []file {
	t.Helper()
	list, err := generate(specification(t))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The committed files are those that are generated.
func TestCommittedFiles(t *testing.T) {
	var out bytes.Buffer
	o := options{dir: "../../testvectors/files", spec: specPath, check: true}
	if err := o.do(&out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestGeneratesTheSameAgain(t *testing.T) {
	one, two := generated(t), generated(t)
	for i := range one {
		if one[i].acc != nil {
			continue // its hashes take long
		}
		a, err := one[i].full()
		b, err2 := two[i].full()
		if err = errors.Join(err, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs, %v", one[i].name, err)
		}
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

func TestEveryMistakeIsLookedFor(t *testing.T) {
	s := count(generated(t), regexp.MustCompile(""))
	for name := range mistakes {
		if s.flags[name] == 0 {
			t.Errorf("no vector has the flag %s", name)
		}
	}
}

// Of the sentences on the wire format, those that are not about a network or a
// whole implementation have a vector.
func TestWireSentencesHaveVectors(t *testing.T) {
	spec := specification(t)
	s := count(generated(t), regexp.MustCompile(""))
	without := map[string]string{
		"ENC-5": "the contract has no request for it: the length of acked is num_slices",
		"FRM-7": "allows transports something that does not show in a datagram",
		"LAW-4": "is about memory",
	}
	for _, id := range sentencesOf(spec) {
		wire := slices.Contains([]string{"LIM", "BIT", "SLC", "ACK", "FRM", "LAW", "ENC", "DEC", "ACC"}, id[:3])
		if wire && (s.sentences[id] == 0) != (without[id] != "") {
			t.Errorf("%s has %d vectors; the reason for none is %q", id, s.sentences[id], without[id])
		}
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "contract.json")
	do := func(o options) (string, error) {
		var out bytes.Buffer
		o.dir, o.spec, o.run = dir, specPath, "^contract/"
		err := o.do(&out)
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
	stranger := filepath.Join(dir, "other.json")
	if err := os.WriteFile(stranger, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := do(options{check: true}); !errors.Is(err, errDrift) || !strings.Contains(out, "other.json: no group") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestListAndStats(t *testing.T) {
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		root := newRoot()
		root.SetOut(&out)
		root.SetArgs(doubleDash(root, append(args, "-spec="+specPath)))
		err := root.Execute()
		return out.String(), err
	}
	if out, err := run("-list", "--run", "refuse-body/ack-cut-to-0"); err != nil || strings.Count(out, "\n") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := run("--stats", "--run", "accumulated|^bits/chunk-id-1234")
	if err != nil || !strings.Contains(out, "bits.json") || !strings.Contains(out, "without: TIM-1") || strings.Contains(out, "BIT-1 ") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"--list", "--check"}, {"--fly"}, {"more"}, {"--run", "("}} {
		if _, err := run(args...); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestDoubleDash(t *testing.T) {
	got := doubleDash(newRoot(), []string{"-check", "--list", "-run=x", "-h", "-dir", "-x"})
	want := []string{"--check", "--list", "--run=x", "-h", "--dir", "-x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
