package bench

import (
	"fmt"
	"slices"
	"time"
)

// Couple is two flows on one path: the second begins some seconds after the first.
type Couple struct {
	Cell          Cell
	First, Second Peer
	Late          time.Duration // when the second begins
	For           time.Duration // the run
	Blocks        bool          // the second moves single blocks, a second apart, not a stream
}

// BesideFigures is what many runs of a couple have.
type BesideFigures struct {
	First, Second float64 // Mbit/s of each after the first quarter; the median
	Ratio         float64 // of the lesser to the greater; the median
	Worst         float64 // the same; of all runs
	Dropped       float64 // datagrams that the queues dropped, over those sent; the median
	Wait          time.Duration
	Block         time.Duration // single blocks: the median time of one
}

// besideCells are the paths that couples share.
func besideCells() []Cell {
	s2, s3, short := Networks[1], Networks[2], link(20, 30, 64)
	short.Network = "20 Mbit/s, 30 ms, 64 KiB"
	return []Cell{s2, s3, short}
}

// besideTime is how long streams share a path.
func besideTime(c Cell) time.Duration {
	switch {
	case c.Rate <= 1e6:
		return 160 * time.Second
	case c.Rate <= 10e6:
		return 60 * time.Second
	}
	return 40 * time.Second
}

// Couples returns all of them.
func Couples() (all []Couple) {
	quic, kcp := quicPeer(), kcpPeers()[1]
	for _, c := range besideCells() {
		add := func(first, second Peer, blocks bool) {
			all = append(all, Couple{Cell: c, First: first, Second: second, Late: besideTime(c) / 20, For: besideTime(c), Blocks: blocks})
		}
		for _, ours := range ourFlows() {
			for _, other := range []Peer{quic, kcp} {
				add(ours, other, false)
				add(other, ours, false)
			}
			add(ours, ours, false)
		}
		for _, ours := range ourFlows()[:1] {
			add(quic, ours, true)
			add(kcp, ours, true)
			add(ours, quic, true)
		}
		add(quic, quic, false)
		add(kcp, quic, false)
		add(quic, kcp, false)
		add(kcp, kcp, false)
		add(quic, quic, true)
	}
	return all
}

func (c Couple) String() string {
	if c.Blocks {
		return fmt.Sprintf("%s, then chunks of %s", c.First.Name, c.Second.Name)
	}
	return fmt.Sprintf("%s, then %s", c.First.Name, c.Second.Name)
}

func (c Couple) plan() FlowPlan {
	second := Flow{Peer: c.Second, Begin: c.Late, Load: endless()}
	if c.Blocks {
		second.Queued, second.Gap = false, settle
	}
	return FlowPlan{Cell: c.Cell, Flows: []Flow{{Peer: c.First, Load: endless()}, second}, For: c.For, Sample: 100 * ms}
}

// summarizeCouple sums up the runs of a couple.
func summarizeCouple(plan FlowPlan, runs []FlowsRun) (Summary, *BesideFigures) {
	s, f := Summary{Runs: len(runs)}, &BesideFigures{Worst: 1}
	rates := func(r FlowsRun) []float64 { return r.rates(plan, plan.For/4, plan.For) }
	ratio := func(r FlowsRun) float64 { return slices.Min(rates(r)) / max(slices.Max(rates(r)), 0.001) }
	var blocks []time.Duration
	for _, r := range runs {
		if failed, _ := r.failures(); failed > 0 {
			s.Failed++
		}
		f.Worst = min(f.Worst, ratio(r))
		blocks = append(blocks, r.Flows[1].Took...)
	}
	f.First = medianOf(runs, func(r FlowsRun) float64 { return rates(r)[0] })
	f.Second = medianOf(runs, func(r FlowsRun) float64 { return rates(r)[1] })
	f.Ratio, f.Dropped, f.Wait = medianOf(runs, ratio), medianOf(runs, FlowsRun.dropped), medianOf(runs, FlowsRun.meanWait)
	s.Bytes = medianOf(runs, func(r FlowsRun) float64 { return r.ratio(plan) })
	if !plan.Flows[1].Queued {
		s.times(blocks)
		f.Block = s.Median
	}
	return s, f
}
