package explore

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// trace returns the shortest run that leads to the problem.
func (e *explorer[S, M]) trace() string {
	var moves []M
	if e.problem.move != nil {
		moves = append(moves, *e.problem.move)
	}
	for n := e.problem.state; n != 0; n = e.from[n].parent {
		moves = append(moves, e.from[n].move)
	}
	slices.Reverse(moves)
	var out strings.Builder
	state := e.world.Start()
	for i, m := range moves {
		before := state
		_ = e.world.Apply(&state, m)
		fmt.Fprintf(&out, "  %2d  %s\n", i+1, e.world.Text(&before, &state, m))
	}
	fmt.Fprintf(&out, "      then: %s", e.world.Describe(&state))
	return out.String()
}

// RunComparing does what Run does, keeps all states, and makes sure that those with
// the same key are the same in every field. It is for a test of a world's keys.
func RunComparing[S, M any](w World[S, M], limits Limits) *Result {
	e := newExplorer(w, limits)
	e.same = func(a, b *S) bool { return reflect.DeepEqual(a, b) }
	return e.run()
}
