package search

import (
	"flag"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

var (
	worlds = flag.Int("search.worlds", 3, "worlds of each family")
	from   = flag.Uint64("search.seed", 1, "the first of their seeds; a push takes it from its commit")
)

// bad is how far beyond its bound a figure may be in any world of a push: no world collapses. What is
// beyond a bound by less is counted by the command judges.
const bad = 8

func TestWorlds(t *testing.T) {
	for _, family := range Families() {
		for i := range uint64(*worlds) {
			for _, f := range Run(family, *from+i) {
				if f.Badness() > bad {
					t.Errorf("%v\nrepeat: go run ./conform/sim/flows/judges -only %q -seed %d -worlds 1", f, family, f.Seed)
				}
			}
		}
	}
}

// A seed gives one world.
func TestSeedsRepeat(t *testing.T) {
	check.Equal(t, "findings", Run("P5 jitter", 7), Run("P5 jitter", 7))
}

func TestReport(t *testing.T) {
	var b strings.Builder
	Report(&b, []Finding{{Family: "P9", What: "use", Value: .5, Bound: 1, Least: true}, {Family: "P9", What: "use", Value: 1, Bound: 1, Least: true}}, 1)
	check.That(t, strings.Contains(b.String(), "1 of   2 beyond") && strings.Contains(b.String(), "use 0.5000, at least 1.0000"), b.String())
}
