package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
	"github.com/chunkwire/chunkwire/netsim"
)

// end is one end of a pair: the machines under test, what drives them, and the
// judges who watch.
type end struct {
	world  *world
	pair   *pair
	host   *host
	peer   *end
	number int // of the World's ends; the peer's differs in bit 0
	index  int // 0: of the server, 1: of the peer
	name   string

	pace   pace
	giveUp core.Micros
	tick   core.Micros // the driver looks at its clock only so often; 0: exactly
	path   netsim.Path
	link   *netsim.Link // to the peer

	// The connection. Another replaces all of it.
	epoch   int
	beganAt core.Micros
	out, in *chunk.Stream
	*machines
	wentBackAt core.Micros // when a machine was last given a time that had gone back
	wakeAt     core.Micros // when they are polled next; never if nothing is planned
	polled     int         // packets since they last had no more

	application
}

// connect begins a connection, with new machines at this end. If there is one of
// that epoch at this end already it breaks CON-5.
func (e *end) connect(epoch int) {
	w := e.world
	w.Counts[Connections]++
	if e.epoch > 0 {
		w.Counts[Reconnected]++
	}
	e.epoch, e.beganAt, e.wentBackAt = epoch, w.Now(), 0
	e.out, e.in = e.pair.stream(epoch, e.index), e.pair.stream(epoch, 1-e.index)
	slack := e.tick + millisecond
	e.machines = newMachines(codec.KindOf(e.pair.repaired), e, slack)
	e.begin()
	e.mark('F', uint64(epoch))
	if w.Log.Verbose() {
		e.note("begins connection %d", epoch)
	}
}

// moveTo begins the connection of an epoch, unless this end is as far already.
func (e *end) moveTo(epoch int) {
	if e.epoch < epoch {
		e.connect(epoch)
	}
}

// abandon leaves a connection for a new one, and lets the peer know by other
// means, in a while, which may be longer than the peer's GIVE_UP.
func (e *end) abandon(why string) {
	w := e.world
	if w.Log.Verbose() {
		e.note("%s; leaves connection %d", why, e.epoch)
	}
	e.connect(e.epoch + 1)
	epoch, delay := e.epoch, core.Micros(0)
	if !w.Good() {
		delay = w.Time(0, min(2*e.giveUp, longestSilence))
	}
	w.At(w.Now()+delay, func() { e.peer.moveTo(epoch) })
}

// take gives the machines a datagram that has arrived. Only one that left the
// peer's machines of the same epoch, and was not changed, may be accepted, and as
// the packet that the peer's machine made.
func (e *end) take(d *datagram) {
	w := e.world
	w.inbox = append(w.inbox[:0], d.data...) // which the next datagram overwrites
	p, err := e.framer.Decode(w.inbox)
	genuine := d.genuine && d.epoch == e.epoch
	if (err == nil) != genuine {
		e.violates("LAW-2", "decoding returns %v for a datagram of %d bytes that is genuine: %v", err, len(d.data), genuine)
		return
	}
	if err != nil {
		w.Counts[soak.Refused]++
		return
	}
	if !agree.Same(p, d.packet) {
		e.violates("LAW-2", "decodes %s as %s", describe(d.packet), describe(p))
		return
	}
	w.Counts[Arrived]++
	if w.Log.Verbose() {
		e.note("<- %s", describe(p))
	}
	e.give(p, d.packet)
	e.wake(w.Now())
}

// give gives a machine a packet, and its judge what the peer's machine made.
func (e *end) give(p, made codec.Packet) {
	now, was := e.clock(), e.sender.Sending()
	e.report(e.arrive(now, e.since0(now), p, made))
	if isSlice(p) {
		e.noticeChunk()
	} else if was && !e.sender.Sending() && e.sender.Err() == nil {
		e.delivered()
	}
}

// clock returns the time that a machine is given with an event: sometimes one that
// has gone back, which counts as the latest one (TIM-1).
func (e *end) clock() core.Micros {
	w := e.world
	now := w.Now()
	if w.conditions.clockPPM > 0 && !w.Good() && w.Chance(w.conditions.clockPPM) {
		w.Counts[Backward]++
		e.wentBackAt = w.Now()
		now = max(0, now-w.SpreadTime(1, 10*second))
	}
	return now + w.conditions.origin
}

// since0 returns a machine's time as the world counts it.
func (e *end) since0(at core.Micros) core.Micros {
	if at == never {
		return never
	}
	return at - e.world.conditions.origin
}

// check looks for what should have happened by now, and sometimes at how much
// memory is kept.
func (e *end) check(memory bool) {
	if e.host.stopped {
		return
	}
	since := max(e.host.resumedAt, e.beganAt, e.wentBackAt)
	e.report(e.sending.Waited(e.world.Now(), since))
	e.report(e.receiving.Waited(e.world.Now(), since))
	if memory {
		e.report(e.keeps())
	}
}

func (e *end) report(v *chunk.Violation) { e.world.report(e.pair, e.name, v) }

func (e *end) violates(rule, format string, args ...any) {
	e.report(&chunk.Violation{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

func (e *end) note(format string, args ...any) {
	w := e.world
	w.Log.Add(w.Now(), e.pair, "%-16s "+format, append([]any{e.name}, args...)...)
}

func (e *end) mark(what rune, numbers ...uint64) {
	e.world.Log.Mark(uint64(e.world.Now()), uint64(what), uint64(e.index))
	e.world.Log.Mark(numbers...)
}
