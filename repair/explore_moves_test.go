package repair

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// exPacket is a packet in flight, as one number: its chunk's id, and the id of a slice or
// what an ack says. All else of a slice follows from these, which is checked when it is sent.
type exPacket uint32

func packedAck(a Ack) exPacket {
	return exPacket(a.ChunkID)<<16 | exPacket(a.NumSlices)<<12 | exPacket(a.Have)<<8 | exPacket(a.Top)
}

func packedSlice(s Slice) exPacket { return exPacket(s.ChunkID)<<16 | exPacket(s.ID) }

func (p exPacket) chunkID() uint16 { return uint16(p >> 16) }
func (p exPacket) id() int         { return int(p & 0xffff) }

func (p exPacket) ack() Ack {
	return Ack{ChunkID: p.chunkID(), NumSlices: int(p >> 12 & 15), Have: int(p >> 8 & 15), Top: int(p & 255)}
}

// slice returns a packet as the slice that it is.
func (w *exWorld) slice(p exPacket) Slice {
	e := w.encoded[p.chunkID()-w.first]
	return Slice{ChunkID: p.chunkID(), ID: p.id(), NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(p.id())}
}

// forgedSlice returns a forgery; lastBytes 0 stands for that of the genuine chunk.
func (w *exWorld) forgedSlice(f forgery) Slice {
	if f.lastBytes == 0 {
		f.lastBytes = w.encoded[f.chunk].LastBytes()
	}
	return Slice{ChunkID: w.first + uint16(f.chunk), ID: f.id, NumSlices: f.numSlices, LastBytes: f.lastBytes, Data: w.data(0, f.id, f.numSlices, f.lastBytes, true)}
}

// forgedAck returns a forged ack of the chunk in flight.
func (w *exWorld) forgedAck(st *exState, i int) Ack {
	a := w.acked[i]
	a.ChunkID, a.NumSlices = st.sender.chunkID, st.sender.numSlices
	return a
}

// moveKind is one thing that can happen.
type moveKind uint8

const (
	moveSubmit moveKind = iota
	moveSend            // the scheduler lets the next id go out
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
	moveForgeAck // arg: which forged ack
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
	pokeAck // arg: which foreign ack
)

var moveTexts = [...]string{
	"submit", "send", "slice arrives", "ack arrives", "slice lost", "ack lost", "slice doubled", "ack doubled",
	"the receiver is polled", "2 ms pass", "half of the time to give up passes", "read", "forged slice", "forged ack",
	"the sender's time to give up has passed", "the receiver's time to give up has passed", "the sender restarts", "the receiver restarts",
	"an empty chunk is submitted", "a chunk is submitted", "the sender is polled, nothing is due", "the receiver is polled, nothing is due", "a read, nothing is there", "a foreign ack",
}

type exMove struct {
	kind moveKind
	arg  uint8
}

// The order of a benign run, as in package statemachine.
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
	o.ofForgers(st)
	if w.pokes {
		o.pokes(st)
	}
	return o.list
}

func (o *options) can(kind moveKind, arg int, fair bool, rank uint8) {
	o.list = append(o.list, explore.Option[exMove]{Move: exMove{kind, uint8(arg)}, Fair: fair, Benign: rank})
}

func (o *options) ofSender(st *exState) {
	switch st.sender.state {
	case idle:
		if int(st.submitted) < len(o.chunks) {
			o.can(moveSubmit, 0, true, rankSend)
		}
	case sending:
		o.can(moveSend, 0, st.slices.Len() < o.slices, rankSend) // into a full network it is lost
	}
}

func (o *options) ofReceiver(st *exState) {
	r := &st.receiver
	if r.acks.Due(epoch) {
		o.can(moveAck, 0, st.acks.Len() < o.acks, rankAck)
	}
	if mayWait(r) {
		rank := uint8(0)
		if r.acks.At != core.Never {
			rank = rankAck
		}
		o.can(moveWait, 0, true, rank)
	}
	if r.state == ready {
		o.can(moveRead, 0, true, rankRead)
	}
	if o.forged != nil && r.state == receiving && !halfPassed(r) {
		rank := uint8(0)
		if !o.isGenuine(o.completed(st), r.numSlices, r.lastBytes) {
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
	if o.giveUps && s.state == sending {
		o.giveUp(moveSenderGivesUp, r.state == failed)
	}
	if o.giveUps && r.state == receiving {
		o.giveUp(moveReceiverGivesUp, s.state == gaveUp)
	}
	if o.restarts && st.restarted == 0 {
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

func (o *options) ofForgers(st *exState) {
	for i := range o.acked {
		if st.acked>>i&1 == 0 && st.sender.state == sending && o.acked[i].Have < st.sender.numSlices {
			o.can(moveForgeAck, i, false, 0)
		}
	}
	for i, f := range o.forged {
		if st.forged>>i&1 == 0 && !o.spoils(st, f) {
			o.can(moveForge, i, false, 0)
		}
	}
}

// spoils reports whether a forged slice would end a genuine chunk: it replaces its form, or is
// stored in it. A chunk of one slice that is complete with it has then been delivered.
func (o *options) spoils(st *exState, f forgery) bool {
	r, s := &st.receiver, o.forgedSlice(f)
	if s.ChunkID != r.chunkID || r.state == ready {
		return false
	}
	if !o.isGenuine(f.chunk, s.NumSlices, s.LastBytes) {
		return r.state == receiving && halfPassed(r)
	}
	return r.state != receiving || r.numSlices != s.NumSlices || r.lastBytes != s.LastBytes || !st.held.has(s.ID) && o.adds(st, s.ID)
}

// adds reports whether an id is independent of what the receiver holds.
func (w *exWorld) adds(st *exState, id int) bool {
	ids := st.held.list(nil)
	return rankOf(st.receiver.numSlices, append(ids, id)...) > len(ids)
}

func (o *options) pokes(st *exState) {
	kinds := []exMove{{kind: pokeSubmitNothing}, {kind: pokeSender}}
	if st.sender.state != idle {
		kinds = append(kinds, exMove{kind: pokeSubmitBusy})
	}
	if !st.receiver.acks.Due(epoch) {
		kinds = append(kinds, exMove{kind: pokeReceiver})
	}
	if st.receiver.state != ready {
		kinds = append(kinds, exMove{kind: pokeRead})
	}
	for i := range o.foreignAcks(st) {
		kinds = append(kinds, exMove{pokeAck, uint8(i)})
	}
	for _, m := range kinds {
		o.list = append(o.list, explore.Option[exMove]{Move: m, Idle: true})
	}
}

// foreignAcks are acks that are none of the sender's, each for another reason.
func (w *exWorld) foreignAcks(st *exState) []Ack {
	s := &st.sender
	k := max(s.numSlices, 1)
	return []Ack{
		{ChunkID: s.chunkID + 1, NumSlices: k, Have: k, Top: s.sent},
		{ChunkID: s.chunkID, NumSlices: k + 1, Have: 1, Top: s.sent},
		{ChunkID: s.chunkID, NumSlices: k, Have: k, Top: s.sent + 1},
		{ChunkID: s.chunkID, NumSlices: k, Have: 1, Top: 0},
		{ChunkID: s.chunkID, NumSlices: k, Have: k + 1, Top: s.sent},
	}
}

// Text returns what a move was, and what became of the machines.
func (w *exWorld) Text(before, after *exState, m exMove) string {
	text := moveTexts[m.kind]
	switch m.kind {
	case moveSend:
		text += fmt.Sprintf(" number %d", before.sender.sent)
	case moveSliceArrives, moveSliceLost, moveSliceDoubled:
		p := before.slices.At(int(m.arg))
		text += fmt.Sprintf(": id %d of chunk %d", p.id(), p.chunkID())
	case moveAckArrives, moveAckLost, moveAckDoubled:
		text += fmt.Sprintf(": %+v", before.acks.At(int(m.arg)).ack())
	case moveForge:
		text += fmt.Sprintf(": %+v", w.forged[m.arg])
	case moveForgeAck:
		text += fmt.Sprintf(": %+v", w.forgedAck(before, int(m.arg)))
	}
	if s := after.sender.state; s != before.sender.state {
		text += fmt.Sprintf("   sender is %v", s)
	}
	if r := after.receiver.state; r != before.receiver.state {
		text += fmt.Sprintf("   receiver is %v", r)
	}
	return text
}

// Describe returns a line about a state.
func (w *exWorld) Describe(st *exState) string {
	s, r := &st.sender, &st.receiver
	return fmt.Sprintf("sender %v at chunk %d, sent %d, acked %d below %d; receiver %v at chunk %d, held %v, top %d; %d of %d chunks reported, %d delivered; in flight %d slices, %d acks",
		s.state, s.chunkID, s.sent, s.have, s.top, r.state, r.chunkID, st.held.list(nil), r.top, st.reported, len(w.chunks), st.delivered, st.slices.Len(), st.acks.Len())
}
