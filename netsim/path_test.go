package netsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// full is a valid path with every field set.
var full = netsim.Path{
	Delay:        20 * ms,
	Jitter:       3 * ms,
	LossPPM:      10_000,
	DuplicatePPM: 5_000,
	ReorderPPM:   20_000,
	ReorderDelay: 5 * ms,
	Rate:         100_000_000,
	Queue:        256 << 10,
	Overhead:     28,
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*netsim.Path)
		bad    string // the field the error names, if any
	}{
		{"good", func(p *netsim.Path) {}, ""},
		{"perfect wire", func(p *netsim.Path) { *p = netsim.Path{} }, ""},
		{"outage", func(p *netsim.Path) { p.LossPPM = 1_000_000 }, ""},
		{"delay below zero", func(p *netsim.Path) { p.Delay = -1 }, "Delay"},
		{"delay of days", func(p *netsim.Path) { p.Delay = 24*time.Hour + 1 }, "Delay"},
		{"jitter below zero", func(p *netsim.Path) { p.Jitter = -1 }, "Jitter"},
		{"loss below zero", func(p *netsim.Path) { p.LossPPM = -1 }, "LossPPM"},
		{"loss above one", func(p *netsim.Path) { p.LossPPM = 1_000_001 }, "LossPPM"},
		{"duplicates above one", func(p *netsim.Path) { p.DuplicatePPM = 1_000_001 }, "DuplicatePPM"},
		{"reorder above one", func(p *netsim.Path) { p.ReorderPPM = 1_000_001 }, "ReorderPPM"},
		{"held back below zero", func(p *netsim.Path) { p.ReorderDelay = -1 }, "ReorderDelay"},
		{"rate below zero", func(p *netsim.Path) { p.Rate = -1 }, "Rate"},
		{"queue below zero", func(p *netsim.Path) { p.Queue = -1 }, "Queue"},
		{"overhead below zero", func(p *netsim.Path) { p.Overhead = -1 }, "Overhead"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := with(full, test.change).Validate()
			switch {
			case test.bad == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.bad != "" && err == nil:
				t.Errorf("accepted")
			case test.bad != "" && !strings.Contains(err.Error(), " "+test.bad+" "):
				t.Errorf("error %q does not name %s", err, test.bad)
			}
		})
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	err := netsim.Path{Delay: -1, Rate: -5}.Validate()
	want := "netsim: Delay is -1ns, outside 0 to 24h0m0s\n" +
		"netsim: Rate is -5, outside 0 to 1000000000000000"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v, want\n%s", err, want)
	}
}

func TestBadPathsPanic(t *testing.T) {
	bad := netsim.Path{Delay: -1}
	n := netsim.NewNetwork(1)
	wantPanic(t, "NewLink", func() { netsim.NewLink(bad, 1) })
	wantPanic(t, "Link.SetPath", func() { netsim.NewLink(full, 1).SetPath(bad) })
	wantPanic(t, "SetDefault", func() { n.SetDefault(bad) })
	wantPanic(t, "Network.SetPath", func() { n.SetPath("a", "b", bad) })
	wantPanic(t, "Pair", func() { netsim.Pair(netsim.Path{}, bad, 1) })
}
