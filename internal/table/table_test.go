package table_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

type lamp uint8

const (
	off lamp = iota
	on
)

func (l lamp) String() string { return [...]string{"OFF", "ON"}[l] }

const (
	pressed uint8 = iota
	long
	short
)

type device struct {
	state lamp
	row   core.Row
	log   []string
}

func (d *device) light(by string) { d.log = append(d.log, "light by "+by) }
func (d *device) count(string)    { d.log = append(d.log, "count") }

type action = table.Action[device, string]

func rows() []table.Transition[lamp, uint8, device, string] {
	light, count := action{"LIGHT", (*device).light}, action{"", (*device).count}
	return []table.Transition[lamp, uint8, device, string]{
		{"T1", off, long, on, []action{light, count}},
		{"T2", off, short, off, nil},
		{"T3", on, pressed, off, []action{count}},
	}
}

var guards = []table.Guard{
	pressed: {Event: "press", Text: table.Always},
	long:    {Event: "press", Text: "long"},
	short:   {Event: "press", Text: "short"},
}

func TestStepTakesTheRowOfStateAndGuard(t *testing.T) {
	tab := table.New(2, guards, rows())
	var d device
	for _, step := range []struct {
		guard uint8
		row   core.Row
		state lamp
	}{{short, "T2", off}, {long, "T1", on}, {short, "T3", off}, {long, "T1", on}, {long, "T3", off}} {
		tab.Step(&d, &d.state, &d.row, step.guard, "hand")
		if d.row != step.row || d.state != step.state {
			t.Fatalf("guard %d: row %s, state %v, want %s, %v", step.guard, d.row, d.state, step.row, step.state)
		}
	}
	want := []string{"light by hand", "count", "count", "light by hand", "count", "count"}
	if diff := cmp.Diff(want, d.log); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

func TestStepWithoutRowChangesNothing(t *testing.T) {
	tab := table.New(2, guards, rows()[:2])
	d := device{state: on, row: "T1"}
	tab.Step(&d, &d.state, &d.row, long, "")
	if d.state != on || d.row != "T1" || d.log != nil {
		t.Errorf("got %+v", d)
	}
}

func TestLinesAreTheRowsInWords(t *testing.T) {
	want := []core.Line{
		{Row: "T1", State: "OFF", Event: "press", Guard: "long", Next: "ON", Actions: []string{"LIGHT"}},
		{Row: "T2", State: "OFF", Event: "press", Guard: "short", Next: "OFF"},
		{Row: "T3", State: "ON", Event: "press", Guard: "always", Next: "OFF"},
	}
	if diff := cmp.Diff(want, table.New(2, guards, rows()).Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestTwoRowsForOneCellPanic(t *testing.T) {
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, "T1 and T9") {
			t.Errorf("got %q", got)
		}
	}()
	table.New(2, guards, append(rows(), table.Transition[lamp, uint8, device, string]{Row: "T9", From: off, If: pressed, To: off}))
}
