package main

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// end is one end of a pair: the machines under test, what drives them, and the
// judges who watch.
type end struct {
	world *world
	pair  *pair
	host  *host
	peer  *end
	index int
	name  string

	pace   pace
	giveUp micros
	tick   micros // the driver looks at its clock only so often; 0: exactly
	path   netsim.Path
	link   *netsim.Link // to the peer

	// The connection. Another replaces all of it.
	epoch      int
	foundedAt  micros
	framer     codec.Framer
	sender     *statemachine.Sender
	receiver   *statemachine.Receiver
	sending    senderJudge
	receiving  *receiverJudge
	senderAt   micros // the latest time that the sender was given
	receiverAt micros // and the receiver
	wentBackAt micros // when either was last given one that had gone back
	wakeAt     micros // when they are asked next; never if nothing is planned

	application
}

// found begins a connection, with new machines at this end. If there is one of
// that epoch at this end already it breaks CON-5.
func (e *end) found(epoch int) {
	w := e.world
	w.tally.connections++
	if e.epoch > 0 {
		w.tally.refounded++
	}
	e.epoch, e.foundedAt = epoch, w.now
	e.framer = codec.NewFramer(protocolID(epoch))
	e.sender = statemachine.NewSender(statemachine.SenderConfig{
		FirstChunkID: e.pair.firstID, GiveUp: statemachine.Micros(e.giveUp), Scheduler: e.pace.scheduler(),
	})
	e.receiver = statemachine.NewReceiver(statemachine.ReceiverConfig{
		FirstChunkID: e.pair.firstID, GiveUp: statemachine.Micros(e.giveUp),
	})
	out, in := e.pair.course(epoch, e.index), e.pair.course(epoch, 1-e.index)
	out.senders++
	in.receivers++
	slack := e.tick + millisecond
	e.sending = senderJudge{course: out, pace: e.pace, giveUp: e.giveUp, slack: slack}
	e.receiving = newReceiverJudge(in, e.giveUp, slack)
	e.senderAt, e.receiverAt, e.wentBackAt = 0, 0, 0
	e.begin()
	e.mark('F', uint64(epoch))
	if w.story.told() {
		e.tell("begins connection %d", epoch)
	}
}

// moveTo founds the connection of an epoch, unless this end is as far already.
func (e *end) moveTo(epoch int) {
	if e.epoch < epoch {
		e.found(epoch)
	}
}

// abandon leaves a connection for a new one, and lets the peer know by other
// means, in a while, which may be longer than that has patience.
func (e *end) abandon(why string) {
	w := e.world
	if w.story.told() {
		e.tell("%s; leaves connection %d", why, e.epoch)
	}
	e.found(e.epoch + 1)
	epoch, delay := e.epoch, micros(0)
	if w.fairAt == never {
		delay = w.dice.between(0, min(2*e.giveUp, longestSilence))
	}
	w.agenda.add(w.now+delay, acting, func() { e.peer.moveTo(epoch) })
}

// handle gives the machines a datagram that has arrived. Only one that left the
// peer's machines of the same epoch, and was not changed, may be accepted.
func (e *end) handle(d delivery) {
	w := e.world
	w.inbox = append(w.inbox[:0], d.data...) // which the next datagram overwrites
	p, err := e.framer.Decode(w.inbox)
	genuine := d.genuine && d.epoch == e.epoch
	if (err == nil) != genuine {
		e.accuse(accuse("LAW-2", "decoding says %v of a datagram of %d bytes that is genuine: %v", err, len(d.data), genuine))
		return
	}
	if err != nil {
		w.tally.refused++
		return
	}
	seen, err := readDatagram(protocolID(e.epoch), d.data)
	if err != nil {
		panic("a genuine datagram cannot be read")
	}
	w.tally.arrived++
	if w.story.told() {
		e.tell("<- %v", seen)
	}
	e.take(p, seen)
	e.wake(w.now)
}

// take gives a machine a packet, and its judge what that is in truth.
func (e *end) take(p codec.Packet, seen packet) {
	if p.Type == codec.TypeSlice {
		now := e.clock(&e.receiverAt)
		e.receiving.hears(e.receiverAt, seen)
		e.receiver.HandleSlice(now, p.Slice)
		e.noticeChunk()
	} else {
		now, was := e.clock(&e.senderAt), e.sender.State()
		e.sending.hears(e.senderAt, seen)
		e.sender.HandleAck(now, p.Ack)
		e.noticeDelivery(was)
	}
}

// clock returns the time that a machine is given with an event: at times one that
// has gone back, which counts as the latest one (TIM-1).
func (e *end) clock(latest *micros) statemachine.Micros {
	w := e.world
	now := w.now
	if w.climate.clockPPM > 0 && w.fairAt == never && w.dice.chance(w.climate.clockPPM) {
		w.tally.backward++
		e.wentBackAt = w.now
		now = max(0, now-w.dice.spread(1, 10*second))
	}
	*latest = max(*latest, now)
	return statemachine.Micros(now + w.climate.origin)
}

// noticeDelivery looks whether the sender reports its chunk.
func (e *end) noticeDelivery(was statemachine.SenderState) {
	delivered := was == statemachine.SenderSending && e.sender.State() == statemachine.SenderIdle
	e.accuse(e.sending.reports(delivered))
	if delivered {
		e.delivered()
	}
}

// examine looks for what should have happened by now, and at times at how much
// is kept.
func (e *end) examine(memory bool) {
	if e.host.stopped {
		return
	}
	since := max(e.host.resumedAt, e.foundedAt, e.wentBackAt)
	e.accuse(e.sending.waits(e.world.now, since))
	e.accuse(e.receiving.waits(e.world.now, since))
	if memory {
		e.accuse(e.receiving.holds(footprint(e.receiver)))
	}
}

func (e *end) accuse(a *accusation) { e.world.accuse(e.pair, e.name, a) }

func (e *end) tell(format string, args ...any) {
	w := e.world
	w.story.tell(w.now, e.pair, "%-16s "+format, append([]any{e.name}, args...)...)
}

func (e *end) mark(what rune, numbers ...uint64) {
	e.world.story.mark(uint64(e.world.now), uint64(what), uint64(e.index))
	e.world.story.mark(numbers...)
}
