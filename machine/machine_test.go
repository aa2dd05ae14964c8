package machine_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/machine"
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
	row   machine.Row
	log   []string
}

func (d *device) light(by string) { d.log = append(d.log, "light by "+by) }
func (d *device) count(string)    { d.log = append(d.log, "count") }

type action = machine.Action[device, string]

func rows() []machine.Transition[lamp, uint8, device, string] {
	light, count := action{"LIGHT", (*device).light}, action{"", (*device).count}
	return []machine.Transition[lamp, uint8, device, string]{
		{"T1", off, long, on, []action{light, count}},
		{"T2", off, short, off, nil},
		{"T3", on, pressed, off, []action{count}},
	}
}

var guards = []machine.Guard{
	pressed: {Event: "press", Text: machine.Always},
	long:    {Event: "press", Text: "long"},
	short:   {Event: "press", Text: "short"},
}

func TestStepTakesTheRowOfStateAndGuard(t *testing.T) {
	table := machine.NewTable(2, guards, rows())
	var d device
	for _, step := range []struct {
		guard uint8
		row   machine.Row
		state lamp
	}{{short, "T2", off}, {long, "T1", on}, {short, "T3", off}, {long, "T1", on}, {long, "T3", off}} {
		table.Step(&d, &d.state, &d.row, step.guard, "hand")
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
	table := machine.NewTable(2, guards, rows()[:2])
	d := device{state: on, row: "T1"}
	table.Step(&d, &d.state, &d.row, long, "")
	if d.state != on || d.row != "T1" || d.log != nil {
		t.Errorf("got %+v", d)
	}
}

func TestLinesAreTheRowsInWords(t *testing.T) {
	want := []machine.Line{
		{"T1", "OFF", "press", "long", "ON", []string{"LIGHT"}},
		{"T2", "OFF", "press", "short", "OFF", nil},
		{"T3", "ON", "press", "always", "OFF", nil},
	}
	if diff := cmp.Diff(want, machine.NewTable(2, guards, rows()).Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestTwoRowsForOneCellPanic(t *testing.T) {
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, "T1 and T9") {
			t.Errorf("got %q", got)
		}
	}()
	machine.NewTable(2, guards, append(rows(), machine.Transition[lamp, uint8, device, string]{Row: "T9", From: off, If: pressed, To: off}))
}

// Times are in microseconds, and Never is later than all of them (TIM-3).
// Times are microseconds, rounded down (TIM-3).
func TestMicros(t *testing.T) {
	for d, want := range map[time.Duration]machine.Micros{0: 0, 999: 0, 1000: 1, 1999 * time.Nanosecond: 1, time.Hour: 3600 * machine.Second} {
		if got := machine.FromDuration(d); got != want {
			t.Errorf("FromDuration(%v) = %d, want %d", d, got, want)
		}
	}
	for m, want := range map[machine.Micros]time.Duration{
		0: 0, machine.Millisecond: time.Millisecond, machine.Never: math.MaxInt64,
		math.MaxInt64 / 1000: math.MaxInt64 / 1000 * time.Microsecond, math.MaxInt64/1000 + 1: math.MaxInt64,
	} {
		if got := m.Duration(); got != want {
			t.Errorf("%d.Duration() = %d, want %d", m, got, want)
		}
	}
}

func TestConfigError(t *testing.T) {
	err := machine.ConfigError("statemachine: GiveUp", -1, "0 or more")
	if !errors.Is(err, machine.ErrConfig) || err.Error() != "bad configuration: statemachine: GiveUp is -1, allowed is 0 or more" {
		t.Errorf("got %v", err)
	}
}
