// Package chunksim runs random worlds of chunks: two ends, each with a sender and a receiver of either kind of
// slices, what drives them, and an application. Judges of package conform/sim/chunk see packets, calls and times
// only, and are given packets as the machines made them. They are called here, not by that package's JudgedSender
// and JudgedReceiver, because those are for drivers that are never late.
package chunksim

import (
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

// What is counted in worlds of chunks, besides what is in all.
const (
	Connections = soak.Own + iota
	GaveUp
	Submitted
	BadSubmits
	Reported
	Read
	Mixed
	Extra
	Acks
	Arrived
	Corrupted
	Backward
	NewPaths // troubles, in the order of the table
	Outages
	Stops
	Restarts
	Unlawful
	Garbage
	Strangers
	Replays
)

// Worlds are random worlds of chunks. A world fails with what is violated (section 11 of spec/PROTOCOL.md), or if
// not all is delivered some time after the troubles.
var Worlds = soak.Kind{Name: "chunks", Run: runWorld, Rows: []soak.Row{
	{Name: "worlds", Format: "%d with %d connections, %v of virtual time; %d ends gave up", Counts: []soak.Count{soak.Worlds, Connections, soak.Time, GaveUp}},
	{Name: "chunks", Format: "%d submitted, %d reported as delivered, %d read; %d refused as they should be", Counts: []soak.Count{Submitted, Reported, Read, BadSubmits}},
	{Name: "mixed", Format: "%d read that nobody had submitted: the price of a restart with the same id", Counts: []soak.Count{Mixed}},
	{Name: "datagrams", Format: "%d sent: %d slices resent or repair slices, %d acks; %d lost, %d corrupted, %d refused, %d taken", Counts: []soak.Count{soak.Datagrams, Extra, Acks, soak.Lost, Corrupted, soak.Refused, Arrived}},
	{Name: "of chunks", Format: "%d new paths, %d outages, %d stops, %d restarts, %d against the rule, %d times garbage, %d strangers, %d replays; %d clocks went back",
		Counts: []soak.Count{NewPaths, Outages, Stops, Restarts, Unlawful, Garbage, Strangers, Replays, Backward}},
}}

const (
	settling       = 10 * core.Second  // what troubles leave in queues and clocks
	longestSilence = 60 * core.Second  // until an end learns that the other has left, at most
	longestWait    = 400 * core.Second // without troubles, beyond what the rates ask for
	checkEvery     = core.Second / 2
	latestOrigin   = 1<<62 - 1<<40 // some days until times are too large
)

// world is a world under way.
type world struct {
	soak.World
	kind       codec.Kind
	firstID    uint16
	ends       [2]*end
	streams    map[[2]int]*chunk.Stream // by epoch, and the end that sends
	origin     core.Micros              // the machines' times are so much later (2.2)
	badFor     core.Micros
	corruptPPM int
	clockPPM   int // how often an event is handled with a time that has gone back
	seen       sim.Seen[sent]
	inbox      []byte // the buffer that datagrams are read into
	checks     int
}

// datagram is one under way. Nothing changes it.
type datagram struct {
	data    []byte
	packet  codec.Packet // as the machine made it, if it is genuine
	epoch   int          // of the connection that it belongs to
	genuine bool         // a machine made it, and nothing has changed it
}

// sent is a datagram, and where it went.
type sent struct {
	*datagram
	to *end
}

func runWorld(seed uint64, log *soak.Log) (soak.Counts, error) {
	w, err := newWorld(seed, log)
	if err != nil {
		return w.Counts, err
	}
	w.run()
	return w.Result()
}

func newWorld(seed uint64, log *soak.Log) (*world, error) {
	w := &world{World: soak.New(seed, 1, log), streams: map[[2]int]*chunk.Stream{}}
	w.kind = codec.KindOf(w.OneIn(2))
	w.firstID = sim.Among(w.Draw, 0, uint16(-w.Between(1, 10)), uint16(w.Uint32())) // many wrap
	w.badFor = w.SpreadTime(2*core.Second, 120*core.Second)
	if w.OneIn(2) {
		w.corruptPPM = int(w.Spread(100, 200_000))
	}
	if w.OneIn(3) {
		w.clockPPM = int(w.Spread(10_000, 500_000))
	}
	if w.OneIn(3) {
		w.origin = w.SpreadTime(1, latestOrigin)
	}
	giveUp := w.drawGiveUp()
	for i := range w.ends {
		w.ends[i] = w.newEnd(i, giveUp)
		if err := w.DrawPath(seed, i, w.badFor); err != nil {
			return w, err
		}
	}
	w.ends[0].peer, w.ends[1].peer = w.ends[1], w.ends[0]
	w.drawPlans()
	w.Timeline = sim.NewWorld(w.carry, sim.End[*datagram](w.ends[0]), w.ends[1])
	for _, e := range w.ends {
		e.connect(1)
	}
	w.plan()
	w.At(checkEvery, w.check)
	return w, nil
}

// drawPlans draws how many chunks go each way.
func (w *world) drawPlans() {
	way := w.IntN(4) // down, down, up, both
	if way != 2 {
		w.ends[0].chunks = int(w.Spread(1, 40))
	}
	if way >= 2 {
		w.ends[1].chunks = int(w.Spread(1, 40))
	}
}

// plan draws the troubles.
func (w *world) plan() {
	var table []soak.Trouble
	for i, do := range []func(e *end){
		func(e *end) { w.NewPath(e.index) }, outage, stop, func(e *end) { e.abandon("restarts") },
		func(e *end) { e.connect(e.epoch) }, // and the other end does not know, against CON-5
		garbage, stranger, replay,
	} {
		table = append(table, soak.Trouble{Times: []int{0, 0, 1, 3, 20}, Draw: func() func() {
			e := w.ends[w.IntN(2)]
			return func() { w.Counts[NewPaths+soak.Count(i)]++; do(e) }
		}})
	}
	w.Plan(w.badFor, table...)
}

// outage: nothing passes one way or both ways, for up to minutes.
func outage(e *end) {
	long := e.w.SpreadTime(10*core.Millisecond, 180*core.Second)
	e.w.Outage(e.index, long)
	if e.w.OneIn(2) {
		e.w.Outage(e.peer.index, long)
	}
}

// stop: a process is stopped, and resumes later.
func stop(e *end) {
	if !e.stopped {
		long := e.w.SpreadTime(core.Millisecond, 30*core.Second)
		e.note("stops for %s", soak.Clock(long))
		e.stopped = true
		e.w.At(e.w.Now()+long, e.resume)
	}
}

// garbage: bytes that are no datagram.
func garbage(e *end) {
	for range e.w.Spread(1, 64) {
		b := make([]byte, e.w.Spread(1, 1500)-1)
		for i := range b {
			b[i] = byte(e.w.Uint32())
		}
		e.Handle(e.w.Now(), &datagram{data: b, epoch: e.epoch})
	}
}

// stranger: valid packets with another protocol id.
func stranger(e *end) {
	w := e.w
	framer, last := w.kind.Framer(w.Uint32()|1<<31), 0
	if w.kind == codec.Repair {
		last = 1024
	}
	for range w.Spread(1, 64) {
		p := codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: w.firstID + uint16(w.IntN(4)), NumSlices: w.Between(1, 256)}}
		if w.OneIn(2) {
			p = codec.Packet{Slice: codec.Slice{ChunkID: p.Ack.ChunkID, NumSlices: 256, SliceID: w.IntN(255), LastBytes: last, Data: make([]byte, 1024)}}
		}
		b, err := framer.Append(nil, p)
		w.Check(err)
		e.Handle(w.Now(), &datagram{data: b})
	}
}

// replay: old datagrams come again, also of earlier connections.
func replay(e *end) {
	w := e.w
	if len(w.seen) == 0 {
		return
	}
	for range w.Spread(1, 64) {
		s := sim.Among(w.Draw, w.seen...)
		at := w.Now() + w.Time(0, core.Second/5)
		w.At(at, func() { s.to.Handle(at, s.datagram) })
	}
}

// carry is the network.
func (w *world) carry(now time.Duration, from int, d *datagram, deliver func(time.Duration, int, *datagram)) {
	w.seen.See(w.Draw, sent{d, w.ends[1-from]})
	w.Send(now, from, len(d.data), func(at time.Duration) { deliver(at, 1-from, w.corrupt(d)) })
}

// corrupt may change a datagram.
func (w *world) corrupt(d *datagram) *datagram {
	if w.Good() || !w.Chance(w.corruptPPM) {
		return d
	}
	b, changed := w.Changed(d.data)
	if !changed {
		return d
	}
	w.Counts[Corrupted]++
	return &datagram{data: b, epoch: d.epoch}
}

// run lets all happen.
func (w *world) run() {
	settles := longestWait
	for _, e := range w.ends {
		settles += core.Micros(e.chunks+1) * (5*core.Second + 280_000*core.Second/core.Micros(max(e.pace.rate, slowest)))
	}
	w.Live(soak.Course{Troubles: w.badFor, Settles: settles, Good: w.becomeGood, Left: w.left})
}

// left returns what applications have not done.
func (w *world) left() error {
	for _, e := range w.ends {
		if e.chunks > 0 || e.receiving.Full() {
			return fmt.Errorf("LIVE-2: end %d has %d chunks to send, and one to read: %v", e.index, e.chunks, e.receiving.Full())
		}
	}
	return nil
}

// becomeGood ends all that is bad.
func (w *world) becomeGood() {
	w.MendPaths()
	for _, e := range w.ends {
		e.resume()
		e.readDelay = 0
	}
	for _, e := range w.ends {
		if e.giveUp == endless && !(e.out.Lawful() && e.in.Lawful()) { // one of them would wait without end
			e.epoch = max(e.epoch, e.peer.epoch) // to one that neither has seen
			e.abandon("leaves a peer that breaks the rules")
			return
		}
	}
}

// calmFor reports whether there were no troubles for a while.
func (w *world) calmFor(d core.Micros) bool { return w.Good() && w.Now()-d >= w.GoodAt+settling }

// check looks for what should have happened by now.
func (w *world) check() {
	w.checks++
	for _, e := range w.ends {
		if e.stopped {
			continue
		}
		since := max(e.resumedAt, e.beganAt, e.wentBackAt)
		e.report(e.sending.Waited(w.Now(), since))
		e.report(e.receiving.Waited(w.Now(), since))
		if w.checks%8 == 0 { // it takes long
			e.report(e.receiving.Keeps(sim.Footprint(e.receiver)))
		}
	}
	w.At(w.Now()+checkEvery, w.check)
}
