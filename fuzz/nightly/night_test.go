package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// scratch is a module with targets of every kind, two packages deep.
var scratch = map[string]string{
	"go.mod": "module example.com/scratch\n\ngo 1.25\n",
	"good/good_test.go": `package good

import "testing"

func FuzzGood(f *testing.F) {
	f.Add([]byte("seed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		switch n := len(data); { // new ways are easy to find
		case n < 2:
			t.Log("short")
		case n > 8:
			t.Log("long")
		case data[0]%2 == 0:
			t.Log("even")
		}
	})
}
`,
	"deep/bad/bad_test.go": `package bad

import "testing"

func FuzzBad(f *testing.F) {
	f.Add([]byte("12345"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 5 {
			t.Fatal("more than five bytes")
		}
	})
}

func FuzzSeed(f *testing.F) {
	f.Add([]byte("good"))
	f.Add([]byte("bad"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if string(data) == "bad" {
			t.Fatal("a seed fails")
		}
	})
}
`,
	"hung/hung_test.go": `package hung

import "testing"

func FuzzHung(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for len(data) > 1 {
		}
	})
}
`,
}

func writeModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range scratch {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// bench is a night in the scratch module, with folders of its own.
func bench(t *testing.T, match string) (root string, o options) {
	t.Helper()
	root = writeModule(t)
	aside := t.TempDir()
	return root, options{
		total: 3000, slice: time.Second, hang: time.Minute, parallel: 2, targets: regexp.MustCompile(match),
		corpus: filepath.Join(aside, "corpus"), finds: filepath.Join(aside, "finds"), record: filepath.Join(aside, "record.md"),
	}
}

// A package that does not build is told of; the targets of the others are found.
func TestFindTargets(t *testing.T) {
	root := writeModule(t)
	broken := filepath.Join(root, "deep", "broken_test.go")
	if err := os.WriteFile(broken, []byte("package deep\n\nimport \"testing\"\n\nfunc FuzzBroken(f *testing.F) { nonsense() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	targets, err := findTargets(root, regexp.MustCompile(""))
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Error(err)
	}
	var names []string
	for _, target := range targets {
		names = append(names, target.String())
	}
	want := "./deep/bad/FuzzBad ./deep/bad/FuzzSeed ./good/FuzzGood ./hung/FuzzHung"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
}

func TestACleanNight(t *testing.T) {
	root, o := bench(t, "Good")
	night := func() string {
		var out bytes.Buffer
		code, err := night(context.Background(), root, o, &out)
		if code != exitClean || err != nil {
			t.Fatalf("exit code %d, %v\n%s", code, err, &out)
		}
		return out.String()
	}
	night()
	known, err := readRecord(o.record)
	if err != nil || len(known) != 1 || known[0].target != "./good/FuzzGood" || known[0].finds != 0 {
		t.Fatalf("on record: %v, %v", known, err)
	}
	if n := known[0].executions; n < o.total || n > o.total+smallest {
		t.Errorf("%d executions on record, %d were asked for", n, o.total)
	}
	if kept, _ := filepath.Glob(filepath.Join(o.corpus, "example.com/scratch/good/FuzzGood/*")); len(kept) == 0 {
		t.Error("the corpus was not kept")
	}
	o.resume = true
	if out := night(); !strings.Contains(out, "\n0 executions of 1 targets") {
		t.Errorf("a night that was over goes on:\n%s", out)
	}
}

func TestANightWithFinds(t *testing.T) {
	root, o := bench(t, "Bad|Seed|Good")
	var out bytes.Buffer
	code, err := night(context.Background(), root, o, &out)
	if code != exitFind || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, &out)
	}
	pages, _ := filepath.Glob(filepath.Join(o.finds, "*", "find.md"))
	if len(pages) != 2 {
		t.Fatalf("%d finds\n%s", len(pages), &out)
	}
	bad, err := os.ReadFile(pages[0])
	if err != nil {
		t.Fatal(err)
	}
	input := strings.TrimPrefix(filepath.Base(filepath.Dir(pages[0])), "FuzzBad-")
	for _, want := range []string{
		"# FuzzBad fails on " + input, "go test ./deep/bad -run '^FuzzBad$/^" + input + "$'",
		"`deep/bad/testdata/fuzz/FuzzBad/`", "more than five bytes", "go test fuzz v1\n[]byte(",
	} {
		if !strings.Contains(string(bad), want) {
			t.Errorf("the page does not say %q:\n%s", want, bad)
		}
	}
	for _, file := range []string{filepath.Join(o.finds, "FuzzBad-"+input, input), filepath.Join(root, "deep/bad/testdata/fuzz/FuzzBad", input)} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	seed, _ := os.ReadFile(pages[1])
	if want := "go test ./deep/bad -run '^FuzzSeed$/^seed#1$'"; !strings.Contains(string(seed), want) {
		t.Errorf("the page does not say %q:\n%s", want, seed)
	}
	known, err := readRecord(o.record)
	if err != nil || known.add(row{})[len(known)].finds != 0 || len(known) != 3 {
		t.Errorf("on record: %v, %v", known, err)
	}
}

// A target that never ends is told to quit, and its input is a find.
func TestAHungTarget(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the workers of a fuzzer are found in /proc only")
	}
	root, o := bench(t, "Hung")
	o.hang = time.Second
	var out bytes.Buffer
	code, err := night(context.Background(), root, o, &out)
	if code != exitFind || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, &out)
	}
	pages, _ := filepath.Glob(filepath.Join(o.finds, "FuzzHung-*", "find.md"))
	if len(pages) != 1 {
		t.Fatalf("%d finds\n%s", len(pages), &out)
	}
	page, _ := os.ReadFile(pages[0])
	for _, want := range []string{"hung or terminated", "-timeout 1m", "go test fuzz v1"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
}

// interrupter ends a night once it has said something for the third time.
type interrupter struct {
	bytes.Buffer
	stop func()
	said int
}

func (i *interrupter) Write(p []byte) (int, error) {
	if i.said++; i.said == 3 {
		i.stop()
	}
	return i.Buffer.Write(p)
}

func TestANightIsInterrupted(t *testing.T) {
	root, o := bench(t, "Good")
	o.total = 1 << 40
	ctx, cancel := context.WithCancel(context.Background())
	out := &interrupter{stop: cancel}
	code, err := night(ctx, root, o, out)
	if code != exitClean || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	if known, err := readRecord(o.record); err != nil || len(known) != 1 || known[0].executions < 4000 {
		t.Errorf("on record: %v, %v\n%s", known, err, out)
	}
}

func TestCommandLine(t *testing.T) {
	var told bytes.Buffer
	o, err := parse([]string{"--total", "5", "--for=1h", "-targets", "Bits", "-record", "r.md", "-resume"}, &told)
	if err != nil || o.total != 5 || o.limit != time.Hour || !o.resume || o.record != "r.md" || !o.targets.MatchString("FuzzBits") {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range []string{"-total=0", "-targets=(", "-resume", "more", "-slice=0s", "-power=2", "-nonsense"} {
		told.Reset()
		if _, err := parse([]string{wrong}, &told); err == nil || told.Len() == 0 {
			t.Errorf("%s: %v, and told %q", wrong, err, &told)
		}
	}
}
