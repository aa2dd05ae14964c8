// Package tabletest holds the tests that every state machine of the family needs: its
// table is the specification's, is total, and each of its rows can be taken. What they
// return is nil unless something is wrong.
package tabletest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/chunkwire/chunkwire/core"
)

// document is a specification as data, which spec/trace makes of the Markdown.
type document struct {
	Tables []struct {
		Name string
		Rows []core.Line
	}
	Constants []struct {
		Name  string
		Value int64
	}
}

func read(path string) (d document, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	return d, err
}

// CheckRows compares a machine's table with the one of this name in a document: ids,
// states, events, guards, next states and actions, in order.
func CheckRows(path, name string, table []core.Line) error {
	d, err := read(path)
	if err != nil {
		return err
	}
	for _, t := range d.Tables {
		if t.Name != name {
			continue
		}
		if diff := cmp.Diff(t.Rows, table, cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("table %s (-%s +code):\n%s", name, path, diff)
		}
		return nil
	}
	return fmt.Errorf("%s has no table %s", path, name)
}

// CheckConstants compares constants of the code with those of these names in a document.
func CheckConstants(path string, constants map[string]int64) error {
	d, err := read(path)
	if err != nil {
		return err
	}
	want := map[string]int64{}
	for _, c := range d.Constants {
		if _, asked := constants[c.Name]; asked {
			want[c.Name] = c.Value
		}
	}
	if diff := cmp.Diff(want, constants); diff != "" {
		return fmt.Errorf("constants (-%s +code):\n%s", path, diff)
	}
	return nil
}

// CheckDiagram compares the diagram of this name in a Markdown document, the block
// behind the comment "<!-- diagram: name -->", with the one that follows from a table.
func CheckDiagram(path, name, initial string, table []core.Line) error {
	text, err := os.ReadFile(path)
	comment, want := "<!-- diagram: "+name+" -->\n", "```mermaid\n"+Diagram(initial, table)+"```\n"
	_, got, found := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), comment)
	if err == nil && (!found || !strings.HasPrefix(got, want)) {
		return fmt.Errorf("%s must hold this block:\n%s%s", path, comment, want)
	}
	return err
}

// Diagram draws a machine: an arrow for each pair of states, in the order of the first
// row that leads from the one to the other.
func Diagram(initial string, table []core.Line) string {
	arrows := ""
	done := map[string]bool{}
	for _, row := range table {
		if pair := row.State + " --> " + row.Next; row.State != row.Next && !done[pair] {
			done[pair] = true
			arrows += fmt.Sprintf("    %s: %s\n", pair, rowsBetween(table, row.State, row.Next))
		}
	}
	return "stateDiagram-v2\n    direction LR\n    [*] --> " + initial + "\n" + arrows
}

// rowsBetween returns the ids of the rows from one state to another.
func rowsBetween(table []core.Line, from, to string) string {
	var ids []string
	for _, row := range table {
		if row.State == from && row.Next == to {
			ids = append(ids, string(row.Row))
		}
	}
	return strings.Join(ids, ", ")
}
