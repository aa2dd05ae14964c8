package spec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// What the tests of several documents have in common.

func documentText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// checkExamples asks a port what the examples of a document ask, which are requests, each
// with its response behind it, and counts them by their op.
func checkExamples(t *testing.T, document string, want map[string]int) {
	t.Helper()
	seen := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllStringSubmatch(documentText(t, document), -1) {
		lines := strings.Split(block[1], "\n")
		if len(lines)%2 != 0 {
			t.Fatalf("a request without a response: %s", lines[len(lines)-1])
		}
		for i := 0; i < len(lines); i += 2 {
			var request struct{ Op string }
			var want, got any
			if err := json.Unmarshal([]byte(lines[i]), &request); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(lines[i+1]), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(port.Answer([]byte(lines[i])), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n(-document +port):\n%s", lines[i], diff)
			}
			seen[request.Op]++
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}

// rows returns the cells of a table of a document by the first line of its head, without
// marks of code.
func rows(t *testing.T, document, head string) (cells [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(documentText(t, document), head+"\n")
	if !found {
		t.Fatalf("%s has no table %s", document, head)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	for line := range strings.Lines(rest) {
		if line[0] != '|' {
			return cells
		}
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "|\n"), "|") {
			row = append(row, strings.Trim(cell, " `"))
		}
		cells = append(cells, row)
	}
	return cells
}

// integer reads a number such as 1,024.
func integer(t *testing.T, cell string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(cell, ",", ""), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkFaults checks that each fault of a document has a vector, or a test in one of the packages.
func checkFaults(t *testing.T, document, id string, want int) {
	t.Helper()
	tests := testsOf(t, "../packet") + testsOf(t, "../fuzz") + testsOf(t, "../conform/packets") + testsOf(t, "../channel") + testsOf(t, "../connection")
	vectors := vectorNames(t)
	faults := regexp.MustCompile("(?m)^\\| ("+strings.ReplaceAll(id, "%d", `\d+`)+") \\|.*\\| `(.*)` \\|$").FindAllStringSubmatch(documentText(t, document), -1)
	if len(faults) != want {
		t.Errorf("%d faults, want %d", len(faults), want)
	}
	for i, m := range faults {
		if m[1] != fmt.Sprintf(id, i+1) || !vectors[m[2]] && !strings.Contains(tests, "\nfunc "+m[2]+"(t *testing.T) {") {
			t.Errorf("%s: there is no vector or test %s", m[1], m[2])
		}
	}
}

// Each vector that a document names exists.
func TestVectorsOfTheDocumentsExist(t *testing.T) {
	vectors, seen := vectorNames(t), 0
	for _, name := range []string{"PROTOCOL.md", "REPAIR.md", "RECOVERY.md", "PACKETS.md", "CHANNELS.md", "CONNECTION.md"} {
		for _, m := range regexp.MustCompile("vector `([^`]+)`").FindAllStringSubmatch(documentText(t, name), -1) {
			if seen++; !vectors[m[1]] {
				t.Errorf("%s: there is no vector %s", name, m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no document names a vector")
	}
}

// testsOf returns the text of all tests of a package.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func vectorNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range files {
		for _, v := range f.Vectors {
			names[v.Name] = true
		}
	}
	return names
}

// checkCodes checks that a registry has the codes of a package, which are in one file, and
// some others.
func checkCodes(t *testing.T, data, file string, others ...string) {
	t.Helper()
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Codes []struct{ Code string } }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	want := append(codesOf(t, file), others...)
	var got []string
	for _, c := range document.Codes {
		got = append(got, c.Code)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes of %s (-code +document):\n%s", data, diff)
	}
}

// codesOf returns the codes that a file declares.
func codesOf(t *testing.T, file string) (codes []string) {
	t.Helper()
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`core\.Code += "([a-z_]+)"`).FindAllSubmatch(code, -1) {
		codes = append(codes, string(m[1]))
	}
	return codes
}

// Each command of the documents that runs tests finds a test for each of its alternatives.
func TestCommandsOfTheDocumentsFindTests(t *testing.T) {
	command := regexp.MustCompile(`(?:cd ([a-z/]+) && )?go test ((?:\./[a-z/.]+ )+)-run '?([\w^$|().\\]+)'?`)
	declared := regexp.MustCompile(`\nfunc (Test\w+)\(`)
	documents, err := filepath.Glob("*.md")
	if err != nil || len(documents) < 8 {
		t.Fatal(documents, err)
	}
	for _, document := range documents {
		for _, m := range command.FindAllStringSubmatch(documentText(t, document), -1) {
			var names []string
			for _, folder := range strings.Fields(m[2]) {
				for _, n := range declared.FindAllStringSubmatch(testsOf(t, filepath.Join("..", m[1], folder)), -1) {
					names = append(names, n[1])
				}
			}
			for _, alternative := range strings.Split(strings.ReplaceAll(m[3], `\|`, "|"), "|") {
				if run, err := regexp.Compile(alternative); err == nil && alternative != "^$" && !slices.ContainsFunc(names, run.MatchString) {
					t.Errorf("%s: %s: no test %s", document, m[0], alternative)
				}
			}
		}
	}
}
