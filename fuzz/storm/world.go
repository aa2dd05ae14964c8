package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/netsim"
)

// world is one simulation: a server, its peers, and bad weather, then fair
// weather until all is done. Its seed decides everything.
type world struct {
	seed    uint64
	climate climate
	dice    dice // for what is decided on the way
	agenda  agenda
	now     micros
	story   *story
	tally   tally
	pairs   []*pair
	hosts   []*host
	uplink  *netsim.Link // of the server; nil: none that is shared
	fairAt  micros       // when the weather turned fair; never before
	endAt   micros       // when all must be done; never before the weather turned fair
	inbox   []byte       // the buffer that datagrams are read into
	sweeps  int
	find    *find
}

// find is a violation, and where it happened.
type find struct {
	*accusation
	seed uint64
	at   micros
	pair *pair
	who  string
}

func (f *find) Error() string {
	return fmt.Sprintf("%s at %s, %s: %s", f.rule, clock(f.at), f.who, f.text)
}

// Limits of a world. They are far from what any needs, and a violation when met.
const (
	maxEvents      = 50_000_000
	maxPolls       = 2_000       // packets of one machine at one time
	longestSilence = 60 * second // until an end learns that the other has left, at most
	settling       = 10 * second // what bad weather leaves in queues and clocks
	sweepEvery     = second / 2
	longestWait    = 400 * second // of fair weather, beyond what the rates ask for
)

func newWorld(seed uint64, verbose bool) *world {
	d := newDice(seed, 0)
	w := &world{seed: seed, climate: drawClimate(d), dice: newDice(seed, 1), story: newStory(verbose), fairAt: never, endAt: never}
	w.tally.worlds = 1
	server := w.newHost("server")
	if w.climate.uplink.Rate > 0 {
		w.uplink = netsim.NewLink(w.climate.uplink, d.Uint64())
	}
	for i := range w.climate.peers {
		peer := w.newHost(fmt.Sprintf("peer%d", i+1))
		w.pairs = append(w.pairs, w.newPair(d, server, peer))
	}
	for kind := range troubles {
		w.planTrouble(trouble(kind))
	}
	w.agenda.add(w.climate.badFor, acting, w.turnFair)
	w.agenda.add(sweepEvery, polling, w.sweep)
	return w
}

// run runs the world to its end, or to the first find.
func (w *world) run() {
	defer w.catch()
	for events := 0; w.find == nil && !w.done(); events++ {
		e := w.agenda.next()
		w.now = e.at
		e.do()
		if events > maxEvents {
			w.accuse(nil, "world", accuse("bounds", "does not end after %d events", events))
		}
		if w.now > w.endAt {
			w.accuse(w.unfinished(), "world", accuse("LIVE-2", "not all is delivered after %d s of fair weather", (w.now-w.fairAt)/second))
		}
	}
	w.tally.virtual = w.now
	w.story.mark(uint64(w.now))
}

// catch makes a panic a find.
func (w *world) catch() {
	if p := recover(); p != nil {
		w.accuse(nil, "world", accuse("panic", "%v", p))
	}
}

func (w *world) accuse(p *pair, who string, a *accusation) {
	if a != nil && w.find == nil {
		w.find = &find{a, w.seed, w.now, p, who}
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

// patience is how long after the bad weather all must be done.
func (w *world) patience() micros {
	all := longestWait
	for _, p := range w.pairs {
		for _, e := range p.ends {
			rate := max(e.pace.rate, slowest)
			all = max(all, longestWait+int64(e.chunks+1)*(5*second+280_000*second/rate))
		}
	}
	return all
}

// turnFair ends all that is bad.
func (w *world) turnFair() {
	if w.fairAt != never {
		return
	}
	w.fairAt, w.endAt = w.now, w.now+w.patience()
	if w.story.told() {
		w.story.tell(w.now, nil, "the weather turns fair")
	}
	if w.uplink != nil {
		w.uplink.SetPath(netsim.Path{})
	}
	for _, h := range w.hosts {
		w.resume(h)
	}
	for _, p := range w.pairs {
		path := fairPath(w.dice)
		for _, e := range p.ends {
			e.path = path
			e.link.SetPath(path)
			e.readDelay = 0
		}
		p.part()
	}
}

// isFair reports whether nothing bad has happened for a while.
func (w *world) isFair(for_ micros) bool {
	return w.fairAt != never && w.now-for_ >= w.fairAt+settling
}

// sweep looks for those that should have done something by now.
func (w *world) sweep() {
	w.sweeps++
	for _, p := range w.pairs {
		for _, e := range p.ends {
			e.examine(w.sweeps%8 == 0) // it takes long to look
		}
	}
	w.agenda.add(w.now+sweepEvery, polling, w.sweep)
}
