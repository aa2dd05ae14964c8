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
	{"P2 beside", "ours", 600, "a queue of four slices or fewer, where one cut leaves the other little, and in which there is no room for quic-go's larger datagrams when ours are two (seed 110)"},
	{"P4 ours", "drops", 24, "shares below five slices, and queues of 1 ms: who comes last takes a full queue for the base, and its loss for calm (seed 3937107603)"},
	{"P2 unyielding", "of NewReno's", 64, "kcp turbo keeps the queue full and most is lost, so that its loss is never calm"},
	{"P5 jitter", "use", 100, "jitter far above the target is a queue that stands"},
	{"P5 step", "use", 16, "a round trip that grows tenfold is taken for a queue at first"},
	{"P5 troubles", "fail or hang", 20, "flows behind a policer that lets six slices a second through for each"},
	{"P7 marks", "drops", 64, "a queue of four slices, three of them without a mark"},
	{"P8 breaker", "slices a round trip", 100, "60 to 66 % of random loss: half is calm, and the bound is three deviations above"},
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

// Property is what was found of one property, the worst first.
type Property struct {
	Name   string // of the family and the figure
	Found  []Finding
	Beyond int // so many are beyond their bound
}

// Properties sorts findings by property.
func Properties(all []Finding) (list []Property) {
	at := map[string]int{}
	for _, f := range all {
		name := f.Family + ": " + f.What
		if _, ok := at[name]; !ok {
			at[name] = len(list)
			list = append(list, Property{Name: name})
		}
		p := &list[at[name]]
		p.Found = append(p.Found, f)
		if f.Badness() > 1 {
			p.Beyond++
		}
	}
	for _, p := range list {
		slices.SortFunc(p.Found, byBadness)
	}
	return list
}

// At returns how far beyond its bound, or within it, all are except so many percent.
func (p Property) At(percent int) float64 { return p.Found[len(p.Found)*percent/100].Badness() }

// Beyond returns how many percent of figures are beyond their bounds.
func Beyond(all []Finding) float64 {
	n := 0
	for _, p := range Properties(all) {
		n += p.Beyond
	}
	return 100 * float64(n) / float64(len(all))
}

// Worst returns so many of those that are beyond their bound.
func Worst(all []Finding, n int) []Finding {
	all = slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Badness() <= 1 })
	slices.SortFunc(all, byBadness)
	return all[:min(n, len(all))]
}

// Report writes findings: a row for each property, and the worst.
func Report(w io.Writer, all []Finding, worst int) {
	for _, p := range Properties(all) {
		fmt.Fprintf(w, "%-28s %3d of %3d beyond; over the bound: median %.3f, 90th %.3f, worst %.3f\n",
			p.Name, p.Beyond, len(p.Found), p.At(50), p.At(10), p.At(0))
	}
	for _, o := range open {
		fmt.Fprintf(w, "open: %s %s, at most %.0f times: %s\n", o.family, o.what, o.most, o.cause)
	}
	for _, f := range Worst(all, worst) {
		fails := ""
		if f.Fails() {
			fails = " FAILS"
		}
		fmt.Fprintf(w, "%6.2f%s  %v\n", f.Badness(), fails, f)
	}
}

func byBadness(a, b Finding) int { return cmp.Compare(b.Badness(), a.Badness()) }
