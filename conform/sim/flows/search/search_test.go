package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// named are the worst worlds that nights have found, and how far beyond a bound each may be. One that becomes better
// gets a smaller figure; one that is within its bounds leaves the list.
var named = []struct {
	family string
	seed   uint64
	most   float64
	cause  string
}{
	{"P2 beside", 20035, 15, "a queue of four slices: one cut leaves CUBIC nothing"},
	{"P5 jitter", 20013, 45, "jitter far above the target is a queue that stands"},
	{"P5 step", 9004, 3, "a round trip that grows is taken for a queue at first"},
	{"P2 unyielding", 9008, 12, "kcp turbo keeps the queue full, so that its loss is never calm"},
	{"P8 breaker", 20017, 22, "60 to 63 % of random loss: half is calm"},
}

// No named world becomes worse, and none of them is mended without a word.
func TestNamedWorlds(t *testing.T) {
	for _, n := range named {
		worst := slices.MaxFunc(Run(n.family, n.seed), func(a, b Finding) int { return -byBadness(a, b) })
		if bad := worst.Badness(); bad > n.most || bad <= 1 {
			t.Errorf("%.2f times its bound, at most %.2f, since %s: %v\nrepeat: go run ./conform/sim/flows/judges -only %q -seed %d -worlds 1", bad, n.most, n.cause, worst, n.family, n.seed)
		}
	}
}

// A seed gives one world.
func TestSeedsRepeat(t *testing.T) {
	check.Equal(t, "findings", Run("P5 jitter", 7), Run("P5 jitter", 7))
}

// What is open may be further beyond its bound than all else.
func TestFails(t *testing.T) {
	for _, c := range []struct {
		Finding
		want bool
	}{
		{Finding{Family: "P9", Value: 8, Bound: 1}, false}, {Finding{Family: "P9", Value: 8.1, Bound: 1}, true},
		{Finding{Family: "P8 breaker", What: "slices a round trip", Value: 8.1, Bound: 1}, false},
	} {
		check.Equal(t, c.String(), c.Fails(), c.want)
	}
}

func TestReport(t *testing.T) {
	check.Equal(t, "percent", Beyond([]Finding{{Value: 2, Bound: 1}, {Value: 1, Bound: 1}}), 50.)
	var b strings.Builder
	Report(&b, []Finding{{Family: "P9", What: "use", Value: .5, Bound: 1, Least: true}, {Family: "P9", What: "use", Value: 1, Bound: 1, Least: true}}, 1)
	check.That(t, strings.Contains(b.String(), "1 of   2 beyond") && strings.Contains(b.String(), "use 0.5000, at least 1.0000"), b.String())
}
