package main

import (
	"fmt"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// When the path of a stream becomes another, when it is the first again, and the end.
const (
	changed = 20 * second
	back    = 50 * second
	over    = 80 * second
)

// changes are streams whose path becomes another and then is the first again.
var changes = set{"changes", []column{
	useIn("before", changed-10*second, changed),
	recovered("80 % after s", changed, back), useIn("use then", back-10*second, back), waitIn("95th wait", changed, back), waitIn("at its end", back-10*second, back),
	recovered("80 % again s", back, over), useIn("use again", over-10*second, over), waitIn("95th wait", back, over), waitIn("at its end", over-10*second, over),
	drops, resent, gaveUp,
}, func() (all []situation) {
	s1, s2, m := measure.Networks["S1"], measure.Networks["S2"], link(20, 30, 64)
	for _, one := range []struct {
		name     string
		is       netsim.Path
		down, up func(*netsim.Path)
	}{
		{"S2, a tenth of the rate", s2, rate(1e6), nil},
		{"S1, a tenth of the rate", s1, rate(10e6), nil},
		{"M, a tenth of the rate", m, rate(2e6), nil},
		{"S2, ten times the rate", s2, rate(100e6), nil},
		{"M, ten times the rate", m, rate(200e6), nil},
		{"10 to 100 ms, 20 Mbit/s, 256 KiB", link(20, 10, 256), trip(100), trip(100)},
		{"200 to 20 ms, 20 Mbit/s, 256 KiB", link(20, 200, 256), trip(20), trip(20)},
		{"S2, 60 % lost", s2, loss(60), nil},
		{"S2, 5 % lost", s2, loss(5), nil},
		{"S2, 30 ms of jitter", s2, func(p *netsim.Path) { p.Jitter = 30 * ms }, nil},
		{"M, acks each 20 ms", m, nil, func(p *netsim.Path) { p.Tick = 20 * ms }},
		{"S2, 64 kbit/s back", s2, nil, rate(64_000)},
		{"S2, policed to 2 Mbit/s with 32 KiB", s2, func(p *netsim.Path) { p.PoliceRate, p.PoliceBurst = 2e6, 32*kib }, nil},
	} {
		for _, k := range kinds(8, 1) {
			all = append(all, changing(one.name+", "+k.name, one.is, one.down, one.up, k))
		}
	}
	for _, k := range kinds(8, 1) {
		for _, p := range []place{{name: "S2", path: s2}, {name: "M", path: m}} {
			for _, seconds := range []core.Micros{1, 6} {
				s := changing(fmt.Sprintf("%s, outage of %d s, %s", p.name, seconds, k.name), p.path, loss(100), loss(100), k)
				s.path.Changes[1].At = changed + seconds*second
				all = append(all, s)
			}
		}
	}
	return all
}, 0}

func rate(bits int64) func(*netsim.Path)      { return func(p *netsim.Path) { p.Rate = bits } }
func loss(percent float64) func(*netsim.Path) { return func(p *netsim.Path) { p.Loss = percent } }
func trip(rtt time.Duration) func(*netsim.Path) {
	return func(p *netsim.Path) { p.Delay = rtt * ms / 2 }
}

// changing is a stream whose path changes.
func changing(name string, is netsim.Path, down, up func(*netsim.Path), k kind) situation {
	then := flows.Change{At: changed, Down: is, Up: is}
	if down != nil {
		down(&then.Down)
	}
	if up != nil {
		up(&then.Up)
	}
	return situation{
		name: name, path: flows.Path{Down: is, Up: is, Changes: []flows.Change{then, {At: back, Down: is, Up: is}}},
		flows: []flows.Options{{Lanes: k.lanes}}, from: 0, until: over,
	}
}

func useIn(name string, from, to core.Micros) column {
	return column{name, "%.2f", lowest, func(o *outcome) float64 { return o.world.Use(flows.Down, from, to, o.all...) }}
}

func waitIn(name string, from, to core.Micros) column {
	return column{name, "%.0f", highest, func(o *outcome) float64 { return o.world.Wait(flows.Down, from, to).P95 }}
}

// recovered is the time until four fifths of what the link carries in a second was used.
func recovered(name string, from, to core.Micros) column {
	return column{name, "%.1f", highest, func(o *outcome) float64 {
		from := from
		if from == changed && o.path.Changes[0].Down.Loss == 100 {
			from = o.path.Changes[1].At // an outage is over earlier
		}
		for at := from + second; at <= to; at += flows.Slot {
			if o.world.Use(flows.Down, at-second, at, o.all...) >= 0.8 {
				return (at - second - from).Duration().Seconds()
			}
		}
		return math.Inf(1)
	}}
}
