package adaptive

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/tabletest"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each sentence of RECOVERY.md has an id of its own, with a prefix that
// PROTOCOL.md does not use, and every sentence that is cited exists.
func TestSentences(t *testing.T) {
	protocol, document := read(t, "../../../spec/PROTOCOL.md"), read(t, "../../../spec/RECOVERY.md")
	bold := regexp.MustCompile(`\*\*(([A-Z]{3,4})-\d+)\*\*`)
	known := map[string]bool{}
	for _, m := range bold.FindAllStringSubmatch(protocol, -1) {
		known[m[1]] = true
	}
	for _, other := range []string{"../../../spec/REPAIR.md", "../../../spec/CONNECTION.md"} {
		for _, m := range bold.FindAllStringSubmatch(read(t, other), -1) {
			known[m[1]] = true
		}
	}
	for _, m := range bold.FindAllStringSubmatch(document, -1) {
		if known[m[1]] || strings.Contains(protocol, "**"+m[2]+"-") {
			t.Errorf("%s is not new", m[1])
		}
		known[m[1]] = true
	}
	cited := regexp.MustCompile(`\b[A-Z]{3,4}-\d+\b`)
	files, _ := filepath.Glob("../[ac]*/*.go")
	for _, name := range append(files, "../../../spec/RECOVERY.md") {
		for _, id := range cited.FindAllString(read(t, name), -1) {
			if !known[id] && !strings.HasPrefix(id, "SHA-") {
				t.Errorf("%s cites %s, which does not exist", name, id)
			}
		}
	}
}

// The constants are the specification's (REC-10); those of the pace are in package control.
func TestConstants(t *testing.T) {
	err := tabletest.CheckConstants("../../../spec/recovery.json", map[string]int64{
		"MAX_COPIES": mostSent,
	})
	if err != nil {
		t.Error(err)
	}
}
