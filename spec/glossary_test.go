package spec_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A name that stands in the tables of variables of several protocols is in GLOSSARY.md, since it means
// another thing in each.
func TestGlossaryHasNamesOfSeveralMeanings(t *testing.T) {
	families := map[string][]string{
		"chunks": {"PROTOCOL.md", "REPAIR.md", "RECOVERY.md"}, "packets": {"PACKETS.md"}, "channels": {"CHANNELS.md"}, "connections": {"CONNECTION.md"},
	}
	name := regexp.MustCompile("`([a-z_]+)`")
	places := map[string][]string{}
	for family, documents := range families {
		for _, document := range documents {
			for _, row := range variableRows(documentText(t, document)) {
				for _, m := range name.FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
					if !slices.Contains(places[m[1]], family) {
						places[m[1]] = append(places[m[1]], family)
					}
				}
			}
		}
	}
	_, glossary, _ := strings.Cut(documentText(t, "GLOSSARY.md"), "## Names of variables")
	if len(places) < 100 {
		t.Fatalf("%d names", len(places))
	}
	for n, families := range places {
		if len(families) > 1 && !strings.Contains(glossary, "| `"+n+"`") && !strings.Contains(glossary, ", `"+n+"` |") {
			t.Errorf("GLOSSARY.md lacks `%s`, a variable of %v", n, families)
		}
	}
}

// variableRows returns the rows of all tables of variables.
func variableRows(text string) (rows []string) {
	inTable := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| Variable") {
			inTable = true
		} else if !strings.HasPrefix(line, "|") {
			inTable = false
		} else if inTable {
			rows = append(rows, line)
		}
	}
	return rows
}
