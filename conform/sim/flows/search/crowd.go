package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	slowest = 50_000      // bits a second that a good path has for each flow
	excused = 12 * second // after the bad path a flow may still fail for it
	settles = 30 * second // of the good path before anything is judged
	judged  = 60 * second // of the good path
)

// crowd is flows of all kinds on a path that is bad at first.
type crowd struct {
	bad    []flows.Change
	good   netsim.Path
	from   core.Micros // the path is good
	ours   []flows.Options
	alike  bool
	beside []tcp.Config
}

func (d draw) crowd() (c crowd) {
	n := int(d.Spread(1, 10))
	c.good, c.alike = d.good(n), !d.OneIn(3)
	for range sim.Among(d.Draw, 0, 0, 1, 2, 4) {
		x, long := d.stretch(c.good)
		x.At = c.from
		c.bad, c.from = append(c.bad, x), c.from+long
	}
	one := d.one()
	for range n {
		if !c.alike {
			one = d.one()
		}
		one.Start = d.Time(0, sim.Among[core.Micros](d.Draw, 0, 1, 10, 40)*second)
		c.ours = append(c.ours, one)
	}
	for range sim.Among(d.Draw, 0, 0, 1, 2) * min(len(c.bad), 1) {
		m := sim.Among(d.Draw, tcp.NewReno, tcp.Cubic, tcp.QuicGo, tcp.Turbo, tcp.BBR)
		c.beside = append(c.beside, tcp.Config{Model: m, HyStart: d.OneIn(2), Paced: d.OneIn(2), Start: d.Time(0, c.from/2), Stop: c.from})
	}
	return c
}

// good draws a path for n flows.
func (d draw) good(n int) netsim.Path {
	p := d.path(max(250_000, int64(n)*slowest), 8_000_000, 2*ms, 300*ms, 25, 800).Down
	p.Queue = max(p.Queue, sim.Among(d.Draw, 1, 4, 4, 8)*n*full)
	switch d.IntN(8) {
	case 0:
		p.Jitter = d.SpreadTime(500, 30*ms).Duration()
	case 1:
		p.PoliceRate = max(p.Rate/int64(d.Between(2, 8)), int64(n*slowest))
		p.PoliceBurst = max(int(d.Spread(full, 64<<10)), 2*n*full)
	}
	return p
}

// stretch draws what a path is like before it is good, and for how long.
func (d draw) stretch(good netsim.Path) (x flows.Change, long core.Micros) {
	down := good
	switch d.IntN(8) {
	case 0:
		down.Loss = 100
		return flows.Change{Down: down, Up: down}, d.Time(1, 6) * second
	case 1:
		down.Rate = max(good.Rate/int64(d.Between(2, 10)), 100_000)
	case 2:
		down.Rate = good.Rate * int64(d.Between(2, 10))
	case 3:
		down.Delay = good.Delay * time.Duration(d.Between(2, 6)) / 2
	case 4:
		down.Reorder, down.ReorderDelay = d.Float64()*30, d.SpreadTime(ms, 50*ms).Duration()
	case 5:
		down.PoliceRate, down.PoliceBurst = good.Rate/int64(d.Between(2, 8)), int(d.Spread(full, 64<<10))
	case 6:
		down.Loss, down.LossRun = d.Float64()*sim.Among(d.Draw, 2., 10, 40), float64(d.Between(1, 8))
	case 7:
		down.Tick = d.SpreadTime(ms, 40*ms).Duration()
	}
	up := down
	if d.OneIn(3) {
		up.Loss = d.Float64() * 50
	}
	return flows.Change{Down: down, Up: up}, d.Time(3, 15) * second
}

// one draws a flow.
func (d draw) one() flows.Options {
	o := flows.Options{Lanes: lanes.Config{Lanes: sim.Among(d.Draw, 1, 2, 4, 8, 8), Repair: !d.OneIn(3)}, Sizes: []int{codec.MaxChunkSize}, BothWays: d.OneIn(6)}
	if d.OneIn(4) {
		o.Sizes[0] = int(d.Spread(1_000, codec.MaxChunkSize))
	}
	if d.OneIn(6) {
		o.Every = d.Time(20, 3_000) * ms
	}
	return o
}

// greedy reports whether a flow always has something to send.
func (c *crowd) greedy(o flows.Options) bool {
	inQueue := int(c.good.Rate*int64(2*c.good.Delay)/8e9) + c.good.Queue
	return o.Every == 0 && (o.Lanes.Lanes-1)*o.Sizes[0] > 2*inQueue
}

// troubled: however bad a path was, on the good one no flow fails or hangs, little is dropped, flows that are alike
// get alike, and the link is used as by flows that come when it is good.
func troubled(t *trial) {
	c := t.crowd()
	p := path{rate: c.good.Rate, trip: 2 * core.FromDuration(c.good.Delay)}
	p.Path = flows.Path{Down: c.good, Up: c.good, Changes: append(c.bad, flows.Change{At: c.from, Down: c.good, Up: c.good})}
	p.name = fmt.Sprintf("%.1fM/%v %d KiB", float64(p.rate)/1e6, p.trip.Duration(), c.good.Queue>>10)
	t.begin(p)
	t.say("%d flows, the first of %s, after %d bad paths, %d beside", len(c.ours), kind(c.ours[0]), len(c.bad), len(c.beside))
	var all []*flows.Chunks
	for _, o := range c.ours {
		all = append(all, t.add(o, o.Start))
	}
	for _, m := range c.beside {
		s, r := tcp.New(m)
		t.world.Add(m.Model.String(), s, r)
	}
	t.world.Run(c.from + excused)
	var left []*flows.Flow
	greedy, steady := false, c.good.Jitter == 0 && c.good.PoliceRate == 0
	survivors := crowd{good: c.good}
	for i, f := range all {
		if f.Err() == nil {
			left, survivors.ours = append(left, f.Flow), append(survivors.ours, c.ours[i])
			greedy = greedy || c.greedy(c.ours[i])
			steady = steady && !c.ours[i].BothWays
		}
	}
	if len(left) == 0 {
		return
	}
	end := (c.from + settles + judged) / flows.Slot * flows.Slot
	t.world.Run(end)
	hang := 0.
	for i, f := range all {
		if slices.Contains(left, f.Flow) && !c.delivers(i, f, end) {
			hang++
		}
	}
	t.most("fail or hang", hang, .1)
	if c.good.Queue < 4*len(c.ours)*full {
		return
	}
	load := t.world.Figures(flows.Down, end-judged, end, left...)
	t.most("drops", over(load.Total.LostQueue, load.Total.Sent), .1)
	t.most("policed", over(load.Total.LostPolicer, load.Total.Sent), .3)
	last := t.world.Figures(flows.Down, end-judged/2, end, left...)
	if c.alike && len(left) > 1 && c.ours[0].Every == 0 && c.good.PoliceRate == 0 {
		t.least("Jain", last.Jain, .8)
	}
	if !greedy {
		return
	}
	if steady && c.good.Queue >= int(p.rate/8*int64(p.trip)/int64(second)) {
		t.least("use", last.Use, .6)
	}
	if c.from > 0 {
		t.least("use as of newcomers", last.Use, .9*survivors.use(t, c.from))
	}
}

func over(n, of int64) float64 { return float64(n) / float64(max(of, 1)) }

// delivers reports whether a flow is well and has delivered something lately: in eight times of what its fair share takes.
func (c *crowd) delivers(i int, f *flows.Chunks, end core.Micros) bool {
	rate, o := c.good.Rate, c.ours[i]
	if c.good.PoliceRate > 0 {
		rate = c.good.PoliceRate
	}
	bits := int64(o.Sizes[0]+full) * 8 * int64(o.Lanes.Lanes*len(c.ours))
	since := end - 8*core.Micros(bits*int64(second)/rate) - 5*second - 2*o.Every
	for _, side := range []int{flows.Down, flows.Up}[:1+btoi(o.BothWays)] {
		chunks := f.Delivered(side)
		if since >= c.from && (len(chunks) == 0 || chunks[len(chunks)-1].Delivered < since) {
			return false
		}
	}
	return f.Err() == nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// use returns the use of the link by flows that begin when the path is good.
func (c *crowd) use(t *trial, from core.Micros) float64 {
	t.world = must(flows.NewWorld(flows.Path{Down: c.good, Up: c.good}, t.seed))
	var all []*flows.Flow
	for _, o := range c.ours {
		all = append(all, t.add(o, max(0, o.Start-from)).Flow)
	}
	end := settles + judged
	t.world.Run(end)
	return t.world.Figures(flows.Down, end-judged/2, end, all...).Use
}
