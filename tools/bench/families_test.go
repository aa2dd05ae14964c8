package bench

import (
	"os"
	"strings"
	"time"
)

// partEnv, when set, is a part of the names of the situations and couples to measure.
const partEnv = "CHUNKWIRE_BENCH_PART"

func wanted(names ...string) bool {
	all := strings.Join(names, ": ")
	for _, part := range strings.Split(os.Getenv(partEnv), "&") {
		if !strings.Contains(all, part) {
			return false
		}
	}
	return true
}

// families measures every situation.
func (b *bench) families() {
	for _, s := range Situations() {
		for _, p := range FamilyPeers() {
			if !s.Queued && strings.HasSuffix(p.Name, "lanes") || !wanted(s.Family, s.Name, p.Name) { // one chunk is in one lane
				continue
			}
			plan := s.plan(p)
			began := time.Now()
			sum, f := summarizeFamily(s, plan, b.runs(plan, s.Name+", "+p.Name))
			b.result.Rows = append(b.result.Rows, Row{Experiment: Families, Cell: s.Name, Peer: p.Name, Size: s.Sizes[len(s.Sizes)-1], Summary: sum, Family: f})
			b.t.Logf("%-28.28s %-44s %-16s %4s %8v %8v least %8v bytes %6.2f dropped %4.1f %% wait %4d ms rate %5.2f Jain %.2f failed %d %v (%.1f s)", s.Family, s.Name, p.Name, f.Counts,
				sum.Median.Round(ms), sum.P95.Round(ms), f.Least.Round(ms), sum.Bytes, 100*f.Dropped, f.Mean.Milliseconds(), f.Mbits, f.Jain, sum.Failed, milliseconds(f.Sequence), time.Since(began).Seconds())
		}
	}
}

func milliseconds(times []time.Duration) (all []int64) {
	for _, t := range times {
		all = append(all, t.Milliseconds())
	}
	return all
}

// mostFlowSeeds is the most seeds for each plan of several flows: many are long.
const mostFlowSeeds = 10

// runs runs a plan with every seed.
func (b *bench) runs(plan FlowPlan, name string) []FlowsRun {
	runs := make([]FlowsRun, min(b.seeds, mostFlowSeeds))
	for i := range runs {
		runs[i] = runFlows(b.t, plan, uint64(i+1))
		if _, err := runs[i].failures(); err != nil {
			b.t.Logf("%s, seed %d: %v", name, i+1, err)
		}
	}
	return runs
}

// beside measures every couple.
func (b *bench) beside() {
	for _, c := range Couples() {
		if !wanted(c.Cell.Network, c.String()) {
			continue
		}
		plan := c.plan()
		began := time.Now()
		sum, f := summarizeCouple(plan, b.runs(plan, c.String()))
		b.result.Rows = append(b.result.Rows, Row{Experiment: Beside, Cell: c.Cell.Network, Peer: c.String(), Size: block, Summary: sum, Beside: f})
		b.t.Logf("%-24s %-44s %6.2f : %6.2f ratio %.2f worst %.2f dropped %4.1f %% bytes %.2f wait %4d ms block %v / %v failed %d (%.1f s)", c.Cell.Network, c, f.First, f.Second, f.Ratio, f.Worst,
			100*f.Dropped, sum.Bytes, f.Wait.Milliseconds(), sum.Median.Round(ms), sum.P95.Round(ms), sum.Failed, time.Since(began).Seconds())
	}
}

// shares follows a few couples, with one seed.
func (b *bench) shares() {
	for _, c := range sharing() {
		if wanted(c.Cell.Network, c.String()) {
			b.result.Shares = append(b.result.Shares, share(c, runFlows(b.t, c.plan(), 1).Samples))
		}
	}
	shares, err := modelShares()
	if err != nil {
		b.t.Fatal(err)
	}
	b.result.Shares = append(b.result.Shares, shares...)
}

// groupOf returns what an experiment is run with, for one page.
func groupOf(experiment string) string {
	switch experiment {
	case Messages, Services:
		return experiment
	case Families, Beside, Shares:
		return Citizen
	}
	return Blocks
}
