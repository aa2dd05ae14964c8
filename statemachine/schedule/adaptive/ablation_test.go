package adaptive_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// worth names, for each rule, a path and a figure that is worse without it.
var worth = map[string]struct {
	where   string
	path    measure.Scenario
	profile adaptive.Profile
	what    string // "median", "95th" or "bytes"
	percent float64
}{
	"LOS-3": {"half of S1 10 ms late", measure.Both(measure.Late(50)), adaptive.Adaptive(), "bytes", 25},
	"EST-3": {"S2 50 % cold, burst", measure.Cell{Network: "S2", Loss: 50}.Scenario(0), adaptive.Burst(), "median", 20},
	"EST-5": {"S2 50 % cold, burst", measure.Cell{Network: "S2", Loss: 50}.Scenario(0), adaptive.Burst(), "median", 20},
	"PTO-1": {"S4 5 % warm", measure.Cell{Network: "S4", Loss: 5}.Scenario(1), adaptive.Adaptive(), "95th", 10},
	"PTO-2": {"5 % of S1 10 ms late, warm", measure.Both(measure.Late(5)).Warm(), adaptive.Adaptive(), "bytes", 15},
	"PTO-4": {"S2, RTT jumps to 400 ms", measure.HardCase("S2, RTT jumps to 400 ms"), adaptive.Adaptive(), "bytes", 5},
	"CPY-1": {"S4 50 % warm", measure.Cell{Network: "S4", Loss: 50}.Scenario(1), adaptive.Adaptive(), "median", 30},
	"CPY-3": {"10 slices, outage of 6 s", measure.HardCase("10 slices, outage of 6 s"), adaptive.Adaptive(), "bytes", 30},
}

// TestAblation switches off one rule at a time. Run with -v it prints the table
// with -seeds. What the rules of the controller are worth, go run ./fuzz/mistakes -worth measures.
func TestAblation(t *testing.T) {
	for i, r := range adaptive.Rules {
		w, ok := worth[r.ID]
		if !ok {
			t.Errorf("%s %s: not worth anything?", r.ID, r.Name)
			continue
		}
		seeds := measuretest.Seeds(60)
		left := w.path.Run(seeds, with(w.profile)).Of(w.what)
		without := w.path.Run(seeds, with(w.profile.Without(i))).Of(w.what)
		more := 100 * (without/left - 1)
		t.Logf("| %s | %s | %s, %s | %.4g | %.4g | %+.0f %% |", r.ID, r.Name, w.where, w.what, left, without, more)
		if more < w.percent {
			t.Errorf("%s: %.0f %% worse without, want at least %.0f %%", r.ID, more, w.percent)
		}
	}
}
