package search

import (
	"math"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// families are the properties, each with the worlds in which it is asked and its bounds.
var families = []struct {
	name string
	run  func(t *trial)
}{
	{"P1 alone", alone},
	{"P2 beside", besideOne},
	{"P2 among", among},
	{"P3 stream", lossy},
	{"P3 chunks", chunks},
	{"P4 ours", together},
	{"P5 policer", policed},
	{"P5 step", steps},
	{"P5 acks", backwards},
	{"P5 jitter", jittery},
	{"P6 cold", cold},
	{"P7 marks", marked},
	{"P8 breaker", broken},
	{"P2 unyielding", unyielding},
	{"P7 AQM", managed},
	{"P7 AQM beside", managedBeside},
	{"P5 troubles", troubled},
}

// alone: the link is used, nothing is dropped, and the queue stays short.
func alone(t *trial) {
	p, o := t.anywhere(), t.options(1, 8)
	t.begin(p)
	t.say("%s", kind(o))
	c := t.add(o, 0)
	end := p.lasts()
	t.world.Run(end)
	f := t.world.Figures(flows.Down, end/3/flows.Slot*flows.Slot, end, c.Flow)
	drops, use := .01, .9
	if p.queue < .1 {
		drops, use = .02, .8
	}
	t.most("drops", f.LostQueue, drops)
	t.least("use", f.Use, use*p.lanesCarry(o))
	t.most("wait", f.Wait.Mean, 50)
}

// pair runs two flows, the second of which begins later, and returns what each of them got and what
// was dropped.
func (t *trial) pair(p path, first, second func(start core.Micros) *flows.Flow) (a, b, drops float64) {
	t.world = must(flows.NewWorld(p.Path, t.seed))
	later := max(3*1_000_000, 40*p.trip) / flows.Slot * flows.Slot
	x, y := first(0), second(later)
	end := later + max(p.lasts(), 300*p.trip)/flows.Slot*flows.Slot
	t.world.Run(end)
	from := later + (end-later)/3/flows.Slot*flows.Slot
	f := t.world.Figures(flows.Down, from, end, x, y)
	return rate(from, end, x), rate(from, end, y), f.LostQueue
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the draw is at fault
	}
	return v
}

// besideOne: beside one TCP each has its part, and no more is dropped than with two of them. Where two of them do
// not share, as where one cannot leave a queue of four slices, more is not asked of one of ours.
func besideOne(t *trial) {
	p, o := t.usual(), t.options(8)
	t.beside(p, o, sim.Among(t.Draw, tcp.NewReno, tcp.Cubic, tcp.QuicGo))
}

func (t *trial) beside(p path, o flows.Options, m tcp.Model) {
	oursFirst := t.OneIn(2)
	t.begin(p)
	t.say("%s beside %v, ours first %v", kind(o), m, oursFirst)
	other := func(start core.Micros) *flows.Flow { return beside(t.world, m, start) }
	x, y, two := t.pair(p, other, other)
	a, b, drops := t.ordered(p, oursFirst, t.ours(o), other)
	bound := 2.
	if p.queue < .2 || p.queue > 2 {
		bound = 3
	}
	bound = max(bound, x/max(y, 1), y/max(x, 1))
	t.most("ours", a/max(b, 1), bound)
	t.most("theirs", b/max(a, 1), bound)
	t.most("drops", drops, max(2*two, .01))
}

// ours returns what adds a flow of ours.
func (t *trial) ours(o flows.Options) func(start core.Micros) *flows.Flow {
	return func(start core.Micros) *flows.Flow { return t.add(o, start).Flow }
}

// ordered is pair, in an order.
func (t *trial) ordered(p path, oursFirst bool, ours, other func(start core.Micros) *flows.Flow) (a, b, drops float64) {
	if oursFirst {
		return t.pair(p, ours, other)
	}
	b, a, drops = t.pair(p, other, ours)
	return a, b, drops
}

// unyielding: beside one that does not answer loss a flow of ours gets what NewReno gets there, or a part.
func unyielding(t *trial) {
	p, o := t.usual(), t.options(8)
	m, oursFirst := sim.Among(t.Draw, tcp.BBR, tcp.Turbo), t.OneIn(2)
	t.begin(p)
	t.say("%s beside %v, ours first %v", kind(o), m, oursFirst)
	other := func(start core.Micros) *flows.Flow { return beside(t.world, m, start) }
	reno := func(start core.Micros) *flows.Flow { return beside(t.world, tcp.NewReno, start) }
	theirs, _, _ := t.ordered(p, oursFirst, reno, other)
	ours, _, _ := t.ordered(p, oursFirst, t.ours(o), other)
	t.least("of NewReno's", ours/max(min(theirs, float64(p.rate)/3), 1), 1)
}

// among: among four of them at least half of a fair share, and at most twice, or what the one of five that fares
// best gets: on a path that holds a slice or two of each nobody shares.
func among(t *trial) {
	p, o := t.usual(), t.options(8)
	m := sim.Among(t.Draw, tcp.NewReno, tcp.Cubic, tcp.QuicGo)
	t.begin(p)
	t.say("%s among four %v", kind(o), m)
	var starts [4]core.Micros
	for i := range starts {
		starts[i] = core.Micros(t.IntN(1000)) * ms
	}
	end := 3*second + max(p.lasts(), 300*p.trip)/flows.Slot*flows.Slot
	from := end / 3 / flows.Slot * flows.Slot
	run := func(last func() *flows.Flow) (shares []float64) {
		t.world = must(flows.NewWorld(p.Path, t.seed))
		var all []*flows.Flow
		for _, at := range starts {
			all = append(all, beside(t.world, m, at))
		}
		all = append(all, last())
		t.world.Run(end)
		for _, f := range all {
			shares = append(shares, rate(from, end, f)/rate(from, end, all...))
		}
		return shares
	}
	five := run(func() *flows.Flow { return beside(t.world, m, 3*second) })
	ours := run(func() *flows.Flow { return t.add(o, 3*second).Flow })[4]
	t.least("share", ours, .1)
	t.most("share at most", ours, max(.4, slices.Max(five)))
}

// lossy: loss that does not depend on the rate leaves a stream its speed.
func lossy(t *trial) {
	p, o := t.path(2e6, 150e6, 8*ms, 120*ms, 50, 400), t.options(8)
	p.Down.Loss = float64(t.Spread(1, 200)) / 10
	p.Up.Loss = p.Down.Loss
	if t.OneIn(4) {
		p.Down.LossRun = 2
	}
	t.begin(p)
	t.say("%s, loss %.1f %%, in runs of %.0f", kind(o), p.Down.Loss, p.Down.LossRun)
	c := t.add(o, 0)
	end := p.lasts()
	t.world.Run(end)
	f := t.world.Figures(flows.Down, end/3/flows.Slot*flows.Slot, end, c.Flow)
	use := .85
	if p.Down.Loss > 5 {
		use = .8
	}
	t.least("use", f.Use, use*p.lanesCarry(o))
	t.most("drops", f.LostQueue, .01)
}

// chunks: a warm chunk takes little more than the link needs for what is lost of it.
func chunks(t *trial) {
	p, o := t.path(5e6, 500e6, 8*ms, 120*ms, 100, 400), t.options(1)
	p.Down.Loss = sim.Among(t.Draw, 0, 1, 5, 20.)
	p.Up.Loss = p.Down.Loss
	o.Lanes.Repair = true
	o.Chunks, o.Waiting, o.Pause = 8, 1, t.Time(0, 2)*second
	t.begin(p)
	t.say("%s, loss %.0f %%, pause %d s", kind(o), p.Down.Loss, o.Pause/second)
	c := t.add(o, 0)
	t.world.Run(100 * second)
	all := c.Delivered(flows.Down)
	bound := float64(codec.MaxSlices*full*8)/(1-p.Down.Loss/100)*1e6/float64(p.rate) + float64(p.trip)/2
	var warm []float64
	for _, one := range all[1:] {
		warm = append(warm, float64(one.Delivered-one.Submitted))
	}
	t.most("second", warm[0]/bound, sim.Among(t.Draw, 1.5))
	slices.Sort(warm)
	t.most("warm", warm[len(warm)/2]/bound, 1.25)
}

// together: flows of ours share alike, and do not drop more than as many TCPs.
func together(t *trial) {
	p, o := t.usual(), t.options(1, 8, 8)
	n := 2 + t.IntN(15)
	later := sim.Among(t.Draw, 0, 500*ms, 2*second)
	t.begin(p)
	slices := float64(p.rate) / 8 * (p.trip.Duration().Seconds()*(1+p.queue) + .01) / float64(full) / float64(n)
	t.say("%d of %s, each %v later, %.1f slices each", n, kind(o), later.Duration(), slices)
	from := (later*core.Micros(n-1) + 10*second) / flows.Slot * flows.Slot
	end := from + max(20*second, 150*p.trip)/flows.Slot*flows.Slot
	run := func(add func(start core.Micros) *flows.Flow) flows.Figures {
		t.world = must(flows.NewWorld(p.Path, t.seed))
		var all []*flows.Flow
		for i := range n {
			all = append(all, add(later*core.Micros(i)+core.Micros(t.IntN(3000))))
		}
		t.world.Run(end)
		return t.world.Figures(flows.Down, from, end, all...)
	}
	ours := run(func(start core.Micros) *flows.Flow { return t.add(o, start).Flow })
	theirs := run(func(start core.Micros) *flows.Flow { return beside(t.world, tcp.NewReno, start) })
	t.least("Jain", ours.Jain, .95)
	t.most("drops", ours.LostQueue, max(theirs.LostQueue*1.2, .01))
	t.least("use", ours.Use, .85*min(1, p.lanesCarry(o)*float64(n)))
}

// policed: a policer's rate is found, and not passed for long.
func policed(t *trial) {
	p, o := t.path(50e6, 200e6, 10*ms, 80*ms, 100, 400), t.options(1, 8)
	p.Down.PoliceRate, p.Down.PoliceBurst = t.Spread(500_000, 20_000_000), int(t.Spread(4<<10, 256<<10))
	t.begin(p)
	t.say("%s, policed to %.1f Mbit/s, burst %d KiB", kind(o), float64(p.Down.PoliceRate)/1e6, p.Down.PoliceBurst>>10)
	c := t.add(o, 0)
	t.world.Run(30 * second)
	n := c.Counts(flows.Down, 0, 30*second)
	p.rate = p.Down.PoliceRate
	t.most("sent over news", float64(n.Data)/float64(max(n.News, 1)), 1.3)
	t.least("use", rate(5*second, 30*second, c.Flow)/float64(p.rate), .7*p.lanesCarry(o))
}

// steps: rate or round trip change, or there is nothing for a while.
func steps(t *trial) {
	p, o := t.path(4e6, 60e6, 10*ms, 100*ms, 60, 400), t.options(8)
	after := p
	by := t.Spread(3, 10)
	what := sim.Among(t.Draw, "rate up", "rate down", "trip up", "trip down", "outage")
	p.Path.Changes = nil
	switch what {
	case "rate up":
		after.rate *= by
	case "rate down":
		after.rate /= by
	case "trip up":
		after.trip = min(after.trip*core.Micros(by), 300*ms)
	case "trip down":
		after.trip /= core.Micros(by)
	}
	after.Down.Rate, after.Down.Delay = after.rate, after.trip.Duration()/2
	after.Up.Delay = after.Down.Delay
	at := 8 * second
	if what == "outage" {
		gone := p
		gone.Down.Outage, gone.Up.Outage = true, true
		p.Path.Changes = append(p.Path.Changes, flows.Change{At: at, Down: gone.Down, Up: gone.Up})
		at += t.Time(1, 4) * second
	}
	p.Path.Changes = append(p.Path.Changes, flows.Change{At: at, Down: after.Down, Up: after.Up})
	t.begin(p)
	t.say("%s, %s by %d to %.1fM/%v", kind(o), what, by, float64(after.rate)/1e6, after.trip.Duration().Round(time.Millisecond))
	c := t.add(o, 0)
	end := at + 15*second
	t.world.Run(end)
	f := t.world.Figures(flows.Down, at+5*second, end, c.Flow)
	t.least("use", f.Use, .85*after.lanesCarry(o))
	t.most("drops", f.LostQueue, .02)
	t.most("wait", f.Wait.Mean, 50)
}

// backwards: acks come in bunches, half of them are lost, or the way back is as full.
func backwards(t *trial) {
	p, o := t.path(2e6, 100e6, 8*ms, 100*ms, 40, 400), t.options(8)
	what := sim.Among(t.Draw, "bunches", "lost", "both ways")
	bound, news := .8, 1.1
	switch what {
	case "bunches":
		p.Up.Tick = time.Duration(t.Spread(5, 50)) * time.Millisecond
	case "lost":
		p.Up.Loss = 50
	case "both ways":
		p.Up, o.BothWays, bound = p.Down, true, .7
	}
	t.begin(p)
	t.say("%s, %s %v", kind(o), what, p.Up.Tick)
	c := t.add(o, 0)
	end := p.lasts()
	t.world.Run(end)
	from := end / 3 / flows.Slot * flows.Slot
	f := t.world.Figures(flows.Down, from, end, c.Flow)
	n := c.Counts(flows.Down, 0, end)
	t.least("use", f.Use, bound*p.lanesCarry(o))
	t.most("sent over news", float64(n.Data)/float64(max(n.News, 1)), news)
	t.most("drops", f.LostQueue, .01)
	t.most("wait", f.Wait.Mean, 50)
}

// jittery: jitter that keeps order is not taken for a queue.
func jittery(t *trial) {
	p, o := t.path(2e6, 100e6, 20*ms, 100*ms, 100, 400), t.options(8)
	d := time.Duration(t.Spread(5, 50)) * time.Millisecond
	back := t.OneIn(2)
	if back {
		p.Up.Jitter = d
	} else {
		p.Down.Jitter = d
	}
	t.begin(p)
	t.say("%s, jitter %v, back %v", kind(o), d, back)
	c := t.add(o, 0)
	end := max(p.lasts(), 20*second)
	t.world.Run(end)
	f := t.world.Figures(flows.Down, end/3/flows.Slot*flows.Slot, end, c.Flow)
	t.least("use", f.Use, .7*p.lanesCarry(o))
	t.most("drops", f.LostQueue, .01)
	t.most("wait", f.Wait.Mean, 50+float64(d.Milliseconds()))
}

// cold: the first flight is small, opening is as fast as slow start, and the state is kept for 10 s.
func cold(t *trial) {
	p, o := t.path(1e6, 1000e6, 2*ms, 300*ms, 50, 800), t.options(1)
	o.Chunks, o.Waiting, o.Pause = 3, 1, 10*second-2*p.trip
	t.begin(p)
	t.say("%s", kind(o))
	sent := int64(0)
	c := t.add(o, 0)
	t.world.Run(p.trip)
	for _, n := range []flows.Counts{c.Counts(flows.Down, 0, p.trip+flows.Slot)} {
		sent += n.Sent
	}
	t.world.Run(90 * second)
	all := c.Delivered(flows.Down)
	took := func(i int) float64 { return float64(all[i].Delivered - all[i].Submitted) }
	send := float64(codec.MaxSlices*full*8) * 1e6 / float64(p.rate)
	t.most("first flight", float64(sent), 16)
	t.most("first chunk", took(0)/(3.5*float64(p.trip)+10_000+math.Max(send, 0)*1.1), 1)
	t.most("after 10 s", took(2)/(math.Min(took(0), .5*float64(p.trip)+1.3*send+5_000)), 1.1)
}

// marked: marks keep the queue short.
func marked(t *trial) {
	p, o := t.path(4e6, 150e6, 8*ms, 100*ms, 100, 400), t.options(8)
	p.Down.MarkAbove = max(int(float64(p.rate)/8*p.trip.Duration().Seconds()*float64(t.Spread(10, 60))/100), 3*full)
	t.begin(p)
	t.say("%s, marks above %d KiB", kind(o), p.Down.MarkAbove>>10)
	c := t.add(o, 0)
	end := p.lasts()
	t.world.Run(end)
	f := t.world.Figures(flows.Down, end/3/flows.Slot*flows.Slot, end, c.Flow)
	t.least("use", f.Use, .85*p.lanesCarry(o))
	t.most("drops", f.LostQueue, .001)
	t.most("wait", f.Wait.Mean, float64(p.Down.MarkAbove)*8e3/float64(p.rate)+10)
}

// manage gives a path an AQM, and a queue that is full after a second.
func (t *trial) manage(p *path) (kind netsim.AQM) {
	kind, p.Fair = sim.Among(t.Draw, netsim.UseCoDel, netsim.UsePIE), t.OneIn(3)
	if p.Down.AQM = kind; p.Fair {
		kind, p.Down.AQM = netsim.UseCoDel, netsim.NoAQM
	}
	p.Down.Queue, p.Down.AQMMarks = int(p.rate/8), t.OneIn(2)
	name := [...]string{netsim.UseCoDel: "CoDel", netsim.UsePIE: "PIE"}[kind]
	if p.Fair {
		name = "FQ-CoDel"
	}
	t.say("%s, ECN %v", name, p.Down.AQMMarks)
	return kind
}

// managed: an AQM keeps the queue of a flow of ours near its target, and the link is used.
func managed(t *trial) {
	p, o := t.path(4e6, 150e6, 8*ms, 100*ms, 100, 400), t.options(8)
	aqm := t.manage(&p)
	t.begin(p)
	t.say("%s", kind(o))
	c := t.add(o, 0)
	end := p.lasts()
	t.world.Run(end)
	f := t.world.Figures(flows.Down, end/3/flows.Slot*flows.Slot, end, c.Flow)
	t.least("use", f.Use, .85*p.lanesCarry(o))
	t.most("drops", f.LostQueue, .01)
	t.most("wait", f.Wait.Mean, aqm.Target(p.rate).Seconds()*1000+10)
}

// managedBeside: through an AQM a flow of ours shares with TCP as elsewhere; TCP has no ECN.
func managedBeside(t *trial) {
	p, o := t.path(4e6, 100e6, 8*ms, 100*ms, 100, 200), t.options(8)
	t.manage(&p)
	t.beside(p, o, sim.Among(t.Draw, tcp.NewReno, tcp.Cubic, tcp.QuicGo))
}

// broken: where most is lost whatever the rate, little is sent.
func broken(t *trial) {
	p, o := t.path(2e6, 100e6, 10*ms, 100*ms, 100, 400), t.options(1, 8)
	p.Down.Loss = float64(t.Spread(60, 80))
	t.begin(p)
	t.say("%s, loss %.0f %%", kind(o), p.Down.Loss)
	c := t.add(o, 0)
	t.world.Run(40 * second)
	n := c.Counts(flows.Down, 20*second, 40*second)
	t.most("slices a round trip", float64(n.Sent)*p.trip.Duration().Seconds()/20, 2.5)
}
