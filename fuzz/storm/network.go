package main

import (
	"bytes"
	"encoding/binary"
	"time"
)

// delivery is a datagram under way.
type delivery struct {
	data    []byte
	epoch   int  // of the connection that it belongs to
	genuine bool // a machine made it, and nothing has changed it
}

// transmit sends a datagram to the peer, through the path as it is.
func (e *end) transmit(d delivery) {
	w := e.world
	w.tally.datagrams++
	e.mark('>', uint64(binary.LittleEndian.Uint32(d.data)), uint64(len(d.data)))
	e.pair.archive.keep(w.dice, letter{d, e.peer})
	at := time.Duration(w.now) * time.Microsecond
	if w.uplink != nil && e.index == 0 {
		arrivals := w.uplink.Send(at, len(d.data))
		if arrivals.Len() == 0 {
			w.tally.overflown++
			return
		}
		at = arrivals.At(0)
	}
	before := e.link.Stats()
	arrivals := e.link.Send(at, len(d.data))
	after := e.link.Stats()
	w.tally.lost += after.LostRandom - before.LostRandom
	w.tally.overflown += after.LostQueue - before.LostQueue
	w.tally.duplicated += after.Duplicated - before.Duplicated
	w.tally.reordered += after.Reordered - before.Reordered
	for i := range arrivals.Len() {
		e.peer.expect(arrivals.At(i).Microseconds(), w.spoil(d))
	}
}

// expect plans the arrival of a datagram at this end.
func (e *end) expect(at micros, d delivery) {
	e.world.agenda.add(at, arriving, func() { e.arrive(d) })
}

// arrive: a datagram has reached the host.
func (e *end) arrive(d delivery) {
	h := e.host
	if !h.stopped {
		e.mark('<', uint64(len(d.data)))
		e.handle(d)
		return
	}
	if h.buffered > 0 && h.buffered+len(d.data) > h.room {
		e.world.tally.overflown++
		return
	}
	h.buffered += len(d.data)
	h.buffer = append(h.buffer, d)
	h.to = append(h.to, e)
}

// spoil may change a datagram: a few bits, a burst of 32 bits at the most, or
// its length. Its sum finds all of the first two (section 5), and the rest but
// for one in 2^32.
func (w *world) spoil(d delivery) delivery {
	if w.climate.corruptPPM == 0 || w.fairAt != never || !w.dice.chance(w.climate.corruptPPM) {
		return d
	}
	b := bytes.Clone(d.data)
	switch w.dice.IntN(4) {
	case 0: // up to three bits
		for range w.dice.between(1, 3) {
			w.flip(b)
		}
	case 1: // a burst
		at := w.dice.IntN(len(b) - 3)
		binary.LittleEndian.PutUint32(b[at:], binary.LittleEndian.Uint32(b[at:])^max(1, w.dice.Uint32()))
	case 2: // the end is missing
		b = b[:w.dice.IntN(len(b))]
	case 3: // something follows
		b = append(b, make([]byte, w.dice.between(1, 40))...)
	}
	if bytes.Equal(b, d.data) { // two flips of the same bit
		return d
	}
	w.tally.corrupted++
	return delivery{b, d.epoch, false}
}

func (w *world) flip(b []byte) {
	bit := w.dice.IntN(8 * len(b))
	b[bit/8] ^= 1 << (bit % 8)
}

// letter is a datagram and where it went.
type letter struct {
	delivery
	to *end
}

// archive holds some of the datagrams of a pair, of any age, for replays.
type archive struct {
	old    [64]letter // of all so far, each with the same chance
	recent [64]letter
	count  int64
}

func (a *archive) keep(d dice, l letter) {
	a.recent[a.count%int64(len(a.recent))] = l
	if at := d.Int64N(a.count + 1); at < int64(len(a.old)) {
		a.old[at] = l
	}
	a.count++
}

// draw returns one of the letters, if there is any.
func (a *archive) draw(d dice) (letter, bool) {
	if a.count == 0 {
		return letter{}, false
	}
	from := &a.old
	if d.oneIn(2) {
		from = &a.recent
	}
	l := from[d.Int64N(min(a.count, int64(len(from))))]
	return l, l.to != nil
}
