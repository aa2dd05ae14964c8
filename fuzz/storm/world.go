package main

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	millisecond = core.Millisecond
	second      = core.Second
	never       = core.Never
)

// What is counted in worlds of chunks, besides what is in all.
const (
	Connections = soak.Own + iota
	Reconnected
	Submitted
	Reported
	Read
	GaveUp
	Arrived
	Acks
	Extra
	Duplicated
	Reordered
	Overflown
	Mixed
	Corrupted
	Backward
	BadSubmits
	FirstFault // of those in the table faults
)

// chunks are the worlds of chunks.
var chunks = soak.Kind{Name: "chunks", Rows: append([]soak.Row{
	{Name: "worlds", Format: "%d, %v of virtual time", Counts: []soak.Count{soak.Worlds, soak.Time}},
	{Name: "connections", Format: "%d, of them %d begun after another between the same two; %d ended by giving up", Counts: []soak.Count{Connections, Reconnected, GaveUp}},
	{Name: "chunks", Format: "%d submitted, %d reported as delivered, %d read; %d refused as they should be", Counts: []soak.Count{Submitted, Reported, Read, BadSubmits}},
	{Name: "mixed", Format: "%d read that nobody had submitted: the price of a restart with the same id", Counts: []soak.Count{Mixed}},
	{Name: "datagrams", Format: "%d sent: %d slices resent or repair slices, %d acks; %d arrived", Counts: []soak.Count{soak.Datagrams, Extra, Acks, Arrived}},
	{Name: "network", Format: "%d lost, %d duplicated, %d reordered, %d corrupted, %d met a full buffer", Counts: []soak.Count{soak.Lost, Duplicated, Reordered, Corrupted, Overflown}},
	{Name: "decoders", Format: "%d refused what was changed, foreign or no datagram at all", Counts: []soak.Count{soak.Refused}},
	{Name: "clocks", Format: "%d times that went back", Counts: []soak.Count{Backward}},
}, faultRows()...), Run: func(seed uint64, log *soak.Log) (soak.Counts, error) {
	w := newWorld(seed, log)
	w.run()
	return w.Result()
}}

// world is one simulation: a server, its peers, and a network with faults, then one
// without until all is done. Its seed decides everything.
type world struct {
	soak.World
	net        *sim.World[*datagram]
	conditions conditions
	pairs      []*pair
	hosts      []*host
	ends       []*end       // by the number that the sim.World has for them
	uplink     *netsim.Link // of the server; nil: none that is shared
	endAt      core.Micros  // when all must be done; never before the faults ended
	inbox      []byte       // the buffer that datagrams are read into
	checks     int
}

// failure is a violation, and where it happened.
type failure struct {
	*chunk.Violation
	pair *pair
	who  string
}

func (f *failure) Error() string { return fmt.Sprintf("%s, %s: %s", f.Rule, f.who, f.Text) }

// Limits of a world. They are far from what any needs, and a failure when met.
const (
	maxSteps       = 50_000_000  // packets sent and handed over
	maxPolls       = 2_000       // packets of one machine at one time
	longestSilence = 60 * second // until an end learns that the other has left, at most
	settling       = 10 * second // what faults leave in queues and clocks
	checkEvery     = second / 2
	longestWait    = 400 * second // without faults, beyond what the rates ask for
	longest        = 1 << 60      // far beyond what they ask for
)

func newWorld(seed uint64, log *soak.Log) *world {
	r := sim.NewDraw(seed, 0)
	w := &world{World: soak.New(seed, 1, log), conditions: drawConditions(r), endAt: never}
	log.Add(0, nil, "conditions: %+v", w.conditions)
	server := w.newHost("server")
	if w.conditions.uplink.Rate > 0 {
		w.uplink = newLink(w.conditions.uplink, r.Uint64())
	}
	for i := range w.conditions.peers {
		peer := w.newHost(fmt.Sprintf("peer%d", i+1))
		w.pairs = append(w.pairs, w.newPair(r, server, peer))
	}
	ends := make([]sim.End[*datagram], len(w.ends))
	for i, e := range w.ends {
		ends[i] = e
	}
	w.net = sim.NewWorld(w.carry, ends...)
	w.Timeline = w.net
	for _, e := range w.ends {
		e.connect(1)
	}
	for kind := range faults {
		w.planFault(kind)
	}
	w.At(checkEvery, w.check)
	return w
}

// newLink returns a link of a path that was drawn, and so is valid.
func newLink(p netsim.Path, seed uint64) *netsim.Link {
	link, err := netsim.NewLink(p, seed)
	if err != nil {
		panic(err)
	}
	return link
}

func setPath(link *netsim.Link, p netsim.Path) {
	if err := link.SetPath(p); err != nil {
		panic(err)
	}
}

// run runs the world to its end, or to the first failure.
func (w *world) run() {
	w.Live(soak.Course{Troubles: w.conditions.badFor, Settles: longest, Good: w.endFaults, Left: w.left, Early: true})
	w.Log.Mark(uint64(w.Now()))
}

// left returns what is left to do, until a limit is met.
func (w *world) left() error {
	p := w.unfinished()
	switch {
	case p == nil:
		return nil
	case w.net.Steps() > maxSteps:
		w.report(nil, "world", &chunk.Violation{Rule: "bounds", Text: fmt.Sprintf("does not end after %d steps", w.net.Steps())})
	case w.Now() > w.endAt:
		text := fmt.Sprintf("not all is delivered after %d s without faults", (w.Now()-w.GoodAt)/second)
		w.report(p, "world", &chunk.Violation{Rule: "LIVE-2", Text: text})
	}
	return errLeft
}

var errLeft = errors.New("applications have not done what they wanted")

func (w *world) report(p *pair, who string, v *chunk.Violation) {
	if v != nil {
		w.Check(&failure{v, p, who})
	}
}

// unfinished returns a pair whose applications have not done what they wanted.
func (w *world) unfinished() *pair {
	for _, p := range w.pairs {
		if !p.done() {
			return p
		}
	}
	return nil
}

// allowed is how long after the faults all must be done.
func (w *world) allowed() core.Micros {
	all := longestWait
	for _, e := range w.ends {
		rate := core.Micros(max(e.pace.rate, slowest))
		all = max(all, longestWait+core.Micros(e.chunks+1)*(5*second+280_000*second/rate))
	}
	return all
}

// endFaults ends all that is bad.
func (w *world) endFaults() {
	w.endAt = w.Now() + w.allowed()
	w.Log.Add(w.Now(), nil, "the faults end")
	if w.uplink != nil {
		setPath(w.uplink, netsim.Path{})
	}
	for _, h := range w.hosts {
		w.resume(h)
	}
	for _, p := range w.pairs {
		path := goodPath(w.Draw)
		for _, e := range p.ends {
			e.path = path
			setPath(e.link, path)
			e.readDelay = 0
		}
		p.part()
	}
}

// calmFor reports whether there were no faults for a while.
func (w *world) calmFor(d core.Micros) bool {
	return w.Good() && w.Now()-d >= w.GoodAt+settling
}

// check looks for those that should have done something by now.
func (w *world) check() {
	w.checks++
	for _, e := range w.ends {
		e.check(w.checks%8 == 0) // it takes long to measure memory
	}
	w.At(w.Now()+checkEvery, w.check)
}
