package statemachine

import "testing"

func TestProfilesAreTheDocuments(t *testing.T) {
	wantEqual(t, "burst", Burst(), Profile{
		Name: "burst", Rate: 125_000, Cap: 272_896, Burst: 272_896, AckPays: true, Spacing: 85,
	})
	wantEqual(t, "fixed", Fixed(125_000), Profile{Name: "fixed", Rate: 125_000, Cap: 17_056})
	wantEqual(t, "fixed, fast", Fixed(12_500_000), Profile{Name: "fixed", Rate: 12_500_000, Cap: 250_000})
	wantEqual(t, "fixed, unlimited", Fixed(0), Profile{Name: "fixed", Cap: 17_056})
	wantEqual(t, "article", Article(64_000), Profile{Name: "article", Rate: 64_000, Cap: 17_056, ResendDelay: 100_000})
}

// The rate first, then the cap, then the burst (BUD-1).
func TestProfilesAreMovedIntoTheirLimits(t *testing.T) {
	good := Profile{Rate: 2000, Cap: 3000, Burst: 1500}
	for _, c := range []struct {
		name  string
		wrong func(p *Profile)
		want  Profile
	}{
		{"nothing", func(*Profile) {}, good},
		{"rate 0 stays unlimited", func(p *Profile) { p.Rate = 0 }, Profile{Rate: 0, Cap: 3000, Burst: 1500}},
		{"the slowest rate", func(p *Profile) { p.Rate = 1066 }, Profile{Rate: 1066, Cap: 3000, Burst: 1500}},
		{"rate too small", func(p *Profile) { p.Rate = 1065 }, Profile{Rate: 1066, Cap: 3000, Burst: 1500}},
		{"rate below zero", func(p *Profile) { p.Rate = -1 }, Profile{Rate: 1066, Cap: 3000, Burst: 1500}},
		{"the fastest rate", func(p *Profile) { p.Rate = 1e9 }, Profile{Rate: 1e9, Cap: 3000, Burst: 1500}},
		{"rate too large", func(p *Profile) { p.Rate = 1e9 + 1 }, Profile{Rate: 1e9, Cap: 3000, Burst: 1500}},
		{"cap too small for a slice", func(p *Profile) { p.Cap = 1065 }, Profile{Rate: 2000, Cap: 1066, Burst: 1066}},
		{"cap too large", func(p *Profile) { p.Cap = 1e9 + 1 }, Profile{Rate: 2000, Cap: 1e9, Burst: 1500}},
		{"burst beyond the cap", func(p *Profile) { p.Burst = 3001 }, Profile{Rate: 2000, Cap: 3000, Burst: 3000}},
		{"burst below zero", func(p *Profile) { p.Burst = -1 }, Profile{Rate: 2000, Cap: 3000, Burst: 0}},
	} {
		p := good
		c.wrong(&p)
		wantEqual(t, c.name, NewBase(p).profile, c.want)
	}
}
