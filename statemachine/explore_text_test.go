package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
)

// Text returns what a move was, and what became of the machines.
func (w *exWorld) Text(before, after *exState, m exMove) string {
	text := w.move(before, m)
	if s := after.sender.state; s != before.sender.state {
		text += fmt.Sprintf("   sender is %v", s)
	}
	if r := after.receiver.state; r != before.receiver.state {
		text += fmt.Sprintf("   receiver is %v", r)
	}
	return text
}

func (w *exWorld) move(st *exState, m exMove) string {
	i := int(m.arg)
	switch m.kind {
	case moveSubmit:
		return fmt.Sprintf("sender: chunk %d of %d slices is submitted", st.sender.chunkID, slicesIn(w.chunks[st.submitted]))
	case moveSend:
		return "sender -- " + packed(st.sender.chunkID, st.sender.numSlices, i).sliceText() + " --> " + goesTo(&st.slices, w.slices)
	case moveSliceArrives:
		return "receiver <-- " + st.slices.At(i).sliceText()
	case moveSliceLost:
		return "network: " + st.slices.At(i).sliceText() + " --> lost"
	case moveSliceDoubled:
		return "network: " + st.slices.At(i).sliceText() + " --> doubled"
	case moveAckArrives:
		return "sender <-- " + st.acks.At(i).ackText()
	case moveAckLost:
		return "network: " + st.acks.At(i).ackText() + " --> lost"
	case moveAckDoubled:
		return "network: " + st.acks.At(i).ackText() + " --> doubled"
	case moveAck:
		return "receiver -- " + ackThatGoesOut(*st) + " --> " + goesTo(&st.acks, w.acks)
	case moveForge:
		f := w.forged[i]
		return "receiver <-- forged " + packed(w.first+uint16(f.chunk), f.numSlices, f.id).sliceText()
	}
	return [...]string{
		moveWait: "receiver: 2 ms pass", moveHalf: "receiver: half of the time to give up passes", moveRead: "receiver: the chunk is read",
		moveSenderGivesUp: "sender: the time to give up has passed", moveReceiverGivesUp: "receiver: the time to give up has passed",
		moveSenderRestarts: "sender: restarts", moveReceiverRestarts: "receiver: restarts",
		pokeSubmitNothing: "sender: an empty chunk is submitted", pokeSubmitBusy: "sender: a chunk is submitted",
		pokeSender: "sender: polled, nothing is due", pokeReceiver: "receiver: polled, nothing is due", pokeRead: "receiver: asked for a chunk",
	}[m.kind]
}

func goesTo(c *explore.Bag[exPacket], capacity int) string {
	if c.Len() < capacity {
		return "network"
	}
	return "lost"
}

func ackThatGoesOut(st exState) string {
	st.attach()
	a, ok := st.receiver.Poll(present)
	if !ok {
		return "nothing"
	}
	return packed(a.ChunkID, a.NumSlices, int(a.Acked[0])).ackText()
}

// Describe returns a line about a state.
func (w *exWorld) Describe(st *exState) string {
	s, r := &st.sender, &st.receiver
	return fmt.Sprintf("sender %v at chunk %d, acked %s; receiver %v at chunk %d, received %s; %d of %d chunks reported, %d delivered; in flight %d slices, %d acks",
		s.state, s.chunkID, bitString(int(s.acked[0]), s.numSlices), r.state, r.chunkID, bitString(int(r.received[0]), r.numSlices),
		st.reported, len(w.chunks), st.delivered, st.slices.Len(), st.acks.Len())
}
