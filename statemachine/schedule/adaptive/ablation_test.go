package adaptive_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/netsim"
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
	"RAT-3": {"S2 50 % warm", measure.Cell{Network: "S2", Loss: 50}.Scenario(1), adaptive.Adaptive(), "median", 200},
	"RAT-4": {"S2 50 % warm", measure.Cell{Network: "S2", Loss: 50}.Scenario(1), adaptive.Adaptive(), "95th", 10},
	"PAC-2": {"1 Mbit/s that becomes 10, warm", faster(), adaptive.Adaptive(), "median", 80},
	"LOS-3": {"half of S1 10 ms late", measure.Both(measure.Late(50)), adaptive.Adaptive(), "bytes", 25},
	"EST-3": {"S2 50 % cold, burst", measure.Cell{Network: "S2", Loss: 50}.Scenario(0), adaptive.Burst(), "median", 20},
	"EST-5": {"S1 50 % cold", measure.Cell{Network: "S1", Loss: 50}.Scenario(0), adaptive.Adaptive(), "95th", 4},
	"PTO-1": {"S4 50 % warm", measure.Cell{Network: "S4", Loss: 50}.Scenario(1), adaptive.Adaptive(), "95th", 12},
	"PTO-2": {"5 % of S1 10 ms late, warm", measure.Both(measure.Late(5)).Warm(), adaptive.Adaptive(), "bytes", 15},
	"PTO-4": {"S2, RTT jumps to 400 ms", measure.HardCase("S2, RTT jumps to 400 ms"), adaptive.Adaptive(), "bytes", 30},
	"CPY-1": {"S4 50 % warm", measure.Cell{Network: "S4", Loss: 50}.Scenario(1), adaptive.Adaptive(), "median", 30},
	"CPY-3": {"10 slices, outage of 6 s", measure.HardCase("10 slices, outage of 6 s"), adaptive.Adaptive(), "bytes", 50},
	"LMT-1": {"50 kbit/s, RTT 100 ms, queue 16 KiB", thin(), adaptive.Adaptive(), "bytes", 10},
}

// thin is a path that one chunk keeps busy for 44 s.
func thin() measure.Scenario {
	return measure.Both(netsim.Path{Rate: 50_000, Delay: 50 * time.Millisecond, Queue: 16 << 10, Overhead: 28})
}

// faster is a path whose rate grows between two chunks.
func faster() measure.Scenario {
	s := measure.Both(measure.PathOf(1e6, 50*time.Millisecond, 256<<10)).Warm()
	to := measure.PathOf(10e6, 50*time.Millisecond, 256<<10)
	s.Changes = []measure.Change{{Down: to, Up: to}}
	return s
}

// TestAblation switches off one rule at a time. Run with -v it prints the table
// of RECOVERY.md; that has -seeds 300. What the
// rules of the pace are worth among several senders, conform/sim/flows/tables measures.
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
