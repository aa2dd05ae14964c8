package main

import (
	"os"
	"strings"
	"testing"
)

const root = "../../"

// Every fault can still be made, and makes a difference.
func TestFaultsCanBeMade(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults() {
		text, err := os.ReadFile(root + f.File)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), f.Old); n != 1 {
			t.Errorf("%s: what it changes stands %d times in %s", f.Name, n, f.File)
		}
		if f.Old == f.New || seen[f.Name] || f.Breaks == "" || len(f.CaughtBy) == 0 {
			t.Errorf("%s: changes nothing, is there twice, breaks nothing or is caught by nothing", f.Name)
		}
		seen[f.Name] = true
	}
}

// The README's table has a row for each fault and test, and no other.
func TestTheTableIsUpToDate(t *testing.T) {
	text, err := os.ReadFile(root + readme)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "<!-- faults: begin -->\n"+tableHead)
	table, _, ends := strings.Cut(table, "\n\n")
	if !found || !ends {
		t.Fatal("the README has no table")
	}
	rows := strings.Split(table, "\n")
	for _, f := range faults() {
		for _, by := range f.CaughtBy {
			if len(rows) == 0 || !strings.HasPrefix(rows[0], f.cells(by)) {
				t.Fatalf("the README's table lacks %s; write it with -write", f.cells(by))
			}
			if strings.Contains(rows[0], "**") {
				t.Errorf("not caught: %s", rows[0])
			}
			rows = rows[1:]
		}
	}
	if len(rows) > 0 {
		t.Errorf("the README's table has a row too many: %s", rows[0])
	}
}
