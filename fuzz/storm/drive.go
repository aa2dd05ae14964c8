package main

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

// How an end drives its machines: when it polls them, and what it sends.

// wake plans to poll the machines.
func (e *end) wake(at core.Micros) {
	if e.tick > 0 && at < never-e.tick {
		at = (at + e.tick - 1) / e.tick * e.tick
	}
	e.wakeAt = min(e.wakeAt, at)
}

// Deadline returns when the machines are polled next. Those of a host that is
// stopped are when it resumes.
func (e *end) Deadline() core.Micros {
	if e.host.stopped {
		return never
	}
	return e.wakeAt
}

// Poll returns the machines' next datagram, past the judges.
func (e *end) Poll(now core.Micros) (*datagram, bool) {
	if e.Deadline() > now || e.world.Failed() {
		return nil, false
	}
	if e.polled++; e.polled > maxPolls {
		e.violates("BND-3", "sends without end at one time")
		return nil, false
	}
	given := now + e.world.conditions.origin
	if p, ok := e.receiver.Poll(given); ok {
		e.world.Counts[Acks]++
		return e.send(p, 0)
	}
	deadline := e.since0(e.sender.Deadline())
	if p, ok := e.sender.Poll(given); ok {
		if e.sending.IsExtra(p.Slice) {
			e.world.Counts[Extra]++
		}
		return e.send(owned(p), deadline)
	}
	e.polled, e.wakeAt = 0, never
	e.rest(now)
	return nil, false
}

// rest: the machines have nothing more to send.
func (e *end) rest(now core.Micros) {
	if e.checkFailed() {
		return
	}
	e.report(e.receiving.Polled(now, e.since0(e.receiver.Deadline())))
	e.report(e.sending.Polled(now, e.since0(e.sender.Deadline())))
	e.wake(e.since0(min(e.sender.Deadline(), e.receiver.Deadline())))
}

// checkFailed leaves a connection of which a machine has given up.
func (e *end) checkFailed() bool {
	w := e.world
	senderFailed, receiverFailed := e.sender.Err() != nil, e.receiver.Err() != nil
	if !senderFailed && !receiverFailed {
		return false
	}
	w.Counts[GaveUp]++
	if senderFailed {
		e.report(e.sending.GaveUp(w.Now()))
		e.checkStalled()
	}
	if receiverFailed {
		e.report(e.receiving.GaveUp(w.Now()))
	}
	if w.calmFor(w.Now()-e.beganAt) && w.calmFor(w.Now()-e.peer.beganAt) && e.peer.epoch == e.epoch && e.out.Lawful() {
		e.violates("LIVE-2", "gave up on a connection that saw no fault")
	}
	if !w.Failed() {
		e.abandon("gives up")
	}
	return true
}

// checkStalled reports a sender that gave up though nothing was in its way.
func (e *end) checkStalled() {
	w, peer := e.world, e.peer
	there := peer.epoch == e.epoch && w.Now()-peer.beganAt >= e.giveUp
	if there && w.calmFor(e.giveUp) && e.giveUp >= 10*second && e.out.Lawful() {
		e.violates("LIVE-2", "chunk %d stalled: nothing was lost since %s", e.sending.ID(), soak.Clock(w.GoodAt))
	}
}

// send returns the datagram of a packet that a machine has made, past its judge.
func (e *end) send(p codec.Packet, deadline core.Micros) (*datagram, bool) {
	data, err := e.framer.Append(nil, p)
	if err != nil {
		e.violates("ENC", "a machine's packet cannot be encoded: %v", err)
		return nil, false
	}
	if e.world.isRead(len(data)) {
		e.report(e.misformed(data, p))
	}
	if e.world.Log.Verbose() {
		e.note("-> %s", describe(p))
	}
	e.report(e.sent(e.world.Now(), p, len(data), deadline))
	return &datagram{data: data, packet: p, epoch: e.epoch, genuine: true}, true
}
