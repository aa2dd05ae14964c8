package netsim_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// full is a valid path with every field set.
var full = netsim.Path{
	Delay:        20 * ms,
	Jitter:       3 * ms,
	Loss:         1,
	Duplicate:    0.5,
	Reorder:      2,
	ReorderDelay: 5 * ms,
	Rate:         100_000_000,
	Queue:        256 << 10,
	LossRun:      3,
	Corrupt:      0.1,
	MarkAbove:    64 << 10,
	PoliceRate:   50_000_000,
	PoliceBurst:  100_000,
	Tick:         ms / 2,
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
		{"outage", func(p *netsim.Path) { p.Loss = 100 }, ""},
		{"delay below zero", func(p *netsim.Path) { p.Delay = -1 }, "Delay"},
		{"delay of days", func(p *netsim.Path) { p.Delay = 24*time.Hour + 1 }, "Delay"},
		{"jitter below zero", func(p *netsim.Path) { p.Jitter = -1 }, "Jitter"},
		{"loss below zero", func(p *netsim.Path) { p.Loss = -1 }, "Loss"},
		{"loss above one", func(p *netsim.Path) { p.Loss = 100.01 }, "Loss"},
		{"duplicates above one", func(p *netsim.Path) { p.Duplicate = 100.01 }, "Duplicate"},
		{"reorder above one", func(p *netsim.Path) { p.Reorder = 100.01 }, "Reorder"},
		{"loss that is no number", func(p *netsim.Path) { p.Loss = math.NaN() }, "Loss"},
		{"held back below zero", func(p *netsim.Path) { p.ReorderDelay = -1 }, "ReorderDelay"},
		{"rate below zero", func(p *netsim.Path) { p.Rate = -1 }, "Rate"},
		{"queue below zero", func(p *netsim.Path) { p.Queue = -1 }, "Queue"},
		{"runs of losses below zero", func(p *netsim.Path) { p.LossRun = -1 }, "LossRun"},
		{"runs of losses that are no number", func(p *netsim.Path) { p.LossRun = math.NaN() }, "LossRun"},
		{"a bad state", func(p *netsim.Path) { p.LossRun, p.Bad = 0, netsim.BadState{Enter: 1, Leave: 20, Loss: 100} }, ""},
		{"two models of bursts", func(p *netsim.Path) { p.Bad.Enter = 1 }, "LossRun"},
		{"bad state entered below zero", func(p *netsim.Path) { p.LossRun, p.Bad.Enter = 0, -1 }, "Bad.Enter"},
		{"bad state left too often", func(p *netsim.Path) { p.LossRun, p.Bad.Leave = 0, 100.01 }, "Bad.Leave"},
		{"loss in the bad state that is no number", func(p *netsim.Path) { p.LossRun, p.Bad.Loss = 0, math.NaN() }, "Bad.Loss"},
		{"corruption above one", func(p *netsim.Path) { p.Corrupt = 100.01 }, "Corrupt"},
		{"marks below zero", func(p *netsim.Path) { p.MarkAbove = -1 }, "MarkAbove"},
		{"policer's rate below zero", func(p *netsim.Path) { p.PoliceRate = -1 }, "PoliceRate"},
		{"policer's burst below zero", func(p *netsim.Path) { p.PoliceBurst = -1 }, "PoliceBurst"},
		{"policer's burst of gigabytes", func(p *netsim.Path) { p.PoliceBurst = 1<<30 + 1 }, "PoliceBurst"},
		{"tick below zero", func(p *netsim.Path) { p.Tick = -1 }, "Tick"},
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
			case test.bad != "" && !strings.Contains(err.Error(), " Path."+test.bad+" "):
				t.Errorf("error %q does not name %s", err, test.bad)
			}
		})
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	err := netsim.Path{Delay: -1, Rate: -5}.Validate()
	want := "netsim: Path.Delay is -1ns, allowed is 0 to 24h0m0s\n" +
		"netsim: Path.Rate is -5, allowed is 0 to 1000000000000000"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v, want\n%s", err, want)
	}
}

func TestBadPathsAreRefused(t *testing.T) {
	bad := netsim.Path{Delay: -1}
	n := netsim.NewNetwork(1)
	_, err := netsim.NewLink(bad, 1)
	for what, err := range map[string]error{
		"NewLink": err, "Link.SetPath": newLink(full, 1).SetPath(bad),
		"SetDefault": n.SetDefault(bad), "Network.SetPath": n.SetPath("a", "b", bad),
	} {
		if err == nil || !strings.Contains(err.Error(), "Path.Delay is -1ns") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
