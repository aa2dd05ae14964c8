package tabletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// A lamp with a switch that must be pressed long to switch it on.
var (
	press = table.Guard{Event: "press", Text: table.Always}
	long  = table.Guard{Event: "press", Text: "long"}
	short = table.Guard{Event: "press", Text: "short"}
	tick  = table.Guard{Event: "tick", Text: table.Always} // its only guard
)

func lamp() *Machine {
	return &Machine{
		States: []string{"OFF", "ON"},
		Guards: []table.Guard{press, long, short, tick},
		Table: []core.Line{
			{Row: "T1", State: "OFF", Event: "press", Guard: "long", Next: "ON", Actions: []string{"LIGHT", "COUNT"}},
			{Row: "T2", State: "OFF", Event: "press", Guard: "short", Next: "OFF"},
			{Row: "T3", State: "ON", Event: "press", Guard: "always", Next: "OFF", Actions: []string{"DARKEN"}},
			{Row: "T4", State: "ON", Event: "tick", Guard: "always", Next: "OFF"},
		},
		Impossible: []Impossible{{"OFF", tick, "it does not burn"}},
	}
}

const (
	data = `{"format": 1, "constants": [{"name": "BURNS", "value": 7}, {"name": "WATTS", "value": 60}], "tables": [
		{"name": "candle", "rows": []},
		{"name": "lamp", "rows": [
			{"row": "T1", "state": "OFF", "event": "press", "guard": "long", "next": "ON", "actions": ["LIGHT", "COUNT"]},
			{"row": "T2", "state": "OFF", "event": "press", "guard": "short", "next": "OFF", "actions": []},
			{"row": "T3", "state": "ON", "event": "press", "guard": "always", "next": "OFF", "actions": ["DARKEN"]},
			{"row": "T4", "state": "ON", "event": "tick", "guard": "always", "next": "OFF"}]}]}`

	diagram = `# Lamps

<!-- diagram: lamp -->
` + "```mermaid" + `
stateDiagram-v2
    direction LR
    [*] --> OFF
    OFF --> ON: T1
    ON --> OFF: T3, T4
` + "```\n"
)

// write returns the path of a file with a text, of which a part is replaced.
func write(t *testing.T, text, old, new string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document")
	check.Same(t, "error", os.WriteFile(path, []byte(strings.ReplaceAll(text, old, new)), 0o600), nil)
	return path
}

// contains makes sure that an error says so; nothing stands for no error.
func contains(t *testing.T, name string, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s: %v, want %q", name, err, text)
	}
}

func TestADocumentIsComparedWithATable(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"as it is", "\n", "\r\n", ""},
		{"another id", "T2", "U2", "U2"},
		{"another guard", `"long"`, `"longer"`, "longer"},
		{"another event", `"press", "guard": "long"`, `"pull", "guard": "long"`, "pull"},
		{"another state", `"T3", "state": "ON"`, `"T3", "state": "OFF"`, "-"},
		{"another next state", `"always", "next": "OFF"`, `"always", "next": "ON"`, "-"},
		{"another action", `"COUNT"`, `"COUNT TWICE"`, "COUNT TWICE"},
		{"other order", `["LIGHT", "COUNT"]`, `["COUNT", "LIGHT"]`, "-"},
		{"an action too many", `"actions": []`, `"actions": ["LIGHT"]`, "LIGHT"},
		{"no such table", `"lamp"`, `"torch"`, "no table lamp"},
		{"no data", `{"format"`, `"format"`, "invalid character"},
	} {
		contains(t, c.name, CheckRows(write(t, data, c.old, c.new), "lamp", lamp().Table), c.want)
	}
	contains(t, "no document", CheckRows("there is none", "lamp", nil), "there is none")
}

func TestConstantsAreCompared(t *testing.T) {
	path := write(t, data, "", "")
	contains(t, "one of two", CheckConstants(path, map[string]int64{"BURNS": 7}), "")
	contains(t, "another value", CheckConstants(path, map[string]int64{"BURNS": 7, "WATTS": 61}), "60")
	contains(t, "another name", CheckConstants(path, map[string]int64{"VOLTS": 12}), "VOLTS")
	contains(t, "no document", CheckConstants("there is none", nil), "there is none")
}

func TestADocumentsDiagramIsCompared(t *testing.T) {
	for _, c := range []struct{ name, old, new, initial, want string }{
		{"as it is", "\n", "\r\n", "OFF", ""},
		{"another name", "diagram: lamp", "diagram: torch", "OFF", "<!-- diagram: lamp -->"},
		{"another start", "", "", "ON", "[*] --> ON"},
		{"another arrow", "T3, T4", "T3", "OFF", "ON --> OFF: T3, T4"},
	} {
		contains(t, c.name, CheckDiagram(write(t, diagram, c.old, c.new), "lamp", c.initial, lamp().Table), c.want)
	}
	contains(t, "no document", CheckDiagram("there is none", "lamp", "OFF", nil), "there is none")
}

func TestATableIsTotal(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *Machine)
		want   string
	}{
		{"as it is", func(*Machine) {}, ""},
		{"a row is missing", func(m *Machine) { m.Table = m.Table[1:] }, "OFF, press, long: rows []"},
		{"two rows for one", func(m *Machine) { m.Table[1].Guard = "long" }, "want exactly one"},
		{"a row beside always", func(m *Machine) { m.Table[1].State = "ON" }, "ON, press, short"},
		{"nothing is impossible", func(m *Machine) { m.Impossible = nil }, "OFF, tick, always"},
		{"a row for the impossible", func(m *Machine) { m.Impossible[0] = Impossible{"ON", tick, "why"} }, "row T4 can never be taken"},
		{"an unknown guard", func(m *Machine) { m.Table[3].Guard = "broken" }, "row T4 can never be taken"},
	} {
		m := lamp()
		c.change(m)
		contains(t, c.name, m.CheckTotal(), c.want)
	}
}
