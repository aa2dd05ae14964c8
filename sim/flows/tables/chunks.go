package main

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/flows"
	"github.com/chunkwire/chunkwire/sim/transfers"
)

// limit is more virtual time than chunks take.
const limit = 600 * second

// chunks are cold full chunks that begin at once.
var chunks = set{"chunks", []column{
	{"median ms", "%.0f", false},
	{"last ms", "%.0f", false},
	{"ideal last ms", "%.0f", false},
	{"bytes down", "%.2f", false},
	{"queue drops %", "%.1f", false},
	{"not delivered", "%.0f", false},
}, func() (cells []cell) {
	for _, p := range places {
		for _, repair := range []bool{false, true} {
			for _, n := range []int{1, 2, 4, 8, 16} {
				cells = append(cells, atOnce(p, repair, n))
			}
		}
	}
	return cells
}}

func atOnce(p place, repair bool, n int) cell {
	return cell{fmt.Sprintf("%s, %d %s", p.name, n, variant(repair)), func(seed uint64) []float64 {
		w := p.world(seed)
		var all []*flows.Chunks
		for range n {
			all = append(all, check.Must(w.AddChunks("chunk", flows.Options{Lanes: lanes.Config{Repair: repair}, Chunks: 1})))
		}
		w.Run(limit)
		var times []float64
		missing := 0.0
		var total flows.Counts
		for _, c := range all {
			total.Add(c.Counts(flows.Down, 0, limit))
			if c.Done() == machine.Never {
				missing++
				continue
			}
			times = append(times, float64(c.Done())/1000)
		}
		slices.Sort(times)
		if len(times) == 0 {
			times = []float64{-1}
		}
		least := n * codec.MaxSlices
		ideal := float64(least*(codec.MaxDatagramSize+codec.HeaderBytes)*8)/float64(p.path.Rate)*1000 + float64(p.path.Delay.Milliseconds())
		return []float64{
			times[(len(times)-1)/2], times[len(times)-1], ideal,
			float64(total.Data) / float64(least), 100 * float64(total.LostQueue) / float64(total.Sent), missing,
		}
	}}
}

func variant(repair bool) string {
	if repair {
		return "repair"
	}
	return "named"
}

// alone are single chunks, cold and warm, on the paths of the tables: each seed is a
// transfer, so that they need some.
var alone = set{"alone", []column{
	{"cold ms", "%.1f", false},
	{"warm ms", "%.1f", false},
	{"bytes cold", "%.3f", false},
	{"bytes warm", "%.3f", false},
}, func() (cells []cell) {
	for _, c := range transfers.Cells {
		for _, repair := range []bool{false, true} {
			cells = append(cells, single(c, repair))
		}
	}
	return cells
}}

func single(c transfers.Cell, repair bool) cell {
	return cell{fmt.Sprintf("%v, %s", c, variant(repair)), func(seed uint64) []float64 {
		w := check.Must(flows.NewWorld(flows.Path{Down: c.Path(), Up: c.Path()}, seed))
		f := check.Must(w.AddChunks("chunk", flows.Options{Lanes: lanes.Config{Repair: repair}, Chunks: 2, Waiting: 1}))
		w.Run(limit)
		done := f.Delivered(flows.Down)
		if len(done) < 2 {
			return []float64{-1, -1, -1, -1}
		}
		took := func(i int) float64 { return float64(done[i].Delivered-done[i].Submitted) / 1000 }
		return []float64{took(0), took(1), 0, 0}
	}}
}
