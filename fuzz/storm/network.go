package main

import (
	"bytes"
	"encoding/binary"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/soak"
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// datagram is one under way. Nothing changes it.
type datagram struct {
	data    []byte
	packet  codec.Packet // as the machine made it, if it is genuine
	epoch   int          // of the connection that it belongs to
	genuine bool         // a machine made it, and nothing has changed it
}

// carry is the World's sim.Carrier: it sends a datagram to the peer, through the path
// as it is.
func (w *world) carry(at time.Duration, from int, d *datagram, deliver func(time.Duration, int, *datagram)) {
	e := w.ends[from]
	w.Counts[soak.Datagrams]++
	e.mark('>', uint64(binary.LittleEndian.Uint32(d.data)), uint64(len(d.data)))
	e.pair.archive.keep(w.Draw, saved{d, e.peer})
	if w.uplink != nil && e.index == 0 {
		arrivals := w.uplink.Send(at, len(d.data))
		if arrivals.Len() == 0 {
			w.Counts[Overflown]++
			return
		}
		at = arrivals.At(0)
	}
	before := e.link.Stats()
	arrivals := e.link.Send(at, len(d.data))
	after := e.link.Stats()
	w.Counts[soak.Lost] += after.LostRandom - before.LostRandom
	w.Counts[Overflown] += after.LostQueue - before.LostQueue
	w.Counts[Duplicated] += after.Duplicated - before.Duplicated
	w.Counts[Reordered] += after.Reordered - before.Reordered
	for i := range arrivals.Len() {
		deliver(arrivals.At(i), e.peer.number, w.corrupt(d))
	}
}

// expect plans the arrival of a datagram that this end's peer did not just send.
func (e *end) expect(at core.Micros, d *datagram) {
	e.world.At(at, func() { e.Handle(at, d) })
}

// Handle: a datagram has reached the host.
func (e *end) Handle(_ core.Micros, d *datagram) {
	h := e.host
	if !h.stopped {
		e.mark('<', uint64(len(d.data)))
		e.take(d)
		return
	}
	if h.buffered > 0 && h.buffered+len(d.data) > h.room {
		e.world.Counts[Overflown]++
		return
	}
	h.buffered += len(d.data)
	h.buffer = append(h.buffer, d)
	h.to = append(h.to, e)
}

// corrupt may change a datagram: a few bits, a burst of 32 bits at the most, or
// its length. Its sum finds all of the first two (section 5), and the rest but
// for one in 2^32.
func (w *world) corrupt(d *datagram) *datagram {
	if w.conditions.corruptPPM == 0 || w.Good() || !w.Chance(w.conditions.corruptPPM) {
		return d
	}
	b := bytes.Clone(d.data)
	switch w.IntN(4) {
	case 0: // up to three bits
		for range w.Between(1, 3) {
			w.flip(b)
		}
	case 1: // a burst
		at := w.IntN(len(b) - 3)
		binary.LittleEndian.PutUint32(b[at:], binary.LittleEndian.Uint32(b[at:])^max(1, w.Uint32()))
	case 2: // the end is missing
		b = b[:w.IntN(len(b))]
	case 3: // something follows
		b = append(b, make([]byte, w.Between(1, 40))...)
	}
	if bytes.Equal(b, d.data) { // two flips of the same bit
		return d
	}
	w.Counts[Corrupted]++
	return &datagram{data: b, epoch: d.epoch}
}

func (w *world) flip(b []byte) {
	bit := w.IntN(8 * len(b))
	b[bit/8] ^= 1 << (bit % 8)
}

// saved is a datagram and where it went.
type saved struct {
	*datagram
	to *end
}

// archive holds some of the datagrams of a pair, of any age, for replays.
type archive struct {
	old    [64]saved // of all so far, each with the same chance
	recent [64]saved
	count  int64
}

func (a *archive) keep(d sim.Draw, s saved) {
	a.recent[a.count%int64(len(a.recent))] = s
	if at := d.Int64N(a.count + 1); at < int64(len(a.old)) {
		a.old[at] = s
	}
	a.count++
}

// draw returns one of the datagrams, if there is any.
func (a *archive) draw(d sim.Draw) (saved, bool) {
	if a.count == 0 {
		return saved{}, false
	}
	from := &a.old
	if d.OneIn(2) {
		from = &a.recent
	}
	s := from[d.Int64N(min(a.count, int64(len(from))))]
	return s, s.to != nil
}
