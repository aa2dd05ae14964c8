package main

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

const numFaults = 8

// faults is every kind. Each comes at random times, at a rate of its own, until all
// faults end.
var faults = [numFaults]struct {
	name string
	do   func(w *world, p *pair, e *end)
}{
	{"outages", outage},
	{"new paths", newPath},
	{"stops", stop},
	{"restarts", restart},
	{"unlawful", restartAgainstTheRule},
	{"garbage", garbage},
	{"unknown peers", unknownPeers},
	{"replays", replay},
}

// faultRows are a report of them.
func faultRows() (rows []soak.Row) {
	for i := range faults {
		rows = append(rows, soak.Row{Name: faults[i].name, Format: "%d", Counts: []soak.Count{FirstFault + soak.Count(i)}})
	}
	return rows
}

// planFault plans the next fault of a kind, if the world has that kind.
func (w *world) planFault(kind int) {
	every := w.conditions.every[kind]
	if every == 0 {
		return
	}
	w.At(w.Now()+w.Time(1, 2*every), func() {
		if w.Good() {
			return
		}
		p := w.pairs[w.IntN(len(w.pairs))]
		w.Counts[FirstFault+soak.Count(kind)]++
		faults[kind].do(w, p, p.ends[w.IntN(2)])
		w.planFault(kind)
	})
}

// outage: nothing passes one way, both ways, or at the server, for up to minutes.
func outage(w *world, p *pair, e *end) {
	hit := []*end{e}
	switch w.IntN(4) {
	case 0:
		hit = p.ends[:]
	case 1:
		hit = p.ends[0].host.ends
	}
	long := w.SpreadTime(10*millisecond, 180*second)
	for _, e := range hit {
		setPath(e.link, outagePath)
		w.At(w.Now()+long, func() { setPath(e.link, e.path) })
	}
	if w.Log.Verbose() {
		e.note("outage of %d paths for %s", len(hit), soak.Clock(long))
	}
}

// newPath: the path changes.
func newPath(w *world, _ *pair, e *end) {
	e.path = drawPath(w.Draw)
	setPath(e.link, e.path)
	if w.Log.Verbose() {
		e.note("has another path: %+v", e.path)
	}
}

// stop: a process is stopped, and resumes later.
func stop(w *world, _ *pair, e *end) {
	h := e.host
	if h.stopped {
		return
	}
	h.stopped = true
	long := w.SpreadTime(millisecond, 30*second)
	if w.Log.Verbose() {
		e.note("%s stops for %s", h.name, soak.Clock(long))
	}
	w.At(w.Now()+long, func() { w.resume(h) })
}

// resume lets a host run again: first it takes what has arrived, then what is due.
func (w *world) resume(h *host) {
	if !h.stopped {
		return
	}
	h.stopped, h.resumedAt = false, w.Now()
	buffer, to, waking := h.buffer, h.to, h.waking
	h.buffer, h.to, h.waking, h.buffered = nil, nil, nil, 0
	for i, d := range buffer {
		to[i].Handle(w.Now(), d)
	}
	for _, act := range waking {
		act()
	}
	for _, e := range h.ends {
		e.wakeAt = never
		e.wake(w.Now())
	}
}

// restart: an end, or a host with all of its ends, loses its connections, and
// begins others with other ids.
func restart(w *world, _ *pair, e *end) {
	ends := []*end{e}
	if w.OneIn(4) {
		ends = e.host.ends
	}
	for _, e := range ends {
		e.abandon("restarts")
	}
}

// restartAgainstTheRule: an end loses its connection, and begins another with
// the same id, and the other end does not know (CON-5).
func restartAgainstTheRule(w *world, _ *pair, e *end) {
	if w.Log.Verbose() {
		e.note("restarts with the same id")
	}
	e.connect(e.epoch)
}

// garbage: bytes that are no datagram.
func garbage(w *world, _ *pair, e *end) {
	for range w.Spread(1, 64) {
		b := make([]byte, w.Spread(1, 1500)-1)
		for i := range b {
			b[i] = byte(w.Uint32())
		}
		e.expect(w.Now(), &datagram{data: b, epoch: e.epoch})
	}
}

// unknownPeers: valid packets with another protocol id.
func unknownPeers(w *world, p *pair, e *end) {
	framer := codec.NewFramer(w.Uint32() | 1<<31)
	for range w.Spread(1, 64) {
		id := p.firstID + uint16(w.IntN(4))
		n := w.Between(1, 256)
		b, err := framer.AppendAck(nil, codec.Ack{ChunkID: id, NumSlices: n, Acked: core.FirstN(n)})
		if w.OneIn(2) {
			b, err = framer.AppendSlice(nil, codec.Slice{ChunkID: id, NumSlices: 256, SliceID: w.IntN(255), Data: make([]byte, 1024)})
		}
		if err != nil {
			panic(err)
		}
		e.expect(w.Now(), &datagram{data: b})
	}
}

// replay: old datagrams come again, also those of earlier connections.
func replay(w *world, p *pair, _ *end) {
	for range w.Spread(1, 64) {
		if s, ok := p.archive.draw(w.Draw); ok {
			s.to.expect(w.Now()+w.Time(0, second/5), s.datagram)
		}
	}
}
