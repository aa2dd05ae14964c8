package main

import (
	"fmt"
	"math"

	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/flows"
	"github.com/chunkwire/chunkwire/sim/flows/tcp"
)

// models are the protocols that ours run beside.
var models = []struct {
	name   string
	config tcp.Config
}{
	{"newreno", tcp.Config{Model: tcp.NewReno}},
	{"cubic", tcp.Config{Model: tcp.Cubic, HyStart: true}},
	{"quic-go", tcp.Config{Model: tcp.QuicGo}},
	{"kcp turbo", tcp.Config{Model: tcp.Turbo}},
}

// What ours and the others have of the link.
var (
	ours   = column{"ours", "%.2f", lowest, func(o *outcome) float64 { return o.partOf(o.flowsOfOurs()) }}
	theirs = column{"theirs", "%.2f", lowest, func(o *outcome) float64 { return o.partOf(o.others) }}
)

func (o *outcome) flowsOfOurs() (all []*flows.Flow) {
	for _, c := range o.chunks {
		all = append(all, c.Flow)
	}
	return all
}

func (o *outcome) partOf(some []*flows.Flow) float64 {
	return o.world.Use(flows.Down, o.from, o.until, some...)
}

// beside are streams and flows of another protocol: either begins 10 s before the other.
var beside = set{"beside", []column{ours, theirs, drops, resent, wait, wait95, gaveUp}, func() (all []situation) {
	for _, p := range places[:3] {
		for m := range models {
			for _, k := range kinds(8, 1) {
				for _, n := range [][2]int{{1, 1}, {3, 1}, {1, 3}} {
					if n != [2]int{1, 1} && (m != 0 || k.lanes.Lanes == 1) {
						continue
					}
					all = append(all, mixed(p, k, n, m, 10*second, 0), mixed(p, k, n, m, 0, 10*second))
				}
			}
		}
	}
	return all
}, 0}

// mixed is n[0] streams of ours beside n[1] others.
func mixed(p place, k kind, n [2]int, model int, ourStart, theirStart machine.Micros) situation {
	s := situation{path: both(p.path), from: 10*second + p.time/6/flows.Slot*flows.Slot, until: 10*second + p.time, idealEach: math.NaN(), idealAll: math.NaN()}
	us, them := fmt.Sprintf("%d %s", n[0], k.name), fmt.Sprintf("%d %s", n[1], models[model].name)
	s.name = p.name + ", " + us + " before " + them
	if theirStart < ourStart {
		s.name = p.name + ", " + them + " before " + us
	}
	for range n[0] {
		s.flows = append(s.flows, flows.Options{Lanes: k.lanes, Start: ourStart})
	}
	for range n[1] {
		other := models[model].config
		other.Start = theirStart
		s.others = append(s.others, other)
	}
	return s
}

// turn is how long latecomers are compared with the one before, each time.
const turn = 20 * second

// latecomers are a second stream that comes when the first one has the path for 30 s: what it
// has over what the first one has, in turns of 20 s.
var latecomers = set{"latecomers", []column{turnOf(0), turnOf(1), turnOf(2), turnOf(3), turnOf(4), turnOf(5), drops, wait, gaveUp}, func() (all []situation) {
	for _, p := range places[:3] {
		for _, k := range kinds(8, 1) {
			all = append(all, situation{
				name: p.name + ", " + k.name, path: both(p.path), from: 30 * second, until: 30*second + 6*turn,
				flows: []flows.Options{{Lanes: k.lanes}, {Lanes: k.lanes, Start: 30 * second}},
			})
		}
	}
	return all
}, 0}

func turnOf(i int) column {
	return column{fmt.Sprintf("%d-%d s", 20*i, 20*i+20), "%.2f", lowest, func(o *outcome) float64 {
		from := o.from + machine.Micros(i)*turn
		early, late := o.all[0].Counts(flows.Down, from, from+turn), o.all[1].Counts(flows.Down, from, from+turn)
		return float64(late.NewsBytes) / float64(max(1, early.NewsBytes))
	}}
}
