package statemachine

import "testing"

// cannotOccur names a guard that cannot hold in a state, and why.
type cannotOccur[S machineState] struct {
	state S
	guard Guard
	why   string
}

// whyNot returns why a guard cannot hold in a state, or nothing if it can.
func whyNot[S machineState](list []cannotOccur[S], state S, g Guard) string {
	for _, c := range list {
		if c.state == state && c.guard == g {
			return c.why
		}
	}
	return ""
}

// combination is a state and a guard that holds in it.
type combination[S machineState] struct {
	state S
	guard Guard
}

// checkDriven makes sure that each combination of a state and a guard is either
// driven or said to be impossible, not both, and that every row was taken.
func checkDriven[S machineState](t *testing.T, states []S, guards []Guard, table []Transition[S],
	driven map[combination[S]]Row, cannot []cannotOccur[S]) {
	t.Helper()
	taken := map[Row]bool{}
	for _, state := range states {
		for _, g := range guards {
			row, is := driven[combination[S]{state, g}]
			taken[row] = true
			switch why := whyNot(cannot, state, g); {
			case is && why != "":
				t.Errorf("%v, %v is driven, though it cannot occur: %s", state, g, why)
			case !is && why == "":
				t.Errorf("%v, %v is neither driven nor listed as impossible", state, g)
			}
		}
	}
	for _, tr := range table {
		if !taken[tr.Row] {
			t.Errorf("row %v was never taken", tr.Row)
		}
	}
	if n := len(states) * len(guards); len(driven)+len(cannot) != n {
		t.Errorf("%d driven and %d impossible combinations; there are %d", len(driven), len(cannot), n)
	}
}
