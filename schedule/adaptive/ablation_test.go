package adaptive_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
)

// worth names, for each rule, a path and a figure that is worse without it.
var worth = map[string]struct {
	where   string
	path    scenario
	profile adaptive.Profile
	what    string // "median", "95th" or "bytes"
	percent float64
}{
	"WIN-1": {"S3 0 % cold", inCell("S3", 0, false), adaptive.Adaptive(), "bytes", 50},
	"RAT-3": {"S2 50 % warm", inCell("S2", 50, true), adaptive.Adaptive(), "median", 200},
	"RAT-4": {"S2 50 % warm", inCell("S2", 50, true), adaptive.Adaptive(), "95th", 10},
	"PAC-2": {"S2 50 % warm", inCell("S2", 50, true), adaptive.Adaptive(), "median", 25},
	"LOS-3": {"half of S1 10 ms late", scenario{down: late(50), up: late(50)}, adaptive.Adaptive(), "bytes", 25},
	"EST-3": {"S2 50 % cold, burst", inCell("S2", 50, false), adaptive.Burst(), "median", 20},
	"EST-5": {"S1 50 % cold", inCell("S1", 50, false), adaptive.Adaptive(), "95th", 4},
	"PTO-1": {"S4 50 % warm", inCell("S4", 50, true), adaptive.Adaptive(), "95th", 15},
	"PTO-2": {"5 % of S1 10 ms late, warm", scenario{down: late(5), up: late(5), warm: true}, adaptive.Adaptive(), "bytes", 15},
	"PTO-4": {"S2, RTT jumps to 400 ms", jumping(400 * time.Millisecond), adaptive.Adaptive(), "bytes", 30},
	"CPY-1": {"S4 50 % warm", inCell("S4", 50, true), adaptive.Adaptive(), "median", 30},
	"CPY-3": {"10 slices, outage of 6 s", smallInOutage(), adaptive.Adaptive(), "bytes", 50},
	"WIN-4": {"50 kbit/s, RTT 100 ms, queue 16 KiB", thin(), adaptive.Adaptive(), "bytes", 10},
}

func inCell(network string, loss int, warm bool) scenario {
	p := cell{network, loss}.path()
	return scenario{down: p, up: p, warm: warm}
}

// thin is a path that one chunk keeps busy for 44 s.
func thin() scenario {
	return both(netsim.Path{Rate: 50_000, Delay: 50 * time.Millisecond, Queue: 16 << 10, Overhead: 28})
}

// TestAblation switches off one rule at a time. Run with -v it prints the table
// of RECOVERY.md; that has -seeds 300.
func TestAblation(t *testing.T) {
	for i, r := range adaptive.Rules {
		w, ok := worth[r.ID]
		if !ok {
			t.Errorf("%s %s: not worth anything?", r.ID, r.Name)
			continue
		}
		seeds := seedsOr(60)
		with := w.path.run(seeds, w.profile).of(w.what)
		without := w.path.run(seeds, w.profile.Without(i)).of(w.what)
		more := 100 * (without/with - 1)
		t.Logf("| %s | %s | %s, %s | %.4g | %.4g | %+.0f %% |", r.ID, r.Name, w.where, w.what, with, without, more)
		if more < w.percent {
			t.Errorf("%s: %.0f %% worse without, want at least %.0f %%", r.ID, more, w.percent)
		}
	}
}

func (f figures) of(what string) float64 {
	return map[string]float64{"median": f.median, "95th": f.p95, "bytes": f.bytes}[what]
}
