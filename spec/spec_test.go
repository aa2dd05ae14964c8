package spec_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/spec"
)

// Each sentence, row and table is found by its id, and no id is there twice.
func TestFind(t *testing.T) {
	ids := map[string]bool{}
	once := func(id string) {
		check.That(t, !ids[id], id+" is there once")
		ids[id] = true
	}
	for _, d := range spec.Documents() {
		check.That(t, len(d.Sentences) > 0 && len(d.Constants) > 0 && d.Title != "", d.File+" has content")
		for _, s := range d.Sentences {
			once(s.ID)
			got, ok := spec.Find(s.ID)
			check.Equal(t, s.ID, got, s)
			check.That(t, ok && s.File == d.File && s.Text != "" && s.Class != "", s.ID+" is found")
		}
		for _, table := range d.Tables {
			got, ok := spec.FindTable(table.Name)
			check.Equal(t, table.Name, got, table)
			check.That(t, ok && table.File == d.File, table.Name+" is found")
			for _, r := range table.Rows {
				once(r.Row)
				row, ok := spec.FindRow(r.Row)
				check.Equal(t, r.Row, row, r)
				check.That(t, ok && r.Event != "", r.Row+" is found")
			}
		}
	}
	check.Same(t, "documents", len(spec.Documents()), 6)
}

func TestFindNothing(t *testing.T) {
	_, sentence := spec.Find("nothing")
	_, row := spec.FindRow("nothing")
	_, table := spec.FindTable("nothing")
	check.That(t, !sentence && !row && !table, "what is not there is not found")
}
