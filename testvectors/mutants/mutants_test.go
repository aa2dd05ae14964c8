package main

import (
	"os"
	"strings"
	"testing"
)

// Every mistake can still be made, makes a difference, and has its row in the
// table of the README.
func TestMutantsAreUpToDate(t *testing.T) {
	const root = "../../"
	readme, err := os.ReadFile(root + "testvectors/README.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range mutants {
		text, err := os.ReadFile(root + m.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), m.old); n != 1 {
			t.Errorf("%s: what it changes stands %d times in %s", m.mistake, n, m.file)
		}
		if m.old == m.new || seen[m.mistake] {
			t.Errorf("%s: changes nothing, or is there twice", m.mistake)
		}
		seen[m.mistake] = true
		if !strings.Contains(string(readme), "| "+m.mistake+" | "+m.file+" | ") {
			t.Errorf("%s is not in the table of the README; write it with -write", m.mistake)
		}
	}
	if len(mutants) < 60 {
		t.Errorf("only %d mistakes", len(mutants))
	}
}
