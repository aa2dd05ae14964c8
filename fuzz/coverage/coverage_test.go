package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scratch has a function for each way in which code is reached, or is not.
var scratch = map[string]string{
	"go.mod": "module example.com/scratch\n\ngo 1.25\n",
	"codec/codec.go": `package codec

func BySeed() int { return 1 }

func ByFind() int { return 2 }

func ByCorpus() int { return 3 }

type T struct{}

func (*T) WhileSeedsAreMade() int { return 4 }

func Never() int { return 5 }
`,
	"fuzz/fuzz_test.go": `package fuzz

import (
	"testing"

	"example.com/scratch/codec"
)

func FuzzAll(f *testing.F) {
	new(codec.T).WhileSeedsAreMade()
	f.Add([]byte("seed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		switch string(data) {
		case "seed":
			codec.BySeed()
		case "find":
			codec.ByFind()
		case "corpus":
			codec.ByCorpus()
		case "wrong":
			t.Fatal("it is wrong")
		}
	})
}
`,
	"fuzz/testdata/fuzz/FuzzAll/1111":              "go test fuzz v1\n[]byte(\"find\")\n",
	"corpus/example.com/scratch/fuzz/FuzzAll/2222": "go test fuzz v1\n[]byte(\"corpus\")\n",
	"gaps.txt": "# comment\ncodec Never: nobody calls it\ncodec T.WhileSeedsAreMade: makes seeds\n",
}

func inScratch(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range scratch {
		write(t, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReport(t *testing.T) {
	inScratch(t)
	cases := []struct {
		name, corpus, gaps string
		enough             bool
		want               []string
	}{
		{"seeds and finds", "", "none.txt", false, []string{
			"codec                     20.0    20.0    40.0             40.0  below 95",
			"  ByCorpus: codec.go:7", "  T.WhileSeedsAreMade: codec.go:11", "  Never: codec.go:13",
		}},
		{"and a corpus", "corpus", "none.txt", false, []string{
			"codec                     20.0    40.0    60.0             60.0  below 95",
		}},
		{"and reasons", "corpus", "gaps.txt", true, []string{
			"codec                     20.0    40.0    60.0            100.0\n", "  Never: codec.go:13  (nobody calls it)\n",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			enough, err := report(&out, c.corpus, c.gaps, false)
			if err != nil || enough != c.enough {
				t.Fatalf("%t, %v\n%s", enough, err, &out)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("does not say %q:\n%s", want, &out)
				}
			}
		})
	}
}

// What spoils a report is an error, and no coverage.
func TestReportFails(t *testing.T) {
	inScratch(t)
	write(t, "stale.txt", "codec Gone: it is gone\n")
	write(t, "bare.txt", "codec Never\n")
	fails := func(want, corpus, gaps string) {
		t.Helper()
		if _, err := report(&strings.Builder{}, corpus, gaps, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	fails("no function that is there", "", "stale.txt")
	fails("package function: reason", "", "bare.txt")
	fails("no corpus of example.com/scratch/fuzz", "nowhere", "gaps.txt")
	write(t, "fuzz/testdata/fuzz/FuzzAll/3333", "go test fuzz v1\n[]byte(\"wrong\")\n")
	fails("it is wrong", "", "gaps.txt")
}

func TestParseProfile(t *testing.T) {
	p, err := parseProfile("mode: atomic\na/b/c.go:1.2,3.4 5 6\na/b/c.go:1.2,3.4 5 1\n")
	if want := (where{"a/b", "c.go", 1, 2, 5}); err != nil || len(p) != 1 || p[want] != 7 {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := parseProfile("mode: set\nnonsense\n"); err == nil {
		t.Error("took nonsense for a profile")
	}
}

// The committed gaps are in functions that are there.
func TestGaps(t *testing.T) {
	t.Chdir("../..")
	g, err := readGaps("fuzz/coverage/gaps.txt")
	if err != nil {
		t.Fatal(err)
	}
	var m measurement
	for _, inside := range mustReach {
		m.packages = append(m.packages, pkg{inside, inside, inside})
	}
	all, err := m.functions()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.check(all); err != nil {
		t.Error(err)
	}
}
