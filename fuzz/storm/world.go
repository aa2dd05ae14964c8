package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	millisecond = core.Millisecond
	second      = core.Second
	never       = core.Never
)

// world is one simulation: a server, its peers, and a network with faults, then one
// without until all is done. Its seed decides everything.
type world struct {
	*sim.World[*datagram]
	seed       uint64
	conditions conditions
	random     random // for what is decided on the way
	log        *log
	counts     counts
	pairs      []*pair
	hosts      []*host
	ends       []*end       // by the number that the sim.World has for them
	uplink     *netsim.Link // of the server; nil: none that is shared
	calmAt     core.Micros  // when the faults ended; never before
	endAt      core.Micros  // when all must be done; never before the faults ended
	inbox      []byte       // the buffer that datagrams are read into
	checks     int
	failure    *failure
}

// failure is a violation, and where it happened.
type failure struct {
	*chunk.Violation
	seed uint64
	at   core.Micros
	pair *pair
	who  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s at %s, %s: %s", f.Rule, clock(f.at), f.who, f.Text)
}

// Limits of a world. They are far from what any needs, and a failure when met.
const (
	maxSteps       = 50_000_000  // packets sent and handed over
	maxPolls       = 2_000       // packets of one machine at one time
	longestSilence = 60 * second // until an end learns that the other has left, at most
	settling       = 10 * second // what faults leave in queues and clocks
	checkEvery     = second / 2
	longestWait    = 400 * second // without faults, beyond what the rates ask for
)

func newWorld(seed uint64, verbose bool) *world {
	r := newRandom(seed, 0)
	w := &world{seed: seed, conditions: drawConditions(r), random: newRandom(seed, 1), log: newLog(verbose), calmAt: never, endAt: never}
	w.counts.worlds = 1
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
	w.World = sim.NewWorld(w.carry, ends...)
	for _, e := range w.ends {
		e.connect(1)
	}
	for kind := range faults {
		w.planFault(kind)
	}
	w.At(w.conditions.badFor, w.endFaults)
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
	defer w.recover()
	w.Run(never, w.over)
	w.counts.virtual = int64(w.Now())
	w.log.mark(uint64(w.Now()))
}

// over reports whether the world is at its end, or has met a limit or a violation.
func (w *world) over() bool {
	switch {
	case w.failure != nil || w.done():
	case w.Steps() > maxSteps:
		w.report(nil, "world", &chunk.Violation{Rule: "bounds", Text: fmt.Sprintf("does not end after %d steps", w.Steps())})
	case w.Now() > w.endAt:
		text := fmt.Sprintf("not all is delivered after %d s without faults", (w.Now()-w.calmAt)/second)
		w.report(w.unfinished(), "world", &chunk.Violation{Rule: "LIVE-2", Text: text})
	default:
		return false
	}
	return true
}

// recover makes a panic a failure.
func (w *world) recover() {
	if p := recover(); p != nil {
		w.report(nil, "world", &chunk.Violation{Rule: "panic", Text: fmt.Sprint(p)})
	}
}

func (w *world) report(p *pair, who string, v *chunk.Violation) {
	if v != nil && w.failure == nil {
		w.failure = &failure{v, w.seed, w.Now(), p, who}
	}
}

// done reports whether every application has done what it wanted.
func (w *world) done() bool { return w.unfinished() == nil }

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
	if w.calmAt != never {
		return
	}
	w.calmAt, w.endAt = w.Now(), w.Now()+w.allowed()
	if w.log.verbose() {
		w.log.add(w.Now(), nil, "the faults end")
	}
	if w.uplink != nil {
		setPath(w.uplink, netsim.Path{})
	}
	for _, h := range w.hosts {
		w.resume(h)
	}
	for _, p := range w.pairs {
		path := goodPath(w.random)
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
	return w.calmAt != never && w.Now()-d >= w.calmAt+settling
}

// check looks for those that should have done something by now.
func (w *world) check() {
	w.checks++
	for _, e := range w.ends {
		e.check(w.checks%8 == 0) // it takes long to measure memory
	}
	w.At(w.Now()+checkEvery, w.check)
}
