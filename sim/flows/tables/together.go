package main

import (
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/flows"
	"github.com/chunkwire/chunkwire/sim/transfers"
)

const (
	second = machine.Second
	kib    = 1 << 10
	ms     = time.Millisecond
)

// place is a path, and for how long it is watched.
type place struct {
	name string
	path netsim.Path // of either direction
	time machine.Micros
}

// places are those of crowds.
var places = []place{
	{"S2", transfers.Networks["S2"], 60 * second},
	{"S3", transfers.Networks["S3"], 180 * second},
	{"M", transfers.PathOf(20e6, 30*ms, 64*kib), 30 * second},
	{"5M 16K", transfers.PathOf(5e6, 40*ms, 16*kib), 60 * second},
	{"5M 64K", transfers.PathOf(5e6, 40*ms, 64*kib), 60 * second},
	{"5M 256K", transfers.PathOf(5e6, 40*ms, 256*kib), 60 * second},
}

func (p *place) world(seed uint64) *flows.World {
	return check.Must(flows.NewWorld(flows.Path{Down: p.path, Up: p.path}, seed))
}

// kind is lanes of a variant.
type kind struct {
	name  string
	lanes lanes.Config
}

var kinds = []kind{
	{"named x8", lanes.Config{Lanes: 8}},
	{"repair x8", lanes.Config{Lanes: 8, Repair: true}},
	{"named x1", lanes.Config{Lanes: 1}},
	{"repair x1", lanes.Config{Lanes: 1, Repair: true}},
}

var sharing = []column{
	{"Jain", "%.2f", true},
	{"use", "%.2f", true},
	{"queue drops %", "%.1f", false},
	{"resent %", "%.1f", false},
	{"wait, mean ms", "%.0f", false},
	{"wait, 95th ms", "%.0f", false},
	{"gave up", "%.0f", false},
}

// together are streams that begin at once, or one after the other.
var together = set{"together", sharing, func() (cells []cell) {
	for _, p := range places {
		for _, k := range kinds {
			for _, n := range []int{1, 2, 4, 8, 16} {
				cells = append(cells, streams(p, k, n, 0))
				if n > 1 {
					cells = append(cells, streams(p, k, n, 2*second))
				}
			}
		}
	}
	return cells
}}

// streams is n streams, each so much later than the one before, measured while all are there
// but for the first sixth of that.
func streams(p place, k kind, n int, later machine.Micros) cell {
	name := fmt.Sprintf("%s, %d %s", p.name, n, k.name)
	if later > 0 {
		name += ", each 2 s later"
	}
	return cell{name, func(seed uint64) []float64 {
		w := p.world(seed)
		var all []*flows.Chunks
		for i := range n {
			all = append(all, check.Must(w.AddChunks(k.name, flows.Options{Lanes: k.lanes, Start: later * machine.Micros(i)})))
		}
		from := later * machine.Micros(n-1)
		w.Run(from + p.time)
		return shared(w, from+p.time/6/flows.Slot*flows.Slot, from+p.time, all)
	}}
}

// shared returns the figures of the columns of sharing.
func shared(w *flows.World, from, to machine.Micros, all []*flows.Chunks) []float64 {
	var each []*flows.Flow
	failed := 0.0
	for _, c := range all {
		each = append(each, c.Flow)
		if c.Err() != nil {
			failed++
		}
	}
	f := w.Figures(flows.Down, from, to, each...)
	return []float64{f.Jain, f.Use, 100 * f.LostQueue, 100 * f.Resent, f.Wait.Mean, f.Wait.P95, failed}
}
