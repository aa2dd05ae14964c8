package main

import (
	"fmt"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

const (
	second = core.Second
	kib    = 1 << 10
	ms     = time.Millisecond
)

// situation is flows over a path: a row of a table.
type situation struct {
	name   string
	path   flows.Path
	flows  []flows.Options
	others []tcp.Config
	from   core.Micros // what flows share is measured from here on
	until  core.Micros // the end

	idealEach, idealAll float64 // ms that a chunk, and all of them, take at least; NaN: unknown
}

// run lets the flows go. With the first seed they begin exactly when they are to, with others up
// to 20 ms later: without loss by chance nothing else differs.
func (s *situation) run(seed uint64) *outcome {
	o := &outcome{situation: s, world: check.Must(flows.NewWorld(s.path, seed))}
	draw := sim.NewDraw(seed, 0)
	for i, options := range s.flows {
		if seed > 1 {
			options.Start += draw.Time(0, core.FromDuration(20*ms))
		}
		c := check.Must(o.world.AddChunks(fmt.Sprint("flow ", i), options))
		o.chunks, o.all = append(o.chunks, c), append(o.all, c.Flow)
	}
	for i, config := range s.others {
		sends, receives := tcp.New(config)
		f := o.world.Add(fmt.Sprint("other ", i), sends, receives)
		o.others, o.all = append(o.others, f), append(o.all, f)
	}
	o.world.Run(s.until)
	return o
}

// limit is more virtual time than chunks take.
const limit = 600 * second

// kind is lanes of a variant.
type kind struct {
	name  string
	lanes lanes.Config
}

// kinds returns those that are measured, with n lanes each.
func kinds(numbers ...int) (all []kind) {
	for _, n := range numbers {
		for _, repairs := range []bool{false, true} {
			k := kind{fmt.Sprint("named x", n), lanes.Config{Lanes: n, Repair: repairs}}
			if repairs {
				k.name = fmt.Sprint("repair x", n)
			}
			leaveOut(&k.lanes)
			all = append(all, k)
		}
	}
	return all
}

// without are the rules of the pace that are left out.
var without control.Rule

func leaveOut(c *lanes.Config) {
	rules := without
	if rules == 0 {
		return
	}
	c.NewScheduler = func() (statemachine.Scheduler, error) {
		return adaptive.New(adaptive.Adaptive().WithoutPace(rules))
	}
	c.NewRepairScheduler = func() (statemachine.Scheduler, error) {
		return rateless.New(rateless.Default().WithoutPace(rules))
	}
}

// place is a path with a name, the same in either direction, and for how long it is watched.
type place struct {
	name string
	path netsim.Path
	time core.Micros
}

// places are those of crowds.
var places = []place{
	{"S2", measure.Networks["S2"], 60 * second},
	{"S3", measure.Networks["S3"], 180 * second},
	{"M", measure.PathOf(20e6, 30*ms, 64*kib), 30 * second},
	{"5M 16K", measure.PathOf(5e6, 40*ms, 16*kib), 60 * second},
	{"5M 64K", measure.PathOf(5e6, 40*ms, 64*kib), 60 * second},
	{"5M 256K", measure.PathOf(5e6, 40*ms, 256*kib), 60 * second},
}

func both(p netsim.Path) flows.Path { return flows.Path{Down: p, Up: p} }

// link returns a path of so many Mbit/s, ms of round trip and KiB of queue.
func link(mbits float64, rtt time.Duration, queue int) netsim.Path {
	return measure.PathOf(int64(mbits*1e6), rtt*ms, queue*kib)
}

// ideal returns how long so many bytes take at least, in chunks of a size, in ms.
func ideal(p netsim.Path, size, n int) float64 {
	if p.Rate == 0 {
		return float64(p.Delay) / 1e6
	}
	slices := (size + codec.SliceSize - 1) / codec.SliceSize
	onWire := n * (size + slices*(codec.MaxDatagramSize-codec.SliceSize+p.Overhead))
	return float64(onWire)*8e3/float64(p.Rate)/(1-p.Loss/100) + float64(p.Delay)/1e6
}

// The sets of crowds.
var (
	sharing = []column{jain, use, drops, resent, wait, wait95, gaveUp}
	waiting = []column{each, whole, idealAll, bytesDown, dropsAll, missing}
	single  = []column{first, last, idealEach, bytesDown, missing}

	// together are streams that begin at once, or one after the other.
	together = set{"together", sharing, func() (all []situation) {
		for _, p := range places {
			for _, k := range kinds(8, 1) {
				for _, n := range crowds {
					all = append(all, streams(p, k, n, 0))
					if n > 1 {
						all = append(all, streams(p, k, n, 2*second))
					}
				}
			}
		}
		return all
	}, 0}

	// chunks are cold full chunks that begin at once.
	chunks = set{"chunks", waiting, func() (all []situation) {
		for _, p := range places {
			for _, k := range kinds(1) {
				for _, n := range crowds {
					all = append(all, atOnce(p, k, n))
				}
			}
		}
		return all
	}, 0}

	// alone are a cold and a warm chunk on the paths of the tables: each seed is a transfer, so
	// that they need some.
	alone = set{"alone", single, func() (all []situation) {
		for _, c := range measure.Cells {
			for _, k := range kinds(1) {
				p := place{c.String(), c.Path(), limit}
				all = append(all, oneByOne(p, k, 2, 0))
			}
		}
		return all
	}, 95}
)

var crowds = []int{1, 2, 4, 8, 16}

// streams is n streams, each so much later than the one before, measured while all are there
// but for the first sixth of that.
func streams(p place, k kind, n int, later core.Micros) situation {
	s := situation{name: fmt.Sprintf("%s, %d %s", p.name, n, k.name), path: both(p.path)}
	if later > 0 {
		s.name += fmt.Sprintf(", each %v later", later.Duration())
	}
	for i := range n {
		s.flows = append(s.flows, flows.Options{Lanes: k.lanes, Start: later * core.Micros(i)})
	}
	s.idealEach, s.idealAll = math.NaN(), math.NaN()
	all := later * core.Micros(n-1)
	s.from, s.until = all+p.time/6/flows.Slot*flows.Slot, all+p.time
	return s
}

// atOnce is n chunks that begin at once, each of a connection of its own.
func atOnce(p place, k kind, n int) situation {
	s := situation{name: fmt.Sprintf("%s, %d %s", p.name, n, k.name), path: both(p.path), until: limit}
	for range n {
		s.flows = append(s.flows, flows.Options{Lanes: k.lanes, Chunks: 1})
	}
	s.idealEach, s.idealAll = math.NaN(), ideal(p.path, codec.MaxChunkSize, n)
	return s
}

// oneByOne is n chunks, each so much later than the one before was acked.
func oneByOne(p place, k kind, n int, pause core.Micros, sizes ...int) situation {
	size := codec.MaxChunkSize
	if len(sizes) > 0 {
		size = sizes[len(sizes)-1]
	}
	return situation{
		name: fmt.Sprintf("%s, %s", p.name, k.name), path: both(p.path), until: p.time,
		flows:     []flows.Options{{Lanes: k.lanes, Chunks: n, Waiting: 1, Pause: pause, Sizes: sizes}},
		idealEach: ideal(p.path, size, 1), idealAll: math.NaN(),
	}
}
