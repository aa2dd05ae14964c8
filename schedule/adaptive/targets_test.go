package adaptive_test

import "testing"

// TestTargets compares each profile with an ideal selective repeat, in every
// cell. Run with -v it prints the table of RECOVERY.md; that has -seeds 300.
func TestTargets(t *testing.T) {
	seeds := seedsOr(40)
	for _, s := range schemes {
		t.Logf("%-15s  ms median/95th/max, bytes both ways / size | ratios to the ideal (and targets)", s.name)
		for i, c := range cells {
			want := targets[s.name][i]
			if want == (target{}) {
				continue
			}
			got := s.measure(c, seeds)
			r := got.over(ideal[c])
			t.Logf("%s  %5.0f/%5.0f/%5.0f  %.2f | %.2f (%.2f)  %.2f (%.2f)  %.2f (%.2f)", c,
				got.median, got.p95, got.max, got.bytes, r.median, want.median, r.p95, want.p95, r.bytes, want.bytes)
			if got.failed > 0 {
				t.Errorf("%s, %s: %d of %d failed", s.name, c, got.failed, seeds)
			}
			if r.median > want.median*slack || r.p95 > want.p95*slack || r.bytes > want.bytes*slack {
				t.Errorf("%s, %s: ratios %.3v, want at most %.3v and 5 %%", s.name, c, r, want)
			}
		}
	}
}

// slack is the price of simplicity.
const slack = 1.05

func (f figures) over(ideal figures) target {
	return target{f.median / ideal.median, f.p95 / ideal.p95, f.bytes / ideal.bytes}
}

// target is what a profile is to reach in a cell, as ratios to the ideal's
// median and 95th percentile, and to the bytes that it sends.
type target struct{ median, p95, bytes float64 }

// ideal holds the figures of an ideal selective repeat, which knows the link's
// rate, hears of every slice at once, and has an exact timer for the last ones:
// ms, ms, bytes both ways over the size.
var ideal = map[cell]figures{
	{"S1", 0}: {median: 47, p95: 47, bytes: 1.04}, {"S1", 1}: {median: 90, p95: 97, bytes: 1.05},
	{"S1", 5}: {median: 97, p95: 147, bytes: 1.10}, {"S1", 20}: {median: 193, p95: 282, bytes: 1.35},
	{"S2", 0}: {median: 243, p95: 243, bytes: 1.04}, {"S2", 1}: {median: 246, p95: 293, bytes: 1.05},
	{"S2", 5}: {median: 291, p95: 342, bytes: 1.10}, {"S2", 20}: {median: 386, p95: 480, bytes: 1.35},
	{"S3", 0}: {median: 2225, p95: 2225, bytes: 1.04}, {"S3", 1}: {median: 2242, p95: 2334, bytes: 1.05},
	{"S3", 5}: {median: 2352, p95: 2486, bytes: 1.10},
	{"S4", 0}: {median: 25, p95: 25, bytes: 1.04}, {"S4", 1}: {median: 75, p95: 75, bytes: 1.05},
	{"S4", 5}: {median: 75, p95: 125, bytes: 1.10}, {"S4", 20}: {median: 175, p95: 275, bytes: 1.35},
	{"S4", 50}: {median: 425, p95: 625, bytes: 2.25},
}

// targets by profile, in the order of cells; a zero is not a target.
var targets = map[string][]target{
	"adaptive cold": {
		{2.0, 2.0, 1.05}, {1.55, 1.5, 1.05}, {1.5, 1.05, 1.05}, {1.05, .90, 1.05},
		{1.02, 1.02, 1.05}, {1.02, 1.02, 1.05}, {1.02, .95, 1.05}, {.95, .88, 1.05},
		{1.02, 1.03, 1.05}, {1.02, 1.03, 1.05}, {1.02, 1.03, 1.05},
		{3.05, 3.05, 1.05}, {1.7, 1.7, 1.05}, {1.7, 1.1, 1.05}, {1.03, .87, 1.08}, {.82, .72, 1.08},
	},
	"adaptive warm": {
		{1.02, 1.02, 1.05}, {1.02, 1.03, 1.05}, {1.02, .76, 1.05}, {.80, .75, 1.05},
		{1.02, 1.02, 1.05}, {1.02, 1.02, 1.05}, {1.02, .95, 1.05}, {.95, .88, 1.05},
		{1.02, 1.03, 1.05}, {1.02, 1.03, 1.05}, {1.02, 1.03, 1.05},
		{1.03, 1.03, 1.05}, {1.03, 1.05, 1.05}, {1.03, .72, 1.05}, {.78, .68, 1.08}, {.76, .66, 1.08},
	},
	"burst cold": {
		{1.02, 1.02, 1.05}, {1.02, 1.03, 1.05}, {1.02, .76, 1.05}, {.80, .75, 1.05},
		{1.02, 1.02, 1.05}, {1.02, 1.02, 1.05}, {1.02, .95, 1.05}, {.95, .88, 1.05},
		{1.08, 1.22, 1.80}, {1.08, 1.22, 1.80}, {1.08, 1.22, 1.80},
		{1.9, 1.9, 1.05}, {1.25, 1.3, 1.05}, {1.3, .88, 1.05}, {.88, .74, 1.05}, {.80, .68, 1.05},
	},
	"redundant warm": {
		{1.02, 1.02, 1.12}, {1.02, 1.03, 1.12}, {1.02, .76, 1.12}, {.85, .66, 1.16},
		{1.02, 1.02, 1.12}, {1.02, 1.02, 1.12}, {1.02, .95, 1.12}, {.95, .88, 1.16},
		{1.02, 1.03, 1.12}, {1.02, 1.03, 1.12}, {1.02, 1.03, 1.12},
		{1.03, 1.03, 1.12}, {1.03, 1.05, 1.12}, {1.03, .72, 1.12}, {.80, .60, 1.16}, {.65, .58, 1.16},
	},
	"fixed cold": {
		{}, {}, {}, {},
		{1.02, 1.02, 1.03}, {1.02, 1.02, 1.03}, {1.02, .95, 1.03}, {.95, .88, 1.03},
		{}, {}, {}, {}, {}, {}, {}, {},
	},
}
