// Package table steps a machine through its transition table.
//
// A machine keeps its states, its table, its guards and its actions on one page.
// The table is a list of [Transition]; each row has its id in the specification,
// its guard and its actions, in the words of the document. [Table.Lines] gives
// the rows as strings, so that a test can compare the table with the document.
package table

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// Guard describes a condition that distinguishes what one event can mean. Of the
// guards of an event exactly one holds, in any state.
type Guard struct {
	Event string // the event that it belongs to
	Text  string // the condition in the words of the specification; Always in a row for all of them
}

// covers reports whether a row with this guard is for the other one, too.
func (g Guard) covers(other Guard) bool {
	return g == other || g.Text == Always && g.Event == other.Event
}

// Always is the text of a guard that stands for every guard of its event.
const Always = "always"

// Guards is the guards of a machine: each is declared once, with the words of the specification.
type Guards []Guard

// Add appends a guard, and returns its place: what a row and the code call it by.
func (g *Guards) Add(event, text string) uint8 {
	*g = append(*g, Guard{event, text})
	return uint8(len(*g) - 1)
}

// Action is one step of what a transition does.
type Action[M, In any] struct {
	Name string // in the specification; empty for what only counts
	Do   func(*M, In)
}

// Transition is a row of a table: in state From, when the guard If holds, the
// machine goes to state To and takes the actions in order.
type Transition[S State, G ~uint8, M, In any] struct {
	Row  core.Row
	From S
	If   G
	To   S
	Do   []Action[M, In]
}

// State is the type of a machine's states.
type State interface {
	~uint8
	String() string
}

// Table is all transitions of a machine. M is the machine, In what an event
// gives to the actions.
type Table[S State, G ~uint8, M, In any] struct {
	guards []Guard
	rows   []Transition[S, G, M, In]
	cells  [][]*Transition[S, G, M, In] // by state and guard
}

// New returns the table with these rows, for a machine with the states
// 0..states-1 and the guards given, which G indexes. Two rows for one state and
// guard are a mistake in the program, and panic. A state and guard without a row
// cannot occur; Step then changes nothing.
func New[S State, G ~uint8, M, In any](states int, guards []Guard, rows []Transition[S, G, M, In]) *Table[S, G, M, In] {
	t := &Table[S, G, M, In]{guards: guards, rows: rows}
	t.cells = make([][]*Transition[S, G, M, In], states)
	for s := range t.cells {
		t.cells[s] = make([]*Transition[S, G, M, In], len(guards))
	}
	for i := range rows {
		row := &rows[i]
		for g, guard := range guards {
			if !guards[row.If].covers(guard) {
				continue
			}
			cell := &t.cells[row.From][g]
			if *cell != nil {
				panic(fmt.Sprintf("table: rows %s and %s are for one state and guard", (*cell).Row, row.Row))
			}
			*cell = row
		}
	}
	return t
}

// Step takes the transition for the guard that holds: it sets the state and the
// row, then does the row's actions. It reports whether the row has any or goes to another
// state; one without both only says that there was nothing to do.
func (t *Table[S, G, M, In]) Step(m *M, state *S, row *core.Row, guard G, in In) (does bool) {
	cell := t.cells[*state][guard]
	if cell == nil {
		return false
	}
	*state, *row = cell.To, cell.Row
	for _, a := range cell.Do {
		a.Do(m, in)
	}
	return cell.From != cell.To || len(cell.Do) > 0
}

// Lines returns the rows of the table in order.
func (t *Table[S, G, M, In]) Lines() []core.Line {
	lines := make([]core.Line, len(t.rows))
	for i, row := range t.rows {
		g := t.guards[row.If]
		lines[i] = core.Line{Row: row.Row, State: row.From.String(), Event: g.Event, Guard: g.Text, Next: row.To.String()}
		for _, a := range row.Do {
			if a.Name != "" {
				lines[i].Actions = append(lines[i].Actions, a.Name)
			}
		}
	}
	return lines
}
