package tabletest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// Machine is a machine as the tests of its table see it.
type Machine struct {
	States     []string
	Guards     []table.Guard
	Table      []core.Line
	Impossible []Impossible
}

// Impossible is a guard that cannot hold in a state, and why.
type Impossible struct {
	State string
	Guard table.Guard
	Why   string
}

// Never returns guards of all that cannot hold in a state, for one reason.
func Never(all []table.Guard, state, why string, guards ...uint8) (list []Impossible) {
	for _, g := range guards {
		list = append(list, Impossible{state, all[g], why})
	}
	return list
}

// WhyNot returns why a guard cannot hold in a state; nothing if it can.
func (m *Machine) WhyNot(state string, g table.Guard) string {
	for _, i := range m.Impossible {
		if i.State == state && i.Guard == g {
			return i.Why
		}
	}
	return ""
}

// Rows returns the rows for a state and a guard.
func (m *Machine) Rows(state string, g table.Guard) (rows []core.Line) {
	for _, l := range m.Table {
		if l.State == state && l.Event == g.Event && (l.Guard == g.Text || l.Guard == table.Always) {
			rows = append(rows, l)
		}
	}
	return rows
}

// CheckTotal makes sure that there is exactly one row for each state and guard, but no
// row of its own for a guard that cannot hold, and that no row is left over.
func (m *Machine) CheckTotal() (err error) {
	matched := map[core.Row]bool{}
	for state, g := range m.cells {
		rows := m.Rows(state, g)
		switch {
		case m.WhyNot(state, g) != "":
		case len(rows) != 1:
			err = errors.Join(err, fmt.Errorf("%s, %s, %s: rows %v, want exactly one", state, g.Event, g.Text, rows))
		default:
			matched[rows[0].Row] = true
		}
	}
	for _, l := range m.Table {
		if !matched[l.Row] {
			err = errors.Join(err, fmt.Errorf("row %s can never be taken", l.Row))
		}
	}
	return err
}

// cells yields all states and guards.
func (m *Machine) cells(yield func(state string, g table.Guard) bool) {
	for _, state := range m.States {
		for _, g := range m.Guards {
			if !m.standsForOthers(g) && !yield(state, g) {
				return
			}
		}
	}
}

// standsForOthers reports whether a guard always holds while the event has others.
func (m *Machine) standsForOthers(g table.Guard) bool {
	return g.Text == table.Always && slices.ContainsFunc(m.Guards, func(other table.Guard) bool {
		return other.Event == g.Event && other != g
	})
}
