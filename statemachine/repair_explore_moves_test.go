package statemachine

import (
	"fmt"
	"github.com/chunkwire/chunkwire/codec"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// exPacket is a packet in flight, as one number: its chunk's id, and the id of a slice or
// what an ack says. All else of a slice follows from these, which is checked when it is sent.
type repairExPacket uint32

func packedAck(a codec.Ack) repairExPacket {
	return repairExPacket(a.ChunkID)<<16 | repairExPacket(a.NumSlices)<<12 | repairExPacket(a.Have)<<8 | repairExPacket(a.Top)
}

func packedSlice(s codec.Slice) repairExPacket {
	return repairExPacket(s.ChunkID)<<16 | repairExPacket(s.SliceID)
}

func (p repairExPacket) chunkID() uint16 { return uint16(p >> 16) }
func (p repairExPacket) id() int         { return int(p & 0xffff) }

func (p repairExPacket) ack() codec.Ack {
	return codec.Ack{ChunkID: p.chunkID(), NumSlices: int(p >> 12 & 15), Have: int(p >> 8 & 15), Top: int(p & 255)}
}

// slice returns a packet as the slice that it is.
func (w *repairExWorld) slice(p repairExPacket) codec.Slice {
	e := w.encoded[p.chunkID()-w.first]
	return codec.Slice{ChunkID: p.chunkID(), SliceID: p.id(), NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(p.id())}
}

// forgedSlice returns a forgery; lastBytes 0 stands for that of the genuine chunk.
func (w *repairExWorld) forgedSlice(f repairForgery) codec.Slice {
	if f.lastBytes == 0 {
		f.lastBytes = w.encoded[f.chunk].LastBytes()
	}
	return codec.Slice{ChunkID: w.first + uint16(f.chunk), SliceID: f.id, NumSlices: f.numSlices, LastBytes: f.lastBytes, Data: w.data(0, f.id, f.numSlices, f.lastBytes, true)}
}

// forgedAck returns a forged ack of the chunk in flight.
func (w *repairExWorld) forgedAck(st *repairExState, i int) codec.Ack {
	a := w.acked[i]
	a.ChunkID, a.NumSlices = st.sender.chunkID, st.sender.numSlices
	return a
}

// moveTexts are what moves are in words.
var moveTexts = [...]string{
	"submit", "send", "slice arrives", "ack arrives", "slice lost", "ack lost", "slice doubled", "ack doubled",
	"the receiver is polled", "2 ms pass", "half of the time to give up passes", "read", "forged slice", "forged ack",
	"the sender's time to give up has passed", "the receiver's time to give up has passed", "the sender restarts", "the receiver restarts",
	"an empty chunk is submitted", "a chunk is submitted", "the sender is polled, nothing is due", "the receiver is polled, nothing is due", "a read, nothing is there", "a foreign ack",
}

// options collects what can happen in a state.
type repairOptions struct {
	*repairExWorld
	list []explore.Option[exMove]
}

// Options lists all that can happen in a state.
func (w *repairExWorld) Options(st *repairExState, list []explore.Option[exMove]) []explore.Option[exMove] {
	o := repairOptions{w, list}
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

func (o *repairOptions) can(kind moveKind, arg int, fair bool, rank uint8) {
	o.list = append(o.list, explore.Option[exMove]{Move: exMove{kind, uint8(arg)}, Fair: fair, Benign: rank})
}

func (o *repairOptions) ofSender(st *repairExState) {
	switch st.sender.state {
	case SenderIdle:
		if int(st.submitted) < len(o.chunks) {
			o.can(moveSubmit, 0, true, rankSend)
		}
	case SenderSending:
		o.can(moveSend, 0, st.slices.Len() < o.slices, rankSend) // into a full network it is lost
	}
}

func (o *repairOptions) ofReceiver(st *repairExState) {
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
		if !o.isGenuine(o.completed(st), r.numSlices, r.lastBytes) {
			rank = rankTimer
		}
		o.can(moveHalf, 0, true, rank)
	}
}

func (o *repairOptions) ofChannel(c *explore.Bag[repairExPacket], capacity int, arrives, lost, doubled moveKind, rank uint8) {
	for i := range c.Distinct() {
		o.can(arrives, i, true, rank)
		o.can(lost, i, false, 0)
		if o.doubles && c.Len() < capacity {
			o.can(doubled, i, false, 0)
		}
	}
}

// ofFailures: an end gives up in a fair run only when the other has failed.
func (o *repairOptions) ofFailures(st *repairExState) {
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
}

func (o *repairOptions) giveUp(kind moveKind, otherFailed bool) {
	rank := uint8(0)
	if otherFailed {
		rank = rankTimer
	}
	o.can(kind, 0, otherFailed || o.restarts, rank)
}

func (o *repairOptions) ofForgers(st *repairExState) {
	for i := range o.acked {
		if st.acked>>i&1 == 0 && st.sender.state == SenderSending && o.acked[i].Have < st.sender.numSlices {
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
func (o *repairOptions) spoils(st *repairExState, f repairForgery) bool {
	r, s := &st.receiver, o.forgedSlice(f)
	if s.ChunkID != r.chunkID || r.state == ReceiverReady {
		return false
	}
	if !o.isGenuine(f.chunk, s.NumSlices, s.LastBytes) {
		return r.state == ReceiverReceiving && halfPassed(&r.Receiver)
	}
	return r.state != ReceiverReceiving || r.numSlices != s.NumSlices || r.lastBytes != s.LastBytes || !st.held.has(s.SliceID) && o.adds(st, s.SliceID)
}

// adds reports whether an id is independent of what the receiver holds.
func (w *repairExWorld) adds(st *repairExState, id int) bool {
	ids := st.held.list(nil)
	return rankOf(st.receiver.numSlices, append(ids, id)...) > len(ids)
}

func (o *repairOptions) pokes(st *repairExState) {
	kinds := []exMove{{kind: pokeSubmitNothing}, {kind: pokeSender}}
	if st.sender.state != SenderIdle {
		kinds = append(kinds, exMove{kind: pokeSubmitBusy})
	}
	if !st.receiver.acks.Due(epoch) {
		kinds = append(kinds, exMove{kind: pokeReceiver})
	}
	if st.receiver.state != ReceiverReady {
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
func (w *repairExWorld) foreignAcks(st *repairExState) []codec.Ack {
	s := &st.sender
	k := max(s.numSlices, 1)
	return []codec.Ack{
		{ChunkID: s.chunkID + 1, NumSlices: k, Have: k, Top: s.sent},
		{ChunkID: s.chunkID, NumSlices: k + 1, Have: 1, Top: s.sent},
		{ChunkID: s.chunkID, NumSlices: k, Have: k, Top: s.sent + 1},
		{ChunkID: s.chunkID, NumSlices: k, Have: 1, Top: 0},
		{ChunkID: s.chunkID, NumSlices: k, Have: k + 1, Top: s.sent},
	}
}

// Text returns what a move was, and what became of the machines.
func (w *repairExWorld) Text(before, repairAfter *repairExState, m exMove) string {
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
	if s := repairAfter.sender.state; s != before.sender.state {
		text += fmt.Sprintf("   sender is %v", s)
	}
	if r := repairAfter.receiver.state; r != before.receiver.state {
		text += fmt.Sprintf("   receiver is %v", r)
	}
	return text
}

// Describe returns a line about a state.
func (w *repairExWorld) Describe(st *repairExState) string {
	s, r := &st.sender, &st.receiver
	return fmt.Sprintf("sender %v at chunk %d, sent %d, acked %d below %d; receiver %v at chunk %d, held %v, top %d; %d of %d chunks reported, %d delivered; in flight %d slices, %d acks",
		s.state, s.chunkID, s.sent, s.have, s.top, r.state, r.chunkID, st.held.list(nil), r.top, st.reported, len(w.chunks), st.delivered, st.slices.Len(), st.acks.Len())
}
