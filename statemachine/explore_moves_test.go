package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// exPacket is a packet in flight, as one number: its chunk's id, its number of
// slices, and the id of the slice or the bits of the ack. The bytes of a slice
// follow from these, which is checked when it is sent.
type exPacket uint32

func packed(chunkID uint16, numSlices, rest int) exPacket {
	return exPacket(chunkID)<<16 | exPacket(numSlices)<<8 | exPacket(rest)
}

func (p exPacket) chunkID() uint16 { return uint16(p >> 16) }
func (p exPacket) numSlices() int  { return int(p >> 8 & 255) }
func (p exPacket) rest() int       { return int(p & 255) }

// ack returns the packet as the ack that it is.
func (p exPacket) ack() codec.Ack {
	return codec.Ack{ChunkID: p.chunkID(), NumSlices: p.numSlices(), Acked: core.Set{uint64(p.rest())}}
}

func (p exPacket) sliceText() string {
	return fmt.Sprintf("slice %d/%d of chunk %d", p.rest(), p.numSlices(), p.chunkID())
}

func (p exPacket) ackText() string {
	return fmt.Sprintf("ack %s of chunk %d", bitString(p.rest(), p.numSlices()), p.chunkID())
}

func bitString(set, n int) (out string) {
	for i := range n {
		out += string('0' + byte(set>>i&1))
	}
	return out
}

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

// Options lists all that can happen in a state.
func (w *exWorld) Options(st *exState, list []explore.Option[exMove]) []explore.Option[exMove] {
	o := options{w, list}
	o.ofSender(st)
	o.ofReceiver(st)
	o.ofChannel(&st.acks, w.acks, moveAckArrives, moveAckLost, moveAckDoubled, rankAckArrives)
	o.ofChannel(&st.slices, w.slices, moveSliceArrives, moveSliceLost, moveSliceDoubled, rankSliceArrives)
	o.ofFailures(st)
	if w.pokes {
		o.pokes(st)
	}
	return o.list
}

func (o *options) can(kind moveKind, arg int, fair bool, rank uint8) {
	o.list = append(o.list, explore.Option[exMove]{Move: exMove{kind, uint8(arg)}, Fair: fair, Benign: rank})
}

func (o *options) poke(kind moveKind) {
	o.list = append(o.list, explore.Option[exMove]{Move: exMove{kind: kind}, Idle: true})
}

func (o *options) ofSender(st *exState) {
	switch st.sender.state {
	case SenderIdle:
		if int(st.submitted) < len(o.chunks) {
			o.can(moveSubmit, 0, true, rankSend)
		}
	case SenderSending:
		room := st.slices.Len() < o.slices // else the slice is lost
		for id := range st.sched.unacked.All() {
			o.can(moveSend, id, room, rankSend)
		}
	}
}

func (o *options) ofReceiver(st *exState) {
	r := &st.receiver
	if r.acks.Due(epoch) {
		o.can(moveAck, 0, st.acks.Len() < o.acks, rankAck)
	}
	if waiting(&r.Receiver) {
		rank := uint8(0)
		if r.acks.At != core.Never {
			rank = rankAck
		}
		o.can(moveWait, 0, true, rank)
	}
	if r.state == ReceiverReady {
		o.can(moveRead, 0, true, rankRead)
	}
	if o.forged != nil && r.state == ReceiverReceiving && !halfPassed(&r.Receiver) {
		rank := uint8(0)
		if !o.isGenuine(r) {
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
func (o *options) ofFailures(st *exState) {
	s, r := &st.sender, &st.receiver
	if o.giveUps && s.state == SenderSending {
		o.giveUp(moveSenderGivesUp, r.state == ReceiverFailed)
	}
	if o.giveUps && r.state == ReceiverReceiving {
		o.giveUp(moveReceiverGivesUp, s.state == SenderFailed)
	}
	if o.restarts && st.restarted == 0 {
		o.can(moveSenderRestarts, 0, false, 0)
		o.can(moveReceiverRestarts, 0, false, 0)
	}
	if r.state == ReceiverReceiving && halfPassed(&r.Receiver) {
		return // a forgery would replace the number of slices of a genuine chunk
	}
	for i := range o.forged {
		if st.forged>>i&1 == 0 {
			o.can(moveForge, i, false, 0)
		}
	}
}

func (o *options) giveUp(kind moveKind, otherFailed bool) {
	rank := uint8(0)
	if otherFailed {
		rank = rankTimer
	}
	o.can(kind, 0, otherFailed || o.restarts, rank)
}

func (o *options) pokes(st *exState) {
	o.poke(pokeSubmitNothing)
	if st.sender.state != SenderIdle {
		o.poke(pokeSubmitBusy)
	}
	o.poke(pokeSender)
	if !st.receiver.acks.Due(epoch) {
		o.poke(pokeReceiver)
	}
	if st.receiver.state != ReceiverReady {
		o.poke(pokeRead)
	}
}
