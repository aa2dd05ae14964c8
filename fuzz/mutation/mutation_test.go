package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// Every survivor that is explained is still a mistake that can be made: what its
// line says of the source holds. (Whether it survives, only a run shows.)
func TestExplainedSurvivorsAreMutants(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	reasons, err := readExplained(explainedPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		mutants, err := mutantsOf(p, options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mutants {
			for line := reasons.line(m); line != ""; line = reasons.line(m) {
				delete(reasons, line)
			}
		}
	}
	for description := range reasons {
		t.Errorf("no such mutant any more: %s", description)
	}
}

const example = `package example

type set[T ~int] struct{ n T }

const limit = 2 * 3

func (s *set[T]) add(n T, _ bool) (ok bool) {
	if n < limit && !ok { // twice
		s.n += n
		return true
	}
	return s.n&1|2 == 0
}

func pair[T any](T, ...string) (int, error) {
	return 0, nil
}

func none(string) {
	for i := 0; i < limit; i++ {
		println(-i)
	}
}
`

func exampleMutants(t *testing.T) []*mutant {
	t.Helper()
	s, err := variants.Parse("example.go", example)
	if err != nil {
		t.Fatal(err)
	}
	mutants := findMutants(s)
	for i, m := range mutants {
		m.id = i + 1
	}
	return mutants
}

func TestMutantsOfAnExample(t *testing.T) {
	mutants := exampleMutants(t)
	var got []string
	for _, m := range mutants {
		before, after := m.lines()
		got = append(got, m.mutator+" "+before+" → "+after)
	}
	want := []string{
		"arithmetic-base const limit = 2 * 3 → const limit = 2 / 3",
		"change-number const limit = 2 * 3 → const limit = 3 * 3",
		"change-number const limit = 2 * 3 → const limit = 2 * 4",
		"invert-logical if n < limit && !ok { → if (n < limit || !ok) {",
		"conditionals-boundary if n < limit && !ok { → if n <= limit && !ok {",
		"conditionals-negation if n < limit && !ok { → if n >= limit && !ok {",
		"negate-condition if n < limit && !ok { → if n < limit && ok {",
		"remove-statement s.n += n → ",
		"invert-assignments s.n += n → s.n -= n",
		"remove-self-assignments s.n += n → s.n = n",
		"invert-boolean return true → return false",
		"conditionals-negation return s.n&1|2 == 0 → return s.n&1|2 != 0",
		"invert-bitwise return s.n&1|2 == 0 → return (s.n&1 & 2) == 0",
		"invert-bitwise return s.n&1|2 == 0 → return (s.n | 1)|2 == 0",
		"change-number return s.n&1|2 == 0 → return s.n&2|2 == 0",
		"change-number return s.n&1|2 == 0 → return s.n&1|3 == 0",
		"change-number return s.n&1|2 == 0 → return s.n&1|2 == 1",
		"change-number return 0, nil → return 1, nil",
		"change-number for i := 0; i < limit; i++ { → for i := 1; i < limit; i++ {",
		"conditionals-boundary for i := 0; i < limit; i++ { → for i := 0; i <= limit; i++ {",
		"conditionals-negation for i := 0; i < limit; i++ { → for i := 0; i >= limit; i++ {",
		"increment-decrement for i := 0; i < limit; i++ { → for i := 0; i < limit; i-- {",
		"remove-statement println(-i) → ",
		"invert-negatives println(-i) → println(+i)",
	}
	slices.Sort(got)
	slices.Sort(want)
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("not expected: %s", line)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestPhases(t *testing.T) {
	for ms, want := range map[time.Duration]int{0: 0, 19: 0, 20: 1, 50: 1, 100: 2, 999: 2, 2500: 3} {
		if got := phase(ms * time.Millisecond); got != want {
			t.Errorf("%d ms: phase %d, want %d", ms, got, want)
		}
	}
}

// The comparison fails for what is missing in the list and for what is too much.
func TestCompare(t *testing.T) {
	mutants := exampleMutants(t)
	for _, m := range mutants {
		m.end = killed
	}
	reasons := explained{mutants[0].description(): "equivalent"}
	if err := reasons.compare(mutants); err == nil || !strings.Contains(err.Error(), "explained, but killed") {
		t.Errorf("a killed one that is explained: %v", err)
	}
	mutants[0].end = survived
	if err := reasons.compare(mutants); err != nil {
		t.Error(err)
	}
	mutants[1].end, mutants[2].end = survived, survived
	reasons["example.go, package level, *"] = "harmless"
	if err := reasons.compare(mutants); err != nil {
		t.Error(err)
	}
	mutants[len(mutants)-1].end = survived
	if err := reasons.compare(mutants); err == nil || !strings.Contains(err.Error(), "not explained") {
		t.Errorf("a survivor that is not explained: %v", err)
	}
}

func TestReadExplained(t *testing.T) {
	const line = "- codec, Slice.read, change-number 3: "
	cases := map[string]string{
		line + "equivalent; so.\n":                                "",
		"- codec, Slice.read, change-number 3\n":                  "no reason",
		line + "just so.\n":                                       "no reason",
		line + "harmless; so.\n" + line + "equivalent; so: no.\n": "twice",
	}
	for text, want := range cases {
		path := filepath.Join(t.TempDir(), "survivors.md")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		reasons, err := readExplained(path)
		if want == "" {
			if err != nil || reasons["codec, Slice.read, change-number 3"] != "equivalent; so." {
				t.Errorf("%q: %v, %v", text, reasons, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := readExplained("nowhere.md"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A description is the same when what the function uses gets another name.
func TestDescriptions(t *testing.T) {
	mutants := exampleMutants(t)
	var got []string
	for _, m := range mutants[:5] {
		got = append(got, m.description())
	}
	want := []string{
		"example.go, package level, arithmetic-base 1", "example.go, package level, change-number 1", "example.go, package level, change-number 2",
		"., set.add, invert-logical 1", "., set.add, conditionals-boundary 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	renamed, err := variants.Parse("example.go", strings.ReplaceAll(example, "s.n", "s.number"))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range findMutants(renamed) {
		if m.description() != mutants[i].description() {
			t.Errorf("%s is now %s", mutants[i], m)
		}
	}
}
