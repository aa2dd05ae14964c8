// Package search looks for the worst path: it draws worlds of flows from seeds, runs them, and holds
// what comes of them against the bounds of the controller's properties, P1 to P8 of RECOVERY.md.
// A seed gives one world, so that whatever is found can be repeated.
package search

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Finding is a measurement of one property in one world.
type Finding struct {
	Family, World string
	Seed          uint64
	What          string
	Value, Bound  float64
	Least         bool // the bound is the least that is allowed, and not the most
}

// Badness is how far a value is from its bound: above 1 it is beyond.
func (f Finding) Badness() float64 {
	if f.Least {
		return f.Bound / max(f.Value, 1e-3)
	}
	return f.Value / f.Bound
}

// tolerated is how far beyond its bound a figure may be in any world: no world collapses.
const tolerated = 8

// open is what goes further beyond its bound in some worlds: how far at most, and why.
var open = []struct {
	family, what string
	most         float64
	cause        string
}{
	{"P4 ours", "drops", 24, "shares below five slices, and queues of 1 ms, which the delay of acks hides"},
	{"P5 step", "use", 16, "a round trip that grows tenfold is taken for a queue at first"},
	{"P8 breaker", "slices a round trip", 64, "60 to 65 % of random loss: half is calm, and the bound is three deviations above"},
}

// Fails reports whether a figure is further beyond its bound than what is open.
func (f Finding) Fails() bool {
	most := float64(tolerated)
	for _, o := range open {
		if o.family == f.Family && o.what == f.What {
			most = o.most
		}
	}
	return f.Badness() > most
}

func (f Finding) String() string {
	than := "at most"
	if f.Least {
		than = "at least"
	}
	return fmt.Sprintf("%s seed %d, %s: %s %.4f, %s %.4f", f.Family, f.Seed, f.World, f.What, f.Value, than, f.Bound)
}

// trial is a world under way.
type trial struct {
	draw
	family string
	name   []string
	world  *flows.World
	found  []Finding
}

func (t *trial) most(what string, value, bound float64)  { t.find(what, value, bound, false) }
func (t *trial) least(what string, value, bound float64) { t.find(what, value, bound, true) }

func (t *trial) find(what string, value, bound float64, least bool) {
	t.found = append(t.found, Finding{t.family, strings.Join(t.name, ", "), t.seed, what, value, bound, least})
}

// say adds to what the world is called.
func (t *trial) say(format string, args ...any) {
	t.name = append(t.name, fmt.Sprintf(format, args...))
}

// begin makes the world of a path.
func (t *trial) begin(p path) {
	t.say("%s", p.name)
	w, err := flows.NewWorld(p.Path, t.seed)
	if err != nil {
		panic(err) // the draw is at fault
	}
	t.world = w
}

// rate returns the bits a second of distinct data of flows, with headers, from one time to another.
func rate(from, to core.Micros, all ...*flows.Flow) (sum float64) {
	for _, f := range all {
		sum += float64(f.Counts(flows.Down, from, to).NewsBytes) * 8e6
	}
	return sum / float64(to-from)
}

// Families are the names of the families of worlds, in order.
func Families() (all []string) {
	for _, f := range families {
		all = append(all, f.name)
	}
	return all
}

// Run runs the world of a seed in a family, and returns the findings.
func Run(family string, seed uint64) []Finding {
	for i, f := range families {
		if f.name == family {
			t := &trial{draw: draw{sim.NewDraw(seed, 100+uint64(i)), seed}, family: family}
			f.run(t)
			return t.found
		}
	}
	panic("search: no family " + family)
}

// Report writes findings: a row for each property, and the worst.
func Report(w io.Writer, all []Finding, worst int) {
	by, order := map[string][]Finding{}, []string{}
	for _, f := range all {
		k := f.Family + " " + f.What
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], f)
	}
	for _, k := range order {
		fs := by[k]
		slices.SortFunc(fs, byBadness)
		beyond := 0
		for beyond < len(fs) && fs[beyond].Badness() > 1 {
			beyond++
		}
		fmt.Fprintf(w, "%-28s %3d of %3d beyond; over the bound: median %.3f, 90th %.3f, worst %.3f\n",
			k, beyond, len(fs), fs[len(fs)/2].Badness(), fs[len(fs)/10].Badness(), fs[0].Badness())
	}
	for _, o := range open {
		fmt.Fprintf(w, "open: %s %s, at most %.0f times: %s\n", o.family, o.what, o.most, o.cause)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Badness() <= 1 })
	slices.SortFunc(all, byBadness)
	for _, f := range all[:min(worst, len(all))] {
		fails := ""
		if f.Fails() {
			fails = " FAILS"
		}
		fmt.Fprintf(w, "%6.2f%s  %v\n", f.Badness(), fails, f)
	}
}

func byBadness(a, b Finding) int { return cmp.Compare(b.Badness(), a.Badness()) }
