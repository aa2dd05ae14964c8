package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
)

// Situations have a name of their own, an end, and a path that is valid; and the columns of a
// set, too.
func TestSets(t *testing.T) {
	for _, s := range sets {
		seen := map[string]bool{}
		for _, one := range s.situations() {
			check.That(t, !seen[one.name], fmt.Sprintf("%s: %s is there once", s.name, one.name))
			seen[one.name] = true
			check.That(t, one.from < one.until && len(one.flows) > 0, one.name)
			check.Must(flows.NewWorld(one.path, 1))
			for i, c := range one.path.Changes {
				check.That(t, i == 0 || c.At >= one.path.Changes[i-1].At, one.name+": changes are in order")
			}
		}
		check.That(t, len(seen) > 5 && len(s.columns) > 3, s.name)
	}
}

// What is left out is left out of each scheduler, and of no situation that says nothing of it.
func TestAblation(t *testing.T) {
	for _, s := range ablation.situations() {
		_, _, leaves := strings.Cut(s.name, "without")
		for _, f := range s.flows {
			check.Equal(t, s.name, f.Lanes.NewScheduler != nil && f.Lanes.NewRepairScheduler != nil, leaves)
		}
	}
	named := place{name: "S2", path: measure.Networks["S2"], time: 10 * second}
	run := func(rule control.Rule) float64 {
		without = rule
		defer func() { without = 0 }()
		s := streams(named, kinds(8)[0], 1, 0)
		return wait.of(s.run(1))
	}
	check.That(t, run(0) != run(control.Drain), "it matters")
}

// A few cells, so that a change of behavior is a diff.
func TestGrid(t *testing.T) {
	var all strings.Builder
	for _, one := range []struct{ set, only string }{
		{"together", `^5M 64K, (1|4) (named|repair) x8$`},
		{"chunks", `^5M 64K, (1|8) `},
		{"families", `^(both ways: 4 chunks.*x1|policer: 1 chunks.*x8|clumps: 20 |cold: 64 KiB, 1 )`},
		{"changes", `^M, outage of 1 s.* repair x8`},
		{"beside", `^S3, 1 newreno before 1 (named|repair) x8`},
	} {
		only := regexp.MustCompile(one.only)
		for _, s := range sets {
			if s.name != one.set {
				continue
			}
			for _, cell := range s.situations() {
				if !only.MatchString(cell.name) {
					continue
				}
				fmt.Fprintf(&all, "%s | %s |", s.name, cell.name)
				o := cell.run(1)
				for _, c := range s.columns {
					fmt.Fprintf(&all, " %s %s,", c.name, c.print(c.of(o)))
				}
				fmt.Fprintln(&all)
			}
		}
	}
	measuretest.Grid(t, all.String())
}

// The median comes first, and then the worst or a percentile toward it, if it reads otherwise.
func TestText(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		column
		tail   int
		values []float64
		want   string
	}{
		{column{format: "%.0f"}, 0, []float64{3, 1, 2}, "2 (3)"},
		{column{format: "%.0f", worst: lowest}, 0, []float64{3, 1, 2}, "2 (1)"},
		{column{format: "%.0f"}, 0, []float64{2, 2.1, 1.9}, "2"},
		{column{format: "%.0f"}, 75, []float64{1, 2, 3, 4}, "2 (3)"},
		{column{format: "%.1f"}, 0, []float64{1, nan, 2}, "1.0 (-)"},
		{column{format: "%.1f"}, 0, []float64{nan}, "-"},
		{column{format: "%.1f"}, 0, []float64{1, math.Inf(1)}, "1.0 (never)"},
	} {
		var seeds [][]float64
		for _, v := range test.values {
			seeds = append(seeds, []float64{v})
		}
		check.Equal(t, fmt.Sprint(test.values), test.text(seeds, 0, test.tail), test.want)
	}
}

// What is ideal is what a blind sender at the link's rate needs: the time of all bytes, and the
// delay.
func TestIdeal(t *testing.T) {
	p := netsim.Path{Rate: 8_528_000, Delay: 25 * ms, Overhead: 28} // 1066 bytes take 1 ms
	check.Equal(t, "a chunk", ideal(p, 256*kib, 1), 281.0)
	check.Equal(t, "four", ideal(p, 256*kib, 4), 1049.0)
	p.Loss = 50
	check.Equal(t, "half of it lost", ideal(p, 256*kib, 1), 537.0)
	check.Equal(t, "no limit", ideal(netsim.Path{Delay: 25 * ms}, 256*kib, 1), 25.0)
}

// A stream over a path that changes recovers, and what its columns say is of the right times.
func TestChangingColumns(t *testing.T) {
	s := changing("test", measure.Networks["S2"], rate(1e6), nil, kinds(8)[0])
	o := s.run(1)
	before, then := useIn("", changed-10*second, changed).of(o), useIn("", back-10*second, back).of(o)
	check.That(t, before > 0.8 && before <= 1 && then > 0.5 && then <= 1.01, fmt.Sprint(before, then))
	check.That(t, recovered("", back, over).of(o) < 30, "it comes back")
	s = changing("test", measure.Networks["S2"], loss(100), loss(100), kinds(8)[0])
	check.That(t, math.IsInf(recovered("", changed, back).of(s.run(1)), 1), "it cannot")
}

// Runs print Markdown, JSON without NaN, or CSV.
func TestRun(t *testing.T) {
	small := func(how printer) string {
		return printed(t, func() error { return run("chunks", "^S2, 2 named", how) })
	}
	check.That(t, strings.Contains(small(printer{seeds: 2}), "| S2, 2 named x1 |"), "a row")
	var cell struct {
		Set, Cell string
		Figures   map[string][]*float64
	}
	check.That(t, json.Unmarshal([]byte(small(printer{seeds: 2, json: true})), &cell) == nil, "JSON")
	check.Equal(t, "seeds", len(cell.Figures["all ms"]), 2)
	lines := strings.Split(strings.TrimSpace(small(printer{seeds: 1, series: core.Micros(limit / 4)})), "\n")
	check.Equal(t, "lines of CSV: the head, two flows in four times", len(lines), 9)
	for _, bad := range []error{run("nosuch", "", printer{seeds: 1}), run("", "(", printer{seeds: 1}), run("", "", printer{}), run("", "", printer{seeds: 1, series: 1})} {
		check.That(t, bad != nil, "it is refused")
	}
}

// printed returns what a function writes to standard output.
func printed(t *testing.T, do func() error) string {
	t.Helper()
	name := t.TempDir() + "/out"
	stdout := os.Stdout
	os.Stdout = check.Must(os.Create(name))
	err := do()
	check.That(t, os.Stdout.Close() == nil, "it closes")
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	return string(check.Must(os.ReadFile(name)))
}

// A cell in which machines misbehave has no figures, and the others have theirs.
func TestCellThatCannotGoOn(t *testing.T) {
	bad := column{of: func(*outcome) float64 { panic("it never stops") }}
	s := set{columns: []column{use, bad}}
	cell := atOnce(places[0], kinds(1)[0], 1)
	for _, v := range s.figures(&cell, 1) {
		check.That(t, math.IsNaN(v), "no figure")
	}
}
