package main

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const document = `# A protocol

## 2 Words

- **ABC-1** It MUST
  do this.

- **ABC-2** It has these:

| Name | Value |
|---|---|
| one | 1 |

- **ABC-3** It MUST NOT do that.
- **SAFE-1** It is safe.

## 3 Checks

| Id | Check |
|---|---|
| **DEC-1** | something is left |

Not a sentence, but (ABC-1) and S1 are cited.

## 4 Table

| Row | State |
|---|---|
| S1 | IDLE |
`

// examples look like sentences.
const examples = "\n    - **FOO-1** is indented.\n\nHere **FOO-2** does not begin.\n\n```\n- **BAR-1** is an example\n| S2 | READY |\n```\n\n- **END-1** The order is:\n\n| Id | Check |\n|---|---|\n| **END-2** | first |"

// sound is a small tree in which nothing is wrong.
func sound() fstest.MapFS {
	tree := fstest.MapFS{
		"spec/PROTOCOL.md":           text(document),
		"machine/a.go":               text("package a\n\n// ABC-1 to\n// ABC-3 and DEC-1, with a SHA-256.\nconst S1Start = 1\n"),
		"machine/a_test.go":          text("package a\n\n// (ABC-1, SAFE-1)\n"),
		"testvectors/files/one.json": text(`{"vectors":[{"name":"one/first","sentences":["ABC-2","ABC-3"]}],"runs":[{"name":"one/run","sentences":["DEC-1"]}]}`),
		"statemachine/a_test.go":     text(`package a; const row = "S1"`),
		"ports/c/port.c":             text("/* ABC-1 */ return CW_S1;"),
		"bench/a.go":                 text("package a // S77 and XYZ-1 are other protocols'"),
	}
	confirmAll(tree)
	return tree
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// confirmAll is --confirm all.
func confirmAll(tree fstest.MapFS) { call(tree, "--confirm", "all") }

// call runs the command in a tree, which it may change.
func call(tree fstest.MapFS, args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	write := func(name string, data []byte) error {
		tree[name] = &fstest.MapFile{Data: data}
		return nil
	}
	code = run(tree, write, args, &out, &errs)
	return code, out.String(), errs.String()
}

func add(tree fstest.MapFS, name, more string) {
	old := ""
	if f, ok := tree[name]; ok {
		old = string(f.Data)
	}
	tree[name] = text(old + more)
}

func replace(tree fstest.MapFS, name, old, new string) {
	tree[name] = text(strings.Replace(string(tree[name].Data), old, new, 1))
}

func TestASoundTreeHasNoProblems(t *testing.T) {
	code, out, errs := call(sound())
	if code != 0 || errs != "" || !strings.Contains(out, "6 sentences and rows: 5 cited by code, 3 by tests, 3 listed by vectors, 0 exceptions, 0 problems") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
}

func TestSummary(t *testing.T) {
	code, out, _ := call(sound(), "--summary")
	if want := "6 sentences and rows: 5 cited by code, 3 by tests, 3 listed by vectors, 0 exceptions, 0 problems\n"; code != 0 || out != want {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// One thing is wrong in each tree, and nothing else is said.
func TestEachFaultIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(tree fstest.MapFS)
		want  string
	}{
		{"no implementation", func(tree fstest.MapFS) { replace(tree, "machine/a.go", "DEC-1", "") }, "DEC-1 has no implementation"},
		{"a row that no code has", func(tree fstest.MapFS) { replace(tree, "machine/a.go", "S1Start", "start") }, "S1 has no implementation"},
		{"no test", func(tree fstest.MapFS) { replace(tree, "machine/a_test.go", "ABC-1", "") }, "ABC-1 has no test"},
		{"a property without a test", func(tree fstest.MapFS) { replace(tree, "machine/a_test.go", "SAFE-1", "") }, "SAFE-1 has no test"},
		{"no vector", func(tree fstest.MapFS) { replace(tree, "testvectors/files/one.json", `"DEC-1"`, "") }, "DEC-1 has no test"},
		{"code cites what is not there", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-9\n") }, "machine/a.go:6: there is no sentence ABC-9"},
		{"a family that is not there", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ACB-1\n") }, "machine/a.go:6: there is no sentence ACB-1"},
		{"a test cites what is not there", func(tree fstest.MapFS) { add(tree, "machine/a_test.go", "// ABC-9\n") }, "machine/a_test.go:4: there is no sentence ABC-9"},
		{"a row that is not there", func(tree fstest.MapFS) { add(tree, "machine/a.go", "const S12Wait = 2\n") }, "machine/a.go:6: there is no sentence S12"},
		{"a bare row that is not there", func(tree fstest.MapFS) { add(tree, "statemachine/a_test.go", " // S2\n") }, "statemachine/a_test.go:1: there is no sentence S2"},
		{"a port cites what is not there", func(tree fstest.MapFS) { add(tree, "ports/c/port.c", " /* DEC-2 */") }, "ports/c/port.c:1: there is no sentence DEC-2"},
		{"a text cites what is not there", func(tree fstest.MapFS) { add(tree, "README.md", "see ABC-4\n") }, "README.md:1: there is no sentence ABC-4"},
		{"a vector lists what is not there", func(tree fstest.MapFS) { replace(tree, "testvectors/files/one.json", `"DEC-1"`, `"DEC-1","DEC-3"`) }, "vector one/run: there is no sentence DEC-3"},
		{"a range with dots", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-1..3\n") }, `machine/a.go:6: "ABC-1.." is no range: write it as ABC-1 to ABC-3`},
		{"a range with a dash", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-1–3\n") }, `machine/a.go:6: "ABC-1–3" is no range: write it as ABC-1 to ABC-3`},
		{"a range downward", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-3 to ABC-1\n") }, `machine/a.go:6: "ABC-3 to ABC-1" is no range: write it as ABC-1 to ABC-3`},
		{"a range too far", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-2 to ABC-4\n") }, "machine/a.go:6: there is no sentence ABC-4"},
		{"defined twice", func(tree fstest.MapFS) { add(tree, "spec/RECOVERY.md", "- **ABC-3** It MUST NOT do that.\n") }, "ABC-3 is defined twice: spec/PROTOCOL.md:14 and spec/RECOVERY.md:1"},
		{"other words", func(tree fstest.MapFS) { replace(tree, "spec/PROTOCOL.md", "do this", "do that") }, "ABC-1 has other words"},
		{"other words in its table", func(tree fstest.MapFS) { replace(tree, "spec/PROTOCOL.md", "| one | 1 |", "| one | 2 |") }, "ABC-2 has other words"},
		{"other words in a row", func(tree fstest.MapFS) { replace(tree, "spec/PROTOCOL.md", "IDLE", "BUSY") }, "S1 has other words"},
		{"new", func(tree fstest.MapFS) { replace(tree, confirmedFile, "DEC-1", "#") }, "DEC-1 is new"},
		{"gone", func(tree fstest.MapFS) { add(tree, confirmedFile, "ABC-4 00\n") }, "ABC-4 is gone from the specification"},
		{"withdrawn, and back", func(tree fstest.MapFS) {
			hash := regexp.MustCompile(`DEC-1 \S+`).FindString(string(tree[confirmedFile].Data))
			replace(tree, confirmedFile, hash, "DEC-1 withdrawn")
		}, "DEC-1 was withdrawn"},
		{"an exception of nothing", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-9 test there is none\n") }, "there is no sentence ABC-9"},
		{"an exception too many", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-1 test it was hard\n") }, "ABC-1 needs no exception any more"},
		{"an exception of what need not be", func(tree fstest.MapFS) { add(tree, exceptionsFile, "SAFE-1 implementation follows\n") }, "SAFE-1 needs no exception"},
	} {
		tree := sound()
		c.fault(tree)
		code, out, errs := call(tree)
		_, problems, _ := strings.Cut(out, "problems\n")
		if lines := strings.Split(strings.TrimSpace(problems), "\n"); code != 1 || len(lines) != 1 || !strings.Contains(lines[0], c.want) {
			t.Errorf("%s: exit code %d, %s, want only %q:\n%s", c.name, code, errs, c.want, problems)
		}
	}
}

// What cannot be read is no report.
func TestWhatCannotBeTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(tree fstest.MapFS)
		args  []string
		want  string
	}{
		{"no document", func(tree fstest.MapFS) { delete(tree, "spec/PROTOCOL.md") }, nil, fs.ErrNotExist.Error()},
		{"vectors that are no JSON", func(tree fstest.MapFS) { add(tree, "testvectors/files/one.json", "}") }, nil, "testvectors/files/one.json: "},
		{"a confirmation without a hash", func(tree fstest.MapFS) { add(tree, confirmedFile, "ABC-4\n") }, nil, ": want 2 fields"},
		{"confirmed twice", func(tree fstest.MapFS) { add(tree, confirmedFile, "ABC-1 00\n") }, nil, "ABC-1 stands there twice"},
		{"an exception without a reason", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-1 test\n") }, nil, "exceptions.txt:1: want 3 fields"},
		{"an exception from something else", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-1 proof too long\n") }, nil, `"proof" is neither`},
		{"an id that is not there", func(fstest.MapFS) {}, []string{"--id", "ABC-9"}, "there is no sentence ABC-9"},
		{"to confirm what is not there", func(fstest.MapFS) {}, []string{"--confirm", "ABC-9"}, "there is no sentence ABC-9"},
		{"to confirm nothing", func(fstest.MapFS) {}, []string{"--confirm"}, "--confirm wants ids"},
		{"an argument too many", func(fstest.MapFS) {}, []string{"ABC-1"}, "nothing else takes arguments"},
		{"a flag that is not there", func(fstest.MapFS) {}, []string{"--fix"}, "not defined"},
	} {
		tree := sound()
		c.fault(tree)
		if code, _, errs := call(tree, c.args...); code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d, %q, want %q", c.name, code, errs, c.want)
		}
	}
}

// What a sentence's words are, and what is no sentence.
func TestWhatASentenceIs(t *testing.T) {
	want := map[string]string{
		"ABC-1":  "It MUST do this.",
		"ABC-2":  "It has these: | Name | Value | |---|---| | one | 1 |",
		"ABC-3":  "It MUST NOT do that.",
		"END-1":  "The order is:",
		"END-2":  "first |",
		"SAFE-1": "It is safe.",
		"DEC-1":  "something is left |",
		"S1":     "IDLE |",
	}
	for _, s := range parse("a.md", document+examples) {
		if want[s.ID] != s.Text {
			t.Errorf("%s: %q, want %q", s.ID, s.Text, want[s.ID])
		}
		delete(want, s.ID)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// Spaces and line breaks are no words.
func TestLayoutIsNoWord(t *testing.T) {
	tree := sound()
	replace(tree, "spec/PROTOCOL.md", "It MUST\n  do", "It  MUST do")
	if code, out, _ := call(tree); code != 0 {
		t.Error(out)
	}
}

func TestAReasonExcuses(t *testing.T) {
	tree := sound()
	replace(tree, "machine/a.go", "DEC-1", "")
	add(tree, exceptionsFile, "# why\nDEC-1 implementation left to the application\n")
	if code, out, _ := call(tree); code != 0 || !strings.Contains(out, "excused") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, out, _ := call(tree, "--id", "DEC-1"); !strings.Contains(out, "no implementation: left to the application") {
		t.Error(out)
	}
}

// What only mentions ids is no evidence, whatever it is.
func TestWhatIsNoEvidence(t *testing.T) {
	for _, name := range []string{
		"README.md", "cmd/vectorgen/a.go", "cmd/vectorgen/a_test.go", "testvectors/oracle/a.go", "testvectors/mutants/a.go",
		"netsim/a.go", "fuzz/faults/a_test.go", "ports/c/a.c", "bench/a_test.go", ".hidden/a.go", "machine/testdata/a.go", "machine/a.txt",
	} {
		tree := sound()
		replace(tree, "machine/a.go", "DEC-1", "")
		replace(tree, "machine/a_test.go", "ABC-1", "")
		add(tree, name, "// DEC-1, ABC-1\n")
		_, out, _ := call(tree)
		if !strings.Contains(out, "DEC-1 has no implementation") || !strings.Contains(out, "ABC-1 has no test") {
			t.Errorf("%s counts", name)
		}
	}
	tree := sound()
	replace(tree, "machine/a_test.go", "ABC-1", "")
	add(tree, "machine/a_test.go", `const v = `+"`"+`{"sentences":["ABC-1"]}`+"`")
	if code, out, _ := call(tree); code != 1 || !strings.Contains(out, "ABC-1 has no test") {
		t.Error("the sentences of a vector in a test's text count")
	}
}

// Each sentence that somebody has looked at is confirmed, and no other.
func TestConfirm(t *testing.T) {
	tree := sound()
	replace(tree, "spec/PROTOCOL.md", "do this", "do the other")
	replace(tree, "spec/PROTOCOL.md", "IDLE", "BUSY")
	code, out, _ := call(tree, "--confirm", "ABC-1")
	if code != 1 || !strings.Contains(out, "S1 has other words") || strings.Contains(out, "ABC-1 has") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out, _ := call(tree, "--confirm", "all"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	var ids []string
	for line := range strings.Lines(string(tree[confirmedFile].Data)) {
		if line[0] != '#' {
			ids = append(ids, strings.Fields(line)[0])
		}
	}
	if want := []string{"ABC-1", "ABC-2", "ABC-3", "DEC-1", "S1", "SAFE-1"}; !slices.Equal(ids, want) {
		t.Errorf("confirmed %v, want %v", ids, want)
	}
}

// An id that was withdrawn is remembered, and never given again.
func TestAWithdrawnIDIsNotGivenAgain(t *testing.T) {
	tree := sound()
	before := string(tree["spec/PROTOCOL.md"].Data)
	replace(tree, "spec/PROTOCOL.md", "- **ABC-2** It has these:", "It has these:")
	replace(tree, "machine/a.go", "ABC-1 to\n// ABC-3", "ABC-1\n// ABC-3")
	replace(tree, "testvectors/files/one.json", `"ABC-2",`, "")
	if code, out, _ := call(tree); code != 1 || !strings.Contains(out, "ABC-2 is gone") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out, _ := call(tree, "--confirm", "ABC-2"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	tree["spec/PROTOCOL.md"] = text(before)
	if code, _, errs := call(tree, "--confirm", "all"); code != 2 || !strings.Contains(errs, "ABC-2 was withdrawn") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

func TestOneSentence(t *testing.T) {
	code, out, _ := call(sound(), "--id", "ABC-2")
	want := `ABC-2  (2 Words, spec/PROTOCOL.md:8)
  It has these: | Name | Value | |---|---| | one | 1 |
implementation:
  machine/a.go:3
tests: none
vectors: 1
  one/first
ports: none
`
	if code != 0 || out != want {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestJSON(t *testing.T) {
	tree := sound()
	replace(tree, "spec/PROTOCOL.md", "do this", "do that")
	code, out, _ := call(tree, "--json", "--id", "ABC-1")
	var got struct {
		Sentences []struct {
			ID             string
			Implementation []string
			Ports          []string
		}
		Problems []string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Sentences; code != 1 || len(s) != 1 || s[0].ID != "ABC-1" || !slices.Equal(s[0].Implementation, []string{"machine/a.go:3"}) || !slices.Equal(s[0].Ports, []string{"c"}) || len(got.Problems) != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
