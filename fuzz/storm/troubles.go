package main

import (
	"github.com/chunkwire/chunkwire/codec"
)

// trouble is a kind of thing that goes wrong now and then.
type trouble int

const numTroubles = 8

// troubles is every kind. Each comes at random times, at a rate of its own, until
// the weather turns fair.
var troubles = [numTroubles]struct {
	name string
	do   func(w *world, p *pair, e *end)
}{
	{"outages", outage},
	{"new paths", newPath},
	{"stops", stop},
	{"restarts", restart},
	{"unlawful", restartAgainstTheRule},
	{"garbage", garbage},
	{"strangers", strangers},
	{"replays", replay},
}

// planTrouble plans the next trouble of a kind, if the world has that kind.
func (w *world) planTrouble(kind trouble) {
	every := w.climate.every[kind]
	if every == 0 {
		return
	}
	w.agenda.add(w.now+w.dice.between(1, 2*every), acting, func() {
		if w.fairAt != never {
			return
		}
		p := w.pairs[w.dice.IntN(len(w.pairs))]
		w.tally.troubles[kind]++
		troubles[kind].do(w, p, p.ends[w.dice.IntN(2)])
		w.planTrouble(kind)
	})
}

// outage: nothing passes one way, both ways, or at the server, for up to minutes.
func outage(w *world, p *pair, e *end) {
	hit := []*end{e}
	switch w.dice.IntN(4) {
	case 0:
		hit = p.ends[:]
	case 1:
		hit = p.ends[0].host.ends
	}
	long := w.dice.spread(10*millisecond, 180*second)
	for _, e := range hit {
		e.link.SetPath(outagePath)
		w.agenda.add(w.now+long, acting, func() { e.link.SetPath(e.path) })
	}
	if w.story.told() {
		e.tell("outage of %d paths for %s", len(hit), clock(long))
	}
}

// newPath: the path changes.
func newPath(w *world, _ *pair, e *end) {
	e.path = drawPath(w.dice)
	e.link.SetPath(e.path)
	if w.story.told() {
		e.tell("has another path: %+v", e.path)
	}
}

// stop: a process is stopped, and goes on later.
func stop(w *world, _ *pair, e *end) {
	h := e.host
	if h.stopped {
		return
	}
	h.stopped = true
	long := w.dice.spread(millisecond, 30*second)
	if w.story.told() {
		e.tell("%s stops for %s", h.name, clock(long))
	}
	w.agenda.add(w.now+long, acting, func() { w.resume(h) })
}

// resume lets a host go on: first it takes what has arrived, then what is due.
func (w *world) resume(h *host) {
	if !h.stopped {
		return
	}
	h.stopped, h.resumedAt = false, w.now
	buffer, to, waking := h.buffer, h.to, h.waking
	h.buffer, h.to, h.waking, h.buffered = nil, nil, nil, 0
	for i, d := range buffer {
		to[i].arrive(d)
	}
	for _, act := range waking {
		act()
	}
	for _, e := range h.ends {
		e.wakeAt = never
		e.wake(w.now)
	}
}

// restart: an end, or a host with all of its ends, loses its connections, and
// begins others with other ids.
func restart(w *world, _ *pair, e *end) {
	ends := []*end{e}
	if w.dice.oneIn(4) {
		ends = e.host.ends
	}
	for _, e := range ends {
		e.abandon("restarts")
	}
}

// restartAgainstTheRule: an end loses its connection, and begins another with
// the same id, and the other end does not know (CON-5).
func restartAgainstTheRule(w *world, _ *pair, e *end) {
	if w.story.told() {
		e.tell("restarts with the same id")
	}
	e.found(e.epoch)
}

// garbage: bytes that are no datagram.
func garbage(w *world, _ *pair, e *end) {
	for range w.dice.spread(1, 64) {
		b := make([]byte, w.dice.spread(1, 1500)-1)
		for i := range b {
			b[i] = byte(w.dice.Uint32())
		}
		e.expect(w.now, delivery{b, e.epoch, false})
	}
}

// strangers: perfect packets of those who do not know the protocol id.
func strangers(w *world, p *pair, e *end) {
	framer := codec.NewFramer(w.dice.Uint32() | 1<<31)
	for range w.dice.spread(1, 64) {
		id := p.firstID + uint16(w.dice.IntN(4))
		n := int(w.dice.between(1, 256))
		b, err := framer.AppendAck(nil, codec.Ack{ChunkID: id, NumSlices: n, Acked: codec.FirstN(n)})
		if w.dice.oneIn(2) {
			b, err = framer.AppendSlice(nil, codec.Slice{ChunkID: id, NumSlices: 256, SliceID: w.dice.IntN(255), Data: make([]byte, 1024)})
		}
		if err != nil {
			panic(err)
		}
		e.expect(w.now, delivery{b, 0, false})
	}
}

// replay: old datagrams come again, also those of earlier connections.
func replay(w *world, p *pair, _ *end) {
	for range w.dice.spread(1, 64) {
		if l, ok := p.archive.draw(w.dice); ok {
			l.to.expect(w.now+w.dice.between(0, second/5), l.delivery)
		}
	}
}
