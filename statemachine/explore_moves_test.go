package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// exPacket is a packet in flight, as one number: its chunk's id, and what makes it the slice
// or the ack that it is. The bytes of a slice follow from these, which is checked when it is
// sent.
type exPacket uint32

func (p exPacket) chunkID() uint16 { return uint16(p >> 16) }

// moveKind is one thing that can happen.
type moveKind uint8

const (
	moveSubmit moveKind = iota
	moveSend            // the scheduler has a slice to send: arg is the id of a named one
	moveSliceArrives
	moveAckArrives
	moveSliceLost
	moveAckLost
	moveSliceDoubled
	moveAckDoubled
	moveAck  // the receiver is polled, and an ack is due
	moveWait // 2 ms pass at the receiver
	moveHalf // so much time without a slice that adds that the receiver may replace the form
	moveRead
	moveForge    // arg: which forged slice
	moveForgeAck // arg: which forged ack; of repair slices
	moveSenderGivesUp
	moveReceiverGivesUp
	moveSenderRestarts
	moveReceiverRestarts
	// From here on: what must change nothing.
	pokeSubmitNothing
	pokeSubmitBusy
	pokeSender
	pokeReceiver
	pokeRead
	pokeAck // arg: which foreign ack; of repair slices
)

type exMove struct {
	kind moveKind
	arg  uint8
}

// The order of a benign run, where each thing happens as soon as the ones before it
// have: acks arrive, then acks go out, slices arrive, the reader reads, timers run
// out, the sender sends.
const (
	rankAckArrives = 1 + iota
	rankAck
	rankSliceArrives
	rankRead
	rankTimer
	rankSend
)

// options collects what can happen in a state.
type options struct {
	*exWorld
	list []explore.Option[exMove]
}

// options lists all that can happen in a state.
func (w *exWorld) options(list []explore.Option[exMove]) []explore.Option[exMove] {
	o := options{w, list}
	o.ofSender()
	o.ofReceiver()
	o.ofChannel(w.now.acks, w.acks, moveAckArrives, moveAckLost, moveAckDoubled, rankAckArrives)
	o.ofChannel(w.now.slices, w.slices, moveSliceArrives, moveSliceLost, moveSliceDoubled, rankSliceArrives)
	o.ofFailures()
	o.ofForgers()
	if w.pokes {
		o.ofPokes()
	}
	return o.list
}

func (o *options) can(kind moveKind, arg int, fair bool, rank uint8) {
	o.list = append(o.list, explore.Option[exMove]{Move: exMove{kind, uint8(arg)}, Fair: fair, Benign: rank})
}

func (o *options) poke(kind moveKind, arg int) {
	o.list = append(o.list, explore.Option[exMove]{Move: exMove{kind, uint8(arg)}, Idle: true})
}

func (o *options) ofSender() {
	switch o.now.s.state {
	case SenderIdle:
		if int(o.now.submitted) < len(o.chunks) {
			o.can(moveSubmit, 0, true, rankSend)
		}
	case SenderSending:
		room := o.now.slices.Len() < o.slices // else the slice is lost
		for id := range o.sendable().All() {
			o.can(moveSend, id, room, rankSend)
		}
	}
}

func (o *options) ofReceiver() {
	r := o.now.r
	if r.acks.Due(epoch) {
		o.can(moveAck, 0, o.now.acks.Len() < o.acks, rankAck)
	}
	if waiting(r) {
		rank := uint8(0)
		if r.acks.At != core.Never {
			rank = rankAck
		}
		o.can(moveWait, 0, true, rank)
	}
	if r.state == ReceiverReady {
		o.can(moveRead, 0, true, rankRead)
	}
	if o.forged != nil && r.state == ReceiverReceiving && !halfPassed(r) {
		rank := uint8(0)
		if !o.receivesGenuine() {
			rank = rankTimer
		}
		o.can(moveHalf, 0, true, rank)
	}
}

func (o *options) ofChannel(c *explore.Bag[exPacket], capacity int, arrives, lost, doubled moveKind, rank uint8) {
	for i := range c.Distinct() {
		o.can(arrives, i, true, rank)
		o.can(lost, i, false, 0)
		if o.doubles && c.Len() < capacity {
			o.can(doubled, i, false, 0)
		}
	}
}

// ofFailures: an end gives up in a fair run only when the other has failed.
func (o *options) ofFailures() {
	s, r := o.now.s, o.now.r
	if o.giveUps && s.state == SenderSending {
		o.giveUp(moveSenderGivesUp, r.state == ReceiverFailed)
	}
	if o.giveUps && r.state == ReceiverReceiving {
		o.giveUp(moveReceiverGivesUp, s.state == SenderFailed)
	}
	if o.restarts && o.now.restarted == 0 {
		o.can(moveSenderRestarts, 0, false, 0)
		o.can(moveReceiverRestarts, 0, false, 0)
	}
}

func (o *options) giveUp(kind moveKind, otherFailed bool) {
	rank := uint8(0)
	if otherFailed {
		rank = rankTimer
	}
	o.can(kind, 0, otherFailed || o.restarts, rank)
}

func (o *options) ofForgers() {
	for i := range o.acked {
		if o.now.acked>>i&1 == 0 && o.now.s.state == SenderSending && o.acked[i].Have < o.now.s.numSlices {
			o.can(moveForgeAck, i, false, 0)
		}
	}
	for i, f := range o.forged {
		if o.now.forged>>i&1 == 0 && !o.spoils(f) {
			o.can(moveForge, i, false, 0)
		}
	}
}

func (o *options) ofPokes() {
	o.poke(pokeSubmitNothing, 0)
	if o.now.s.state != SenderIdle {
		o.poke(pokeSubmitBusy, 0)
	}
	o.poke(pokeSender, 0)
	if !o.now.r.acks.Due(epoch) {
		o.poke(pokeReceiver, 0)
	}
	if o.now.r.state != ReceiverReady {
		o.poke(pokeRead, 0)
	}
	for i := range o.foreignAcks() {
		o.poke(pokeAck, i)
	}
}

// moveTexts are what moves are in words.
var moveTexts = [...]string{
	"submit", "send", "slice arrives", "ack arrives", "slice lost", "ack lost", "slice doubled", "ack doubled",
	"the receiver is polled", "2 ms pass", "half of the time to give up passes", "read", "forged slice", "forged ack",
	"the sender's time to give up has passed", "the receiver's time to give up has passed", "the sender restarts", "the receiver restarts",
	"an empty chunk is submitted", "a chunk is submitted", "the sender is polled, nothing is due", "the receiver is polled, nothing is due", "a read, nothing is there", "a foreign ack",
}

// text returns what a move was, from the state that is looked at, and what became of the
// machines.
func (w *exWorld) text(after exParts, m exMove) string {
	text, before := moveTexts[m.kind], w.now
	switch m.kind {
	case moveSend:
		text += fmt.Sprintf(" %d", m.arg)
	case moveSliceArrives, moveSliceLost, moveSliceDoubled:
		s := w.slice(before.slices.At(int(m.arg)))
		text += fmt.Sprintf(": %d/%d of chunk %d", s.SliceID, s.NumSlices, s.ChunkID)
	case moveAckArrives, moveAckLost, moveAckDoubled:
		text += fmt.Sprintf(": %+v", w.ack(before.acks.At(int(m.arg))))
	case moveForge:
		text += fmt.Sprintf(": %+v", w.forged[m.arg])
	case moveForgeAck:
		text += fmt.Sprintf(": %+v", w.forgedAck(int(m.arg)))
	}
	if is := after.s.state; is != before.s.state {
		text += fmt.Sprintf("   sender is %v", is)
	}
	if is := after.r.state; is != before.r.state {
		text += fmt.Sprintf("   receiver is %v", is)
	}
	return text
}

// describe returns a line about a state.
func (w *exWorld) describe() string {
	st, s, r := w.now, w.now.s, w.now.r
	sender, receiver := w.texts()
	return fmt.Sprintf("sender %v at chunk %d, %s; receiver %v at chunk %d, %s; %d of %d chunks reported, %d delivered; in flight %d slices, %d acks",
		s.state, s.chunkID, sender, r.state, r.chunkID, receiver, st.reported, len(w.chunks), st.delivered, st.slices.Len(), st.acks.Len())
}
