package statemachine

import (
	"os"
	"strings"
	"testing"
)

const (
	documentPath = "../spec/PROTOCOL.md"
	tableHeader  = "| Row | State | Event | Guard | Next state | Actions |"
)

// document returns the lines of the specification.
func document(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatalf("the specification cannot be read: %v", err)
	}
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
}

// documentTable returns the first five columns of the document's transition
// table whose row ids start with prefix.
func documentTable(t *testing.T, prefix string) [][5]string {
	t.Helper()
	var table [][5]string
	lines := document(t)
	for i, line := range lines {
		if strings.TrimSpace(line) != tableHeader {
			continue
		}
		// The header, the line of dashes, then the rows.
		for _, line := range lines[min(i+2, len(lines)):] {
			if !strings.HasPrefix(line, "|") {
				break
			}
			row := documentRow(t, line)
			if strings.HasPrefix(row[0], prefix) {
				table = append(table, row)
			}
		}
	}
	if table == nil {
		t.Fatalf("%s has no row %s1 under the header\n%s", documentPath, prefix, tableHeader)
	}
	return table
}

func documentRow(t *testing.T, line string) (row [5]string) {
	t.Helper()
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	if len(cells) < 6 {
		t.Fatalf("%s: a row of %d columns, want 6: %s", documentPath, len(cells), line)
	}
	for i := range row {
		row[i] = strings.TrimSpace(cells[i])
	}
	if strings.TrimSpace(cells[5]) == "" {
		t.Fatalf("%s: row %s names no actions", documentPath, row[0])
	}
	return row
}

// documentDiagram returns the fenced block behind the comment that names it.
func documentDiagram(t *testing.T, name string) (diagram string, found bool) {
	t.Helper()
	text := strings.Join(document(t), "\n")
	_, rest, found := strings.Cut(text, "<!-- diagram: "+name+" -->\n")
	if !found {
		return "", false
	}
	rest, found = strings.CutPrefix(strings.TrimLeft(rest, "\n"), "```mermaid\n")
	if !found {
		return "", false
	}
	diagram, _, found = strings.Cut(rest, "```")
	return diagram, found
}
