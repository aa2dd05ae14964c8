package main

import "github.com/chunkwire/chunkwire/statemachine"

// How an end drives its machines: when it asks them, and what becomes of what they
// say.

// wake plans to ask the machines what to send.
func (e *end) wake(at micros) {
	if e.tick > 0 && at < never-e.tick {
		at = (at + e.tick - 1) / e.tick * e.tick
	}
	if at >= e.wakeAt {
		return
	}
	e.wakeAt = at
	e.world.agenda.add(at, polling, func() {
		if e.wakeAt == at {
			e.wakeAt = never
			e.poll()
		}
	})
}

// poll asks the machines what to send, until they say no more.
func (e *end) poll() {
	if e.host.stopped {
		return // it is polled when it goes on
	}
	now := statemachine.Micros(e.world.now + e.world.climate.origin)
	e.senderAt, e.receiverAt = e.world.now, e.world.now
	n := 0
	for a, ok := e.receiver.Poll(now); ok && n < maxPolls; a, ok = e.receiver.Poll(now) {
		e.send(e.framer.AppendAck(nil, a))
		n++
	}
	for s, ok := e.sender.Poll(now); ok && n < maxPolls; s, ok = e.sender.Poll(now) {
		e.send(e.framer.AppendSlice(nil, s))
		n++
	}
	if n >= maxPolls {
		e.accuse(accuse("BND-3", "sends without end at one time"))
		return
	}
	if e.mourn() {
		return
	}
	e.heed(min(e.sender.Deadline(), e.receiver.Deadline()))
}

// heed plans to ask again at the machines' deadline, which lies ahead (SCH-3).
func (e *end) heed(deadline statemachine.Micros) {
	if deadline == statemachine.Never {
		return
	}
	at := int64(deadline) - e.world.climate.origin
	if at <= e.world.now {
		e.accuse(accuse("SCH-3", "has nothing to send at %s, but its deadline is %s", clock(e.world.now), clock(at)))
		return
	}
	e.wake(at)
}

// mourn leaves a connection of which a machine has given up.
func (e *end) mourn() bool {
	w := e.world
	senderFailed, receiverFailed := e.sender.Err() != nil, e.receiver.Err() != nil
	if !senderFailed && !receiverFailed {
		return false
	}
	w.tally.giveUp++
	if senderFailed {
		e.accuse(e.sending.fails(w.now))
		e.accuse(e.stalled())
	}
	if receiverFailed {
		e.accuse(e.receiving.fails(w.now))
	}
	if w.isFair(w.now-e.foundedAt) && w.isFair(w.now-e.peer.foundedAt) && e.peer.epoch == e.epoch && e.sending.course.lawful() {
		e.accuse(accuse("LIVE-2", "gave up on a connection that saw nothing but fair weather"))
	}
	if w.find == nil {
		e.abandon("gives up")
	}
	return true
}

// stalled accuses a sender that gave up though nothing was in its way.
func (e *end) stalled() *accusation {
	w, peer := e.world, e.peer
	there := peer.epoch == e.epoch && w.now-peer.foundedAt >= e.giveUp
	if there && w.isFair(e.giveUp) && e.giveUp >= 2*patience && e.sending.course.lawful() {
		return accuse("LIVE-2", "chunk %d stalled: nothing was lost since %s", e.sending.id(), clock(w.fairAt))
	}
	return nil
}

// send hands a datagram to the network, past the judges.
func (e *end) send(datagram []byte, err error) {
	w := e.world
	if err != nil {
		e.accuse(accuse("ENC", "a machine's packet cannot be encoded: %v", err))
		return
	}
	p, err := readDatagram(protocolID(e.epoch), datagram)
	if err != nil {
		e.accuse(accuse("FRM-1", "a datagram of %d bytes has not the form of one", len(datagram)))
		return
	}
	if p.data != nil {
		if e.sending.chunk != nil && e.sending.sent[p.slice] {
			w.tally.resent++
		}
		e.accuse(e.sending.sends(w.now, p, len(datagram)))
	} else {
		w.tally.acks++
		e.accuse(e.receiving.sends(p))
	}
	if w.story.told() {
		e.tell("-> %v", p)
	}
	e.transmit(delivery{datagram, e.epoch, true})
}
