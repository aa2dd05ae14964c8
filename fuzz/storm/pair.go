package main

import (
	"fmt"
	"github.com/chunkwire/chunkwire/conform/sim"

	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
)

// host is a process. It may be stopped for a while: what arrives meanwhile waits in
// its socket's buffer, as far as there is room.
type host struct {
	name      string
	stopped   bool
	resumedAt core.Micros
	buffer    []*datagram
	to        []*end   // for whom each in buffer is
	buffered  int      // bytes in buffer
	room      int      // most bytes in buffer
	waking    []func() // what applications wanted to do meanwhile
	ends      []*end
}

func (w *world) newHost(name string) *host {
	h := &host{name: name, room: int(w.Spread(32_768, 1<<20))}
	w.hosts = append(w.hosts, h)
	return h
}

// pair is a server and one peer, and the connections between them: one after
// the other, each with a protocol id of its own (CON-5).
type pair struct {
	world    *world
	firstID  uint16
	repaired bool // its chunks have repair slices
	ends     [2]*end
	streams  map[streamKey]*chunk.Stream
	archive  archive
}

type streamKey struct{ epoch, from int }

func (w *world) newPair(d sim.Draw, server, peer *host) *pair {
	p := &pair{world: w, firstID: drawFirstID(d), repaired: d.OneIn(2), streams: map[streamKey]*chunk.Stream{}}
	giveUp := drawGiveUp(d)
	plan := drawPlan(d)
	for i, h := range []*host{server, peer} {
		path := drawPath(d)
		e := &end{
			world: w, pair: p, host: h, number: len(w.ends), index: i, pace: p.drawPace(d), giveUp: giveUp,
			path: path, link: newLink(path, d.Uint64()), wakeAt: never,
			application: application{chunks: plan[i], sizes: drawSizes(d)},
		}
		if d.OneIn(8) {
			e.giveUp = drawGiveUp(d) // against SND-17, which is only a SHOULD
		}
		if d.OneIn(2) {
			e.tick = d.SpreadTime(millisecond, 50*millisecond)
		}
		e.thinks, e.readDelay = drawHabits(d)
		h.ends = append(h.ends, e)
		w.ends = append(w.ends, e)
		p.ends[i] = e
	}
	for i, e := range p.ends {
		e.peer = p.ends[1-i]
		e.name = fmt.Sprintf("%s>%s", e.host.name, e.peer.host.name)
	}
	return p
}

// drawPace draws how a sender is set up.
func (p *pair) drawPace(d sim.Draw) pace {
	list := paces
	if p.repaired {
		list = repairPaces
	}
	return list[d.IntN(len(list))](d)
}

// drawFirstID draws ids of which many wrap.
func drawFirstID(d sim.Draw) uint16 {
	switch d.IntN(3) {
	case 0:
		return 0
	case 1:
		return uint16(-d.Between(1, 10))
	}
	return uint16(d.Uint32())
}

// endless is a GIVE_UP that never passes.
const endless core.Micros = 1 << 61

// drawGiveUp draws a GIVE_UP that never passes on a network without faults.
func drawGiveUp(d sim.Draw) core.Micros {
	if d.OneIn(12) {
		return endless
	}
	if d.OneIn(2) {
		return 10 * second
	}
	return d.SpreadTime(3*second, 40*second)
}

// drawPlan draws how many chunks go each way.
func drawPlan(d sim.Draw) (chunks [2]int) {
	way := d.IntN(4) // down, down, up, both
	if way != 2 {
		chunks[0] = int(d.Spread(1, 40))
	}
	if way >= 2 {
		chunks[1] = int(d.Spread(1, 40))
	}
	return chunks
}

// drawHabits draws how long an application thinks between two chunks, and how
// long it lets a complete one wait.
func drawHabits(d sim.Draw) (thinks, readDelay core.Micros) {
	if d.OneIn(2) {
		thinks = d.SpreadTime(millisecond, 5*second)
	}
	if d.OneIn(3) {
		readDelay = d.SpreadTime(millisecond, 60*second)
	}
	return thinks, readDelay
}

// stream returns the stream that begins at an end in an epoch.
func (p *pair) stream(epoch, from int) *chunk.Stream {
	key := streamKey{epoch, from}
	s := p.streams[key]
	if s == nil {
		s = &chunk.Stream{FirstID: p.firstID}
		p.streams[key] = s
	}
	return s
}

// protocolID returns the id of the connection of an epoch.
func protocolID(epoch int) uint32 { return 0x11223344 + uint32(epoch) }

// part ends a connection of which one end was begun again against the rule, if one
// of them would wait without end.
func (p *pair) part() {
	for _, e := range p.ends {
		if e.giveUp == endless && !(e.out.Lawful() && e.in.Lawful()) {
			e.epoch = max(e.epoch, e.peer.epoch) // to one that neither has seen
			e.abandon("leaves a peer that breaks the rules")
			return
		}
	}
}

// done reports whether both applications are through with their plans, and all
// is read.
func (p *pair) done() bool {
	a, b := p.ends[0], p.ends[1]
	return a.idle() && b.idle() && (a.epoch == b.epoch || a.chunks+b.chunks == 0)
}
