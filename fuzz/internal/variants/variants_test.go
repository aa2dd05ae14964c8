package variants

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const example = `package example

import "strings"

type set[T ~int] struct{ n T }

const least = 1

var table = strings.Join([]string{
	"A",
	"B",
}, "")

func (s *set[T]) add(n T, _ bool) (ok bool) {
	if n < least && !ok {
		s.n += n
		return true
	}
	return s.n == 0
}

func (*set[T]) none(string) {
	println(-least)
}

func pair[T any](T, ...string) (int, error) {
	return 0, nil
}
`

// The tests fail with one version, hang with another, and print which body ran.
const tests = `package example

import "testing"

func TestAdd(t *testing.T) {
	s := set[int]{}
	if !s.add(0, false) || s.n != 0 {
		t.Error("wrong")
	}
	for s.n > 5 {
	}
}

func TestTable(t *testing.T) {
	s := set[int]{}
	if s.none(""); len(table) != 2 {
		t.Error(table)
	}
	if _, err := pair(1, "a"); err != nil {
		t.Error(err)
	}
}

func TestBroken(t *testing.T) { t.Error("broken") }
`

// module writes the example, and works in its folder.
func module(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example\n\ngo 1.25\n", "p/example.go": example, "p/example_test.go": tests} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
}

// version replaces texts that stand once in the example, in order.
func version(texts ...string) Version {
	var edits []Edit
	for i := 0; i < len(texts); i += 2 {
		at := strings.Index(example, texts[i])
		edits = append(edits, Edit{at, at + len(texts[i]), texts[i+1]})
	}
	return Version{"p/example.go": edits}
}

// All versions are in one binary and do what they say; what a switch cannot choose, or
// the compiler refuses, is left out by its number; and no limit depends on the wall's time.
func TestVersions(t *testing.T) {
	module(t)
	b, err := All(t.TempDir(), map[int]Version{
		1: version("return true", "return false", "return s.n == 0", "return s.n != 0"),
		2: version("least = 1", "least = 2"),
		3: version("n T, _ bool", "n T, more bool"),
		4: version("s.n += n", "s.n += 7"),
		5: version("\t\"A\",\n", "", "println(-least)", ""),
		6: version("s.n += n", "s.n += none"),
		8: version("return 0, nil", "return 0, error(nil)"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Without) != 3 || b.Without[2] != ErrOutside || b.Without[3] != ErrOutside || !strings.Contains(b.Without[6].Error(), "undefined: none") {
		t.Errorf("left out are %v", b.Without)
	}
	binary, err := b.Tests("p")
	if err != nil {
		t.Fatal(err)
	}
	names, err := Declared("p")
	if strings.Join(names, " ") != "TestAdd TestTable TestBroken" || err != nil {
		t.Errorf("declared are %v, %v", names, err)
	}
	costs, err := binary.Measure(names)
	if len(costs) != 2 || err == nil || !strings.Contains(err.Error(), "TestBroken") {
		t.Errorf("measured are %v, %v", costs, err)
	}
	var suite Suite
	for name := range costs {
		suite.Add(name, 0)
	}
	for id, want := range map[int]Outcome{0: {}, 1: {Verdict: Failed, Test: "TestAdd"}, 4: {Verdict: Endless}, 5: {Verdict: Failed, Test: "TestTable"}, 8: {}} {
		got, err := suite.Judge(binary, id)
		if err != nil || got.Verdict != want.Verdict || got.Test != want.Test && want.Verdict == Failed || got.Cost > 10*time.Second {
			t.Errorf("version %d: %+v, %v, want %+v", id, got, err, want)
		}
	}
}
