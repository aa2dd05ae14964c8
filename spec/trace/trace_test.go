package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/spec"
)

const document = `# A protocol

See [the checks](#3-checks) and [more](../README.md).

## 2 Words

*Class: required.*

- **ABC-1** It MUST
  do this.

- **ABC-2** It has these:

| Name | Value |
|---|---|
| one | 1 |

- **ABC-3** It MUST NOT do that.
- **SAFE-1** It is safe.

### 2.1 Constants

- **LIM-1** There are values.

| Name | Value | Meaning |
|---|---|---|
| ~MOST~ | 1,024 bytes | the most |

- **LIM-2** At most ~MOST~.

## 3 Checks

*Class: option.*

| Id | Check |
|---|---|
| **DEC-1** | something is left |

Not a sentence, but (ABC-1) and S1 are cited.

## 4 Table

<!-- table: lamp -->

| Row | State | Event | Guard | Next state | Actions |
|---|---|---|---|---|---|
| S1 | IDLE | go | always | BUSY | START, SEND |

## 5 Codes

| Code | From | Meaning | Sentences |
|---|---|---|---|
| ~none~ | decoder | nothing is left | DEC-1 |
`

// examples look like sentences.
const examples = "\n    - **FOO-1** is indented.\n\nHere **FOO-2** does not begin.\n\n```\n- **BAR-1** is an example\n| S2 | READY |\n```\n\n- **END-1** The order is:\n\n| Id | Check |\n|---|---|\n| **END-2** | first |"

// sound is a small tree in which nothing is wrong.
func sound() fstest.MapFS {
	tree := fstest.MapFS{
		"spec/PROTOCOL.md":           text(strings.ReplaceAll(document, "~", "`")),
		"README.md":                  text("# Here\n"),
		"machine/a.go":               text("package a\n\n// ABC-1 to\n// ABC-3 and DEC-1, with an HMAC-SHA-256.\n// LIM-1, LIM-2\n"),
		"machine/a_test.go":          text("package a\n\n// (ABC-1, SAFE-1, LIM-1, LIM-2)\n"),
		"statemachine/a.go":          text("package a\n\nvar table = []string{\"S1\"}\n"),
		"testvectors/files/one.json": text(`{"vectors":[{"name":"one/first","sentences":["ABC-2","ABC-3"]}],"runs":[{"name":"one/run","sentences":["DEC-1"]}]}`),
		"statemachine/a_test.go":     text(`package a; const row = "S1"`),
		"ports/c/port.c":             text("/* ABC-1 */ return CW_S1;"),
		"tools/bench/a.go":           text("package a // S77 and XYZ-1 are other protocols'"),
	}
	call(tree, "--write")
	return tree
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

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

const soundSummary = "8 sentences and rows: 7 cited by code, 5 by tests, 3 listed by vectors, 0 exceptions, 0 problems"

func TestASoundTreeHasNoProblems(t *testing.T) {
	code, out, errs := call(sound(), "--summary")
	if code != 0 || errs != "" || out != soundSummary+"\n" {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
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
		{"a row that no code has", func(tree fstest.MapFS) { replace(tree, "statemachine/a.go", "S1", "") }, "S1 has no implementation"},
		{"no test", func(tree fstest.MapFS) { replace(tree, "machine/a_test.go", "ABC-1", "") }, "ABC-1 has no test"},
		{"a property without a test", func(tree fstest.MapFS) { replace(tree, "machine/a_test.go", "SAFE-1", "") }, "SAFE-1 has no test"},
		{"no vector", func(tree fstest.MapFS) { replace(tree, "testvectors/files/one.json", `"DEC-1"`, "") }, "DEC-1 has no test"},
		{"code cites what is not there", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-9\n") }, "machine/a.go:6: there is no sentence ABC-9"},
		{"a family that is not there", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ACB-1\n") }, "machine/a.go:6: there is no sentence ACB-1"},
		{"a test cites what is not there", func(tree fstest.MapFS) { add(tree, "machine/a_test.go", "// ABC-9\n") }, "machine/a_test.go:4: there is no sentence ABC-9"},
		{"a row that is not there", func(tree fstest.MapFS) { add(tree, "statemachine/a.go", "const S12Wait = 2\n") }, "statemachine/a.go:4: there is no sentence S12"},
		{"a bare row that is not there", func(tree fstest.MapFS) { add(tree, "statemachine/a_test.go", " // S2\n") }, "statemachine/a_test.go:1: there is no sentence S2"},
		{"a port cites what is not there", func(tree fstest.MapFS) { add(tree, "ports/c/port.c", " /* DEC-2 */") }, "ports/c/port.c:1: there is no sentence DEC-2"},
		{"a text cites what is not there", func(tree fstest.MapFS) { add(tree, "README.md", "see ABC-4\n") }, "README.md:2: there is no sentence ABC-4"},
		{"a vector lists what is not there", func(tree fstest.MapFS) { replace(tree, "testvectors/files/one.json", `"DEC-1"`, `"DEC-1","DEC-3"`) }, "vector one/run: there is no sentence DEC-3"},
		{"a range with dots", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-1..3\n") }, `machine/a.go:6: "ABC-1.." is no range: write it as ABC-1 to ABC-3`},
		{"a range with a dash", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-1–3\n") }, `machine/a.go:6: "ABC-1–3" is no range: write it as ABC-1 to ABC-3`},
		{"a range downward", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-3 to ABC-1\n") }, `machine/a.go:6: "ABC-3 to ABC-1" is no range: write it as ABC-1 to ABC-3`},
		{"a range too far", func(tree fstest.MapFS) { add(tree, "machine/a.go", "// ABC-2 to ABC-4\n") }, "machine/a.go:6: there is no sentence ABC-4"},
		{"defined twice", func(tree fstest.MapFS) {
			replace(tree, "spec/PROTOCOL.md", "### 2.1", "- **ABC-3** It MUST NOT do that.\n\n### 2.1")
		}, "ABC-3 is defined twice: spec/PROTOCOL.md:18 and spec/PROTOCOL.md:21"},
		{"an exception of nothing", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-9 test there is none\n") }, "there is no sentence ABC-9"},
		{"an exception too many", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-1 test it was hard\n") }, "ABC-1 needs no exception any more"},
		{"an exception of what need not be", func(tree fstest.MapFS) { add(tree, exceptionsFile, "SAFE-1 implementation follows\n") }, "SAFE-1 needs no exception"},
	} {
		tree := sound()
		c.fault(tree)
		code, out, errs := call(tree, "--write")
		_, problems, _ := strings.Cut(out, "problems\n")
		if lines := strings.Split(strings.TrimSpace(problems), "\n"); code != 1 || len(lines) != 1 || !strings.Contains(lines[0], c.want) {
			t.Errorf("%s: exit code %d, %s, want only %q:\n%s", c.name, code, errs, c.want, problems)
		}
	}
}

// Links, widths, constants, codes, families and data, each alone.
func TestTheFormOfADocument(t *testing.T) {
	long := strings.Repeat("word ", 49) + "."
	for _, c := range []struct {
		name  string
		fault func(tree fstest.MapFS)
		want  string // empty: nothing is wrong
	}{
		{"a link to no file", func(tree fstest.MapFS) { add(tree, "README.md", "[x](spec/NONE.md)\n") }, "README.md:2: the link spec/NONE.md leads nowhere"},
		{"a link to no heading", func(tree fstest.MapFS) { add(tree, "README.md", "[x](spec/PROTOCOL.md#4-tables)\n") }, "README.md:2: the link spec/PROTOCOL.md#4-tables leads nowhere"},
		{"a link to a heading", func(tree fstest.MapFS) {
			add(tree, "README.md", "[x](spec/PROTOCOL.md#4-table) [y](#here) [z](https://a.b/c#d)\n")
		}, ""},
		{"a link in a block of code", func(tree fstest.MapFS) { add(tree, "README.md", "```\n[x](nowhere)\n```\n") }, ""},
		{"no such section", func(tree fstest.MapFS) { add(tree, "spec/PROTOCOL.md", "See sections 2.1 and 4.7.\n") }, "PROTOCOL.md has no section 4.7"},
		{"no such section of another", func(tree fstest.MapFS) {
			add(tree, "machine/a.go", "// It is in section 9 of\n// spec/PROTOCOL.md.\n")
		}, "machine/a.go:6: PROTOCOL.md has no section 9"},
		{"no such section in short", func(tree fstest.MapFS) { add(tree, "README.md", "So (PROTOCOL.md, 2.9).\n") }, "README.md:2: PROTOCOL.md has no section 2.9"},
		{"sections", func(tree fstest.MapFS) {
			add(tree, "spec/PROTOCOL.md", "See section 2.1, RFC 8085, section 3.6, section 9 of that, and README.md, section 7.\n")
			add(tree, "machine/a.go", "// section 77 of something, and sections 2 to 4 of spec/PROTOCOL.md\n")
		}, ""},
		{"a long line", func(tree fstest.MapFS) { add(tree, "README.md", long+"\n") }, "README.md:2: 246 characters, more than 240"},
		{"a long row", func(tree fstest.MapFS) { add(tree, "README.md", "| "+long+" |\n") }, ""},
		{"a long line elsewhere", func(tree fstest.MapFS) { add(tree, "fuzz/README.md", long+"\n") }, ""},
		{"a value that is none", func(tree fstest.MapFS) { replace(tree, "spec/PROTOCOL.md", "1,024 bytes", "many bytes") }, `spec/PROTOCOL.md: MOST: "many bytes" is no value`},
		{"a code of no sentence", func(tree fstest.MapFS) { replace(tree, "spec/PROTOCOL.md", "left | DEC-1", "left | S1, DEC-9") }, "code none: there is no sentence DEC-9"},
		{"letters of another document", func(tree fstest.MapFS) {
			tree["spec/PACKETS.md"] = text("- **ABC-4** This, too.\n")
			add(tree, "machine/a.go", "// ABC-4\n")
			add(tree, "machine/a_test.go", "// ABC-4\n")
		}, "both spec/PACKETS.md and spec/PROTOCOL.md have ids of the form ABC-1"},
		{"letters with a prefix", func(tree fstest.MapFS) {
			tree["spec/PACKETS.md"] = text("- **PKT-ABC-1** This, too.\n")
			add(tree, "machine/a.go", "// PKT-ABC-1\n")
			add(tree, "machine/a_test.go", "// PKT-ABC-1\n")
		}, ""},
	} {
		tree := sound()
		c.fault(tree)
		_, out, _ := call(tree, "--write")
		_, problems, _ := strings.Cut(out, "problems\n")
		lines := strings.Split(strings.TrimSpace(problems), "\n")
		lines = slices.DeleteFunc(lines, func(s string) bool {
			return s == "" || strings.Contains(s, "there is no sentence DEC-9") && !strings.Contains(s, "code")
		})
		if c.want == "" && len(lines) > 0 || c.want != "" && (len(lines) != 1 || !strings.Contains(lines[0], c.want)) {
			t.Errorf("%s: want %q:\n%s", c.name, c.want, problems)
		}
	}
}

// A document has its constants for itself and those that are built on it, and its rows
// where they are cited.
func TestDocumentsAreOfTheirOwn(t *testing.T) {
	const packets = "# Packets\n\n*Class: required.*\n\n- **PKX-1** At most `MOST`.\n\n| Name | Value | Meaning |\n|---|---|---|\n| `MOST` | 8 packets | the most |\n\n" +
		"<!-- table: light -->\n\n| Row | State | Event | Guard | Next state | Actions |\n|---|---|---|---|---|---|\n| P1 | OFF | go | always | ON | LIGHT |\n"
	for _, c := range []struct {
		name  string
		fault func(tree fstest.MapFS)
		want  string // empty: nothing is wrong
	}{
		{"constants of one name", func(fstest.MapFS) {}, ""},
		{"a constant that no sentence uses", func(tree fstest.MapFS) { replace(tree, "spec/PACKETS.md", "At most `MOST`", "At most eight") }, "spec/PACKETS.md: no sentence uses MOST"},
		{"a row that is not there", func(tree fstest.MapFS) { add(tree, "packet/a.go", "// P2\n") }, "packet/a.go:4: there is no sentence P2"},
		{"a row of another document's folder", func(tree fstest.MapFS) { add(tree, "packet/a.go", "// S7\n") }, ""},
		{"and the other way round", func(tree fstest.MapFS) { add(tree, "statemachine/a.go", "// P2\n") }, ""},
		{"a percentile", func(tree fstest.MapFS) { add(tree, "packet/a.go", "// P95, in C99\n") }, ""},
	} {
		tree := sound()
		tree["spec/PACKETS.md"] = text(packets)
		tree["packet/a.go"] = text("package packet\n\n// P1, PKX-1\n")
		tree["packet/a_test.go"] = text("package packet\n\n// P1, PKX-1\n")
		c.fault(tree)
		_, out, _ := call(tree, "--write")
		_, problems, _ := strings.Cut(out, "problems\n")
		if problems = strings.TrimSpace(problems); c.want == "" && problems != "" || strings.Count(problems, "\n") > 0 || !strings.Contains(problems, c.want) {
			t.Errorf("%s: want %q:\n%s", c.name, c.want, problems)
		}
	}
}

// The data of a document is compared with the document.
func TestDataThatIsOld(t *testing.T) {
	tree := sound()
	replace(tree, "spec/PROTOCOL.md", "# A protocol", "# The protocol")
	code, out, _ := call(tree)
	if want := "spec/protocol.json is not what spec/PROTOCOL.md says: --write makes it"; code != 1 || !strings.Contains(out, want) {
		t.Errorf("exit code %d, want %q:\n%s", code, want, out)
	}
	if code, out, _ := call(tree, "--write"); code != 0 {
		t.Error(out)
	}
	if code, out, _ := call(tree); code != 0 {
		t.Error(out)
	}
}

func TestWhatTheDataHolds(t *testing.T) {
	var got struct {
		Sentences []struct{ ID, Class, Section string }
		Tables    []spec.Table
		Constants []spec.Constant
		Codes     []spec.Code
	}
	if err := json.Unmarshal(sound()["spec/protocol.json"].Data, &got); err != nil {
		t.Fatal(err)
	}
	classes := map[string]string{}
	for _, s := range got.Sentences {
		classes[s.ID] = s.Class + ", " + s.Section
	}
	wantClasses := map[string]string{
		"ABC-1": "required, 2 Words", "ABC-2": "required, 2 Words", "ABC-3": "required, 2 Words", "SAFE-1": "required, 2 Words",
		"LIM-1": "required, 2.1 Constants", "LIM-2": "required, 2.1 Constants", "DEC-1": "option, 3 Checks",
	}
	if diff := cmp.Diff(wantClasses, classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	wantTables := []spec.Table{{Name: "lamp", Rows: []spec.Row{{Row: "S1", State: "IDLE", Event: "go", Guard: "always", Next: "BUSY", Actions: []string{"START", "SEND"}}}}}
	if diff := cmp.Diff(wantTables, got.Tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]spec.Constant{{Name: "MOST", Value: 1024, Unit: "bytes", Class: "required", Meaning: "the most", UsedBy: []string{"LIM-2"}}}, got.Constants); diff != "" {
		t.Errorf("constants (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]spec.Code{{Code: "none", From: "decoder", Meaning: "nothing is left", Sentences: []string{"DEC-1"}}}, got.Codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]string{
		"1,024 bytes": "1024 bytes", "0x9908ACE2": "2567482594 ", "10 s": "10000000 us", "4 min": "240000000 us", "100 ms": "100000 us",
		"2^40 us": "1099511627776 us", "10^9 ns": "1000000000 ns", "3": "3 ", "10^9": "1000000000 ",
	} {
		value, unit, err := quantity(text)
		if got := fmt.Sprint(value, " ", unit); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
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
		{"no document", func(tree fstest.MapFS) { delete(tree, "spec/PROTOCOL.md") }, nil, "spec/*.md: no sentence: " + fs.ErrNotExist.Error()},
		{"vectors that are no JSON", func(tree fstest.MapFS) { add(tree, "testvectors/files/one.json", "}") }, nil, "testvectors/files/one.json: "},
		{"an exception without a reason", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-1 test\n") }, nil, "exceptions.txt:1: want 3 fields"},
		{"an exception from something else", func(tree fstest.MapFS) { add(tree, exceptionsFile, "ABC-1 proof too long\n") }, nil, `"proof" is neither`},
		{"an id that is not there", func(fstest.MapFS) {}, []string{"--id", "ABC-9"}, "there is no sentence ABC-9"},
		{"an argument too many", func(fstest.MapFS) {}, []string{"ABC-1"}, "nothing takes arguments"},
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
		"LIM-1":  "There are values. | Name | Value | Meaning | |---|---|---| | ~MOST~ | 1,024 bytes | the most |",
		"LIM-2":  "At most ~MOST~.",
		"DEC-1":  "something is left |",
		"S1":     "IDLE | go | always | BUSY | START, SEND |",
	}
	for _, s := range parse("a.md", document+examples).Sentences {
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
	if code, out, _ := call(tree); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, out, _ := call(tree, "--id", "DEC-1"); !strings.Contains(out, "no implementation: left to the application") {
		t.Error(out)
	}
}

// What only mentions ids is no evidence, whatever it is.
func TestWhatIsNoEvidence(t *testing.T) {
	for _, name := range []string{
		"README.md", "cmd/vectorgen/a.go", "cmd/vectorgen/a_test.go", "conform/oracle/a.go", "testvectors/script/deep/a.go",
		"testvectors/traces/a.txtar", "netsim/a.go", "internal/queue/a.go", "fuzz/mistakes/a_test.go", "ports/c/a.c", "tools/bench/a_test.go",
		".hidden/a.go", "machine/testdata/a.go", "machine/a.txt", "spec/trace/a_test.go",
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

func TestOneSentence(t *testing.T) {
	code, out, _ := call(sound(), "--id", "ABC-2")
	want := `ABC-2  (required, 2 Words, spec/PROTOCOL.md:12)
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
