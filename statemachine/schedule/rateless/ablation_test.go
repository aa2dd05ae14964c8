package rateless_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
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
	"RPL-5, step 2": {"S1, outage for the first 1 s, then the next chunk", afterOutage(), "bytes", 15},
	"RAT-3":         {"S2 50 % warm", at("S2", 50).Scenario(1), "median", 200},
	"RAT-4":         {"S3, a driver of 50 ms, the sixth chunk", at("S3", 0).Scenario(5), "median", 10},
	"PAC-2":         {"1 Mbit/s that becomes 10, warm", faster(), "median", 80},
	"LMT-1":         {"50 kbit/s, RTT 100 ms, queue 16 KiB", thin(), "bytes", 10},
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
	scheme := with
	switch r.ID {
	case "RPL-2": // a stream
		read := func(int) core.Micros { return 200 * ms }
		_, left := at("S1", 0).Scenario(0).Stream(1, with(profile), 20, read)
		_, without := at("S1", 0).Scenario(0).Stream(1, with(profile.Without(i)), 20, read)
		return compare(t, r.ID, r.Name, "S1 0 %, a reader of 200 ms, bytes", left, without, 50)
	case "RAT-3": // each transfer takes a minute without
		seeds = measuretest.Seeds(10)
	case "RAT-4":
		scheme = func(p rateless.Profile) measure.Scheme { return oncePer(50*ms, p) }
	}
	w, ok := worth[r.ID]
	if !ok {
		t.Fatalf("%s: not worth anything?", r.Name)
	}
	left := w.path.Run(seeds, scheme(profile)).Of(w.what)
	without := w.path.Run(seeds, scheme(profile.Without(i))).Of(w.what)
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
