package rateless_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// worth names, for each rule, a path and a figure that is worse without it.
var worth = map[string]struct {
	where   string
	path    measure.Scenario
	what    string // "median", "95th" or "bytes"
	percent float64
}{
	"RPL-4":         {"S1 5 % warm", at("S1", 5).Scenario(1), "95th", 30},
	"RPL-5, step 2": {"S1, outage for the first 1 s, then the next chunk", afterOutage(), "bytes", 4},
}

// afterOutage is a chunk in whose first second nothing arrives.
func afterOutage() measure.Scenario {
	return measure.HardCase("S1, outage for the first 1 s").Warm()
}

// TestAblation switches off one rule at a time. Run with -v it prints the table of
// tools/bench/REPAIR-RESULTS.md; that has -seeds 300.
func TestAblation(t *testing.T) {
	var rows []string
	for i, r := range rateless.Rules {
		t.Run(r.ID, func(t *testing.T) { rows = append(rows, ablate(t, i)) })
	}
	if len(rows) == len(rateless.Rules) {
		measuretest.Table(t, "rules", rows)
	}
}

func ablate(t *testing.T, i int) string {
	r, profile, seeds := rateless.Rules[i], rateless.Default(), measuretest.Seeds(60)
	switch r.ID {
	case "RPL-2": // a stream
		read := func(int) core.Micros { return 200 * ms }
		_, left := at("S1", 0).Scenario(0).Stream(1, with(profile), 20, read)
		_, without := at("S1", 0).Scenario(0).Stream(1, with(profile.Without(i)), 20, read)
		return compare(t, r.ID, r.Name, "S1 0 %, a reader of 200 ms, bytes", left, without, 50)
	}
	w, ok := worth[r.ID]
	if !ok {
		t.Fatalf("%s: not worth anything?", r.Name)
	}
	left := w.path.Run(seeds, with(profile)).Of(w.what)
	without := w.path.Run(seeds, with(profile.Without(i))).Of(w.what)
	return compare(t, r.ID, r.Name, w.where+", "+w.what, left, without, w.percent)
}

func compare(t *testing.T, id, name, where string, left, without, percent float64) string {
	t.Helper()
	more := 100 * (without/left - 1)
	if more < percent {
		t.Errorf("%s: %.0f %% worse without, want at least %.0f %%", id, more, percent)
	}
	return fmt.Sprintf("| %s | %s | %s | %.4g | %.4g | %+.0f %% |", id, name, where, left, without, more)
}
