package wireshark_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/spec"
)

var update = flag.Bool("update", false, "write what is generated into chunkwire.lua")

const dissector = "chunkwire.lua"

// refusing matches the ids of the sentences by which a decoder refuses.
var refusing = regexp.MustCompile(`^(DEC|RPD|PKD|CHR|CXH|CXR|CXE)-[0-9]+$`)

// quoted matches the ids that the dissector names.
var quoted = regexp.MustCompile(`"((?:DEC|RPD|PKD|CHR|CXH|CXR|CXE)-[0-9]+)"`)

// The sentences in the dissector are those of the documents.
func TestSentences(t *testing.T) {
	replaced(t, "sentences", func(program []byte) string { return luaTable(t, program) })
}

// replaced checks a part of the dissector that is generated, or writes it.
func replaced(t *testing.T, part string, generate func(program []byte) string) {
	t.Helper()
	lua, err := os.ReadFile(dissector)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("-- BEGIN "+part+"\n"), []byte("-- END "+part+"\n")
	head, rest, ok1 := bytes.Cut(lua, begin)
	_, tail, ok2 := bytes.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("chunkwire.lua has no place for the %s", part)
	}
	want := slices.Concat(head, begin, []byte(generate(slices.Concat(head, tail))), end, tail)
	if *update {
		if err = os.WriteFile(dissector, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(lua, want) {
		t.Fatalf("the %s in chunkwire.lua differ from spec: go test ./tools/wireshark -run 'TestFormats|TestSentences' -update", part)
	}
}

// luaTable returns the sentences that a program names as a table in Lua.
func luaTable(t *testing.T, program []byte) string {
	texts := sentences()
	var ids []string
	for _, m := range quoted.FindAllSubmatch(program, -1) {
		ids = append(ids, string(m[1]))
	}
	slices.SortFunc(ids, byNumber)
	var b strings.Builder
	b.WriteString("local sentences = {\n")
	for _, id := range slices.Compact(ids) {
		text, ok := texts[id]
		if !ok {
			t.Fatalf("no document has %s", id)
		}
		fmt.Fprintf(&b, "  [%q] = %q,\n", id, text)
	}
	b.WriteString("}\n")
	return b.String()
}

// byNumber orders ids as documents do.
func byNumber(a, b string) int {
	nameA, numberA, _ := strings.Cut(a, "-")
	nameB, numberB, _ := strings.Cut(b, "-")
	if c := strings.Compare(nameA, nameB); c != 0 {
		return c
	}
	if c := len(numberA) - len(numberB); c != 0 {
		return c
	}
	return strings.Compare(numberA, numberB)
}

// sentences returns the checks of all documents by their ids.
func sentences() map[string]string {
	texts := map[string]string{}
	for _, document := range spec.Documents() {
		for _, s := range document.Sentences {
			if refusing.MatchString(s.ID) {
				texts[s.ID] = demand(s.Text)
			}
		}
	}
	return texts
}

// demand returns what a row of a table of checks demands: all but its last columns, code and
// place.
func demand(row string) string {
	columns := strings.Split(strings.TrimSuffix(row, " |"), " | ")
	if len(columns) > 2 {
		columns = columns[:len(columns)-2]
	}
	return strings.ReplaceAll(strings.Join(columns, ": "), "`", "")
}
