package base

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
)

// The figures of SPC-4.
// The named profiles have the figures of appendix G.5 (SPC-4).
func TestProfilesAreTheDocuments(t *testing.T) {
	check.Equal(t, "burst", Burst(), Profile{
		Name: "burst", Rate: 1_000_000, Cap: 272_896, Burst: 272_896, AckPays: true, Spacing: 85,
	})
	check.Equal(t, "fixed", Fixed(1_000_000), Profile{Name: "fixed", Rate: 1_000_000, Cap: 17_056})
	check.Equal(t, "fixed, fast", Fixed(100_000_000), Profile{Name: "fixed", Rate: 100_000_000, Cap: 250_000})
	check.Equal(t, "fixed, unlimited", Fixed(0), Profile{Name: "fixed", Cap: 17_056})
	check.Equal(t, "article", Article(512_000), Profile{Name: "article", Rate: 512_000, Cap: 17_056, ResendDelay: 100_000})
}

// A figure outside its limits is refused, and the error names it (BUD-1).
func TestProfilesOutsideTheirLimitsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Profile)
		field  string // that the error names; empty: the profile is taken
	}{
		{"a good one", func(*Profile) {}, ""},
		{"no limit", func(p *Profile) { p.Rate = 0 }, ""},
		{"the slowest rate", func(p *Profile) { p.Rate = 8 * 1066 }, ""},
		{"a rate below", func(p *Profile) { p.Rate = 8*1066 - 8 }, "Profile.Rate"},
		{"a rate below zero", func(p *Profile) { p.Rate = -8 }, "Profile.Rate"},
		{"the fastest rate", func(p *Profile) { p.Rate = 8e9 }, ""},
		{"a rate above", func(p *Profile) { p.Rate = 8e9 + 8 }, "Profile.Rate"},
		{"part of a byte a second", func(p *Profile) { p.Rate = 16_001 }, "Profile.Rate"},
		{"the smallest cap", func(p *Profile) { p.Cap, p.Burst = 1066, 0 }, ""},
		{"a cap too small for a slice", func(p *Profile) { p.Cap, p.Burst = 1065, 0 }, "Profile.Cap"},
		{"the largest cap", func(p *Profile) { p.Cap = 1e9 }, ""},
		{"a cap above", func(p *Profile) { p.Cap = 1e9 + 1 }, "Profile.Cap"},
		{"a burst of the cap", func(p *Profile) { p.Burst = 3000 }, ""},
		{"a burst beyond the cap", func(p *Profile) { p.Burst = 3001 }, "Profile.Burst"},
		{"a burst below zero", func(p *Profile) { p.Burst = -1 }, "Profile.Burst"},
		{"a spacing below zero", func(p *Profile) { p.Spacing = -1 }, "Profile.Spacing"},
		{"a resend delay below zero", func(p *Profile) { p.ResendDelay = -1 }, "Profile.ResendDelay"},
	} {
		p := Profile{Rate: 16_000, Cap: 3000, Burst: 1500}
		c.change(&p)
		_, err := New(p)
		if c.field == "" && err != nil || c.field != "" && (!errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), c.field)) {
			t.Errorf("%s: %v, want an error about %q", c.name, err, c.field)
		}
	}
}

// The constants are the specification's (SPC-5).
func TestConstants(t *testing.T) {
	check.Same(t, "difference", tabletest.CheckConstants("../../../spec/protocol.json", map[string]int64{
		"GAP_SIZE": gapThreshold, "PROBES": probes, "MAX_BACKOFF": maxBackoff, "REPEAT_DELAY": int64(slowestProbe), "HOLD_DELAY": int64(slowestProbe),
		"SHORTEST_HOLD_DELAY": int64(leastProbe), "LONGEST_PAY": int64(longestRefill), "CATCH_UP": int64(catchUp), "BUDGET_MIN": maxCost, "BUDGET_MAX": maxBytes,
	}), nil)
}
