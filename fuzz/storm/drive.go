package main

import (
	"github.com/chunkwire/chunkwire/machine"
)

// How an end drives its machines: when it polls them, and where their packets go.

// wake plans to poll the machines.
func (e *end) wake(at machine.Micros) {
	if e.tick > 0 && at < latestEvent {
		at = (at + e.tick - 1) / e.tick * e.tick
	}
	if at >= e.wakeAt {
		return
	}
	e.wakeAt = at
	e.world.at(at, polling, func() {
		if e.wakeAt == at {
			e.wakeAt = never
			e.poll()
		}
	})
}

// poll polls the machines until they return nothing more.
func (e *end) poll() {
	if e.host.stopped {
		return // it is polled when it resumes
	}
	now := e.world.now + e.world.conditions.origin
	n := 0
	for a, ok := e.receiver.Poll(now); ok && n < maxPolls; a, ok = e.receiver.Poll(now) {
		d, err := e.framer.AppendAck(nil, a)
		e.send(d, err, 0)
		n++
	}
	for ; n < maxPolls; n++ {
		deadline := e.since0(e.sender.Deadline())
		s, ok := e.sender.Poll(now)
		if !ok {
			break
		}
		d, err := e.framer.AppendSlice(nil, s)
		e.send(d, err, deadline)
	}
	if n >= maxPolls {
		e.violates("BND-3", "sends without end at one time")
		return
	}
	if e.checkFailed() {
		return
	}
	e.report(e.receiving.Polled(e.world.now, e.since0(e.receiver.Deadline())))
	e.report(e.sending.Polled(e.world.now, e.since0(e.sender.Deadline())))
	e.wake(e.since0(min(e.sender.Deadline(), e.receiver.Deadline())))
}

// checkFailed leaves a connection of which a machine has given up.
func (e *end) checkFailed() bool {
	w := e.world
	senderFailed, receiverFailed := e.sender.Err() != nil, e.receiver.Err() != nil
	if !senderFailed && !receiverFailed {
		return false
	}
	w.counts.gaveUp++
	if senderFailed {
		e.report(e.sending.GaveUp(w.now))
		e.checkStalled()
	}
	if receiverFailed {
		e.report(e.receiving.GaveUp(w.now))
	}
	if w.calmFor(w.now-e.beganAt) && w.calmFor(w.now-e.peer.beganAt) && e.peer.epoch == e.epoch && e.out.Lawful() {
		e.violates("LIVE-2", "gave up on a connection that saw no fault")
	}
	if w.failure == nil {
		e.abandon("gives up")
	}
	return true
}

// checkStalled reports a sender that gave up though nothing was in its way.
func (e *end) checkStalled() {
	w, peer := e.world, e.peer
	there := peer.epoch == e.epoch && w.now-peer.beganAt >= e.giveUp
	if there && w.calmFor(e.giveUp) && e.giveUp >= 10*second && e.out.Lawful() {
		e.violates("LIVE-2", "chunk %d stalled: nothing was lost since %s", e.sending.ID(), clock(w.calmAt))
	}
}

// send hands a datagram to the network, past the judges. The deadline is a
// sender's, before it returned the slice.
func (e *end) send(datagram []byte, err error, deadline machine.Micros) {
	w := e.world
	if err != nil {
		e.violates("ENC", "a machine's packet cannot be encoded: %v", err)
		return
	}
	p, err := readDatagram(protocolID(e.epoch), datagram)
	if err != nil {
		e.violates("FRM-1", "a datagram of %d bytes has not the form of one", len(datagram))
		return
	}
	if isSlice(p) {
		if e.sending.WasSent(p.Slice.SliceID) {
			w.counts.resent++
		}
		e.report(e.sending.Sent(w.now, p.Slice, len(datagram), deadline))
	} else {
		w.counts.acks++
		e.report(e.receiving.Sent(w.now, p.Ack))
	}
	if w.log.verbose() {
		e.note("-> %s", describe(p))
	}
	e.transmit(delivery{datagram, e.epoch, true})
}
