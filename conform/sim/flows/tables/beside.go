package main

import (
	"fmt"
	"math"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/core"
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
func mixed(p place, k kind, n [2]int, model int, ourStart, theirStart core.Micros) situation {
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
				name: p.name + ", " + k.name, path: both(p.path), from: late, until: late + 6*turn,
				flows: []flows.Options{{Lanes: k.lanes}, {Lanes: k.lanes, Start: late}},
			})
		}
	}
	return all
}, 0}

const late = 30 * second

func turnOf(i core.Micros) column {
	return ratioIn(fmt.Sprintf("%d-%d s", 20*i, 20*i+20), late+i*turn, late+(i+1)*turn)
}

// hour is two streams for an hour, which others visit for 20 s of each minute, all in their
// turn: what the first ten minutes and the last are like.
var hour = set{"hour", []column{
	useIn("use, first 10 min", 0, 600*second), useIn("last", 3000*second, 3600*second),
	ratioIn("second:first, first 10 min", 0, 600*second), ratioIn("last", 3000*second, 3600*second),
	waitIn("95th wait, first", 0, 600*second), waitIn("last", 3000*second, 3600*second), drops, resent, gaveUp,
}, func() (all []situation) {
	for _, p := range places[:3] {
		for _, k := range kinds(8, 1) {
			s := situation{name: p.name + ", " + k.name, path: both(p.path), until: 3600 * second, flows: []flows.Options{{Lanes: k.lanes}, {Lanes: k.lanes}}}
			for i := core.Micros(0); i < 59; i++ {
				start, stop := (60*i+30)*second, (60*i+50)*second
				if other := models[i%4].config; i%2 == 0 {
					other.Start, other.Stop = start, stop
					s.others = append(s.others, other)
				} else {
					s.flows = append(s.flows, flows.Options{Lanes: k.lanes, Start: start, Stop: stop})
				}
			}
			all = append(all, s)
		}
	}
	return all
}, 0}

// ratioIn is what the second flow has over what the first one has.
func ratioIn(name string, from, to core.Micros) column {
	return column{name, "%.2f", lowest, func(o *outcome) float64 {
		first, second := o.all[0].Counts(flows.Down, from, to), o.all[1].Counts(flows.Down, from, to)
		return float64(second.NewsBytes) / float64(max(1, first.NewsBytes))
	}}
}
