package statemachine

import (
	"fmt"
	"strings"
)

// summary is a line on an exploration.
func (e *explorer) summary() string {
	var sizes []string
	for _, c := range e.chunks {
		sizes = append(sizes, fmt.Sprint(numSlicesOf(c)))
	}
	return fmt.Sprintf("%-22s chunks of %s slices from id %d, %d+%d packets in flight: %d states, %d transitions, deepest %d, %.1f s",
		e.scenario.name, strings.Join(sizes, ", "), e.scenario.first, e.scenario.slices, e.scenario.acks,
		len(e.from), e.transitions, e.depth-1, e.took.Seconds())
}

// story returns the shortest conversation that leads to the problem.
func (e *explorer) story() string {
	var moves []exMove
	if e.problem.move != nil {
		moves = append(moves, *e.problem.move)
	}
	for n := e.problem.parent; n != 0; n = e.from[n].parent {
		moves = append(moves, e.from[n].move)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", e.problem.what)
	teller := newExplorer(e.scenario)
	var st exState
	teller.newSender(&st)
	teller.newReceiver(&st)
	for i := len(moves) - 1; i >= 0; i-- {
		fmt.Fprintf(&out, "  %2d  %s\n", len(moves)-i, teller.tell(&st, moves[i]))
	}
	fmt.Fprintf(&out, "      then: %s", teller.describe(&st))
	return out.String()
}

// tell makes a move and says what it was.
func (e *explorer) tell(st *exState, m exMove) string {
	was := *st
	text := e.text(&was, m)
	e.apply(st, m)
	if s := st.sender.state; s != was.sender.state {
		text += fmt.Sprintf("   sender is %v", s)
	}
	if r := st.receiver.state; r != was.receiver.state {
		text += fmt.Sprintf("   receiver is %v", r)
	}
	return text
}

func (e *explorer) text(st *exState, m exMove) string {
	i := int(m.arg)
	switch m.kind {
	case moveSubmit:
		return fmt.Sprintf("sender: chunk %d of %d slices is submitted", st.sender.chunkID, numSlicesOf(e.chunks[st.submitted]))
	case moveSend:
		return "sender -- " + packed(st.sender.chunkID, st.sender.numSlices, i).sliceText() + " --> " + e.room(st.slices, e.scenario.slices)
	case moveSliceArrives:
		return "receiver <-- " + st.slices.packets[i].sliceText()
	case moveSliceLost:
		return "network: " + st.slices.packets[i].sliceText() + " --> lost"
	case moveSliceDoubled:
		return "network: " + st.slices.packets[i].sliceText() + " --> doubled"
	case moveAckArrives:
		return "sender <-- " + st.acks.packets[i].ackText()
	case moveAckLost:
		return "network: " + st.acks.packets[i].ackText() + " --> lost"
	case moveAckDoubled:
		return "network: " + st.acks.packets[i].ackText() + " --> doubled"
	case moveAck:
		return "receiver -- " + e.ackThatGoesOut(*st) + " --> " + e.room(st.acks, e.scenario.acks)
	case moveForge:
		f := e.scenario.forged[i]
		return "receiver <-- forged " + packed(e.scenario.first+uint16(f.chunk), f.numSlices, f.id).sliceText()
	}
	return [...]string{
		moveWait: "receiver: 2 ms pass", moveHalf: "receiver: half of the time to give up passes", moveRead: "receiver: the chunk is read",
		moveSenderGivesUp: "sender: the time to give up has passed", moveReceiverGivesUp: "receiver: the time to give up has passed",
		moveSenderRestarts: "sender: restarts", moveReceiverRestarts: "receiver: restarts",
		pokeSubmitNothing: "sender: an empty chunk is submitted", pokeSubmitBusy: "sender: a chunk is submitted",
		pokeSender: "sender: polled, nothing is due", pokeReceiver: "receiver: polled, nothing is due", pokeRead: "receiver: asked for a chunk",
	}[m.kind]
}

func (e *explorer) room(c exChannel, capacity int) string {
	if int(c.n) < capacity {
		return "network"
	}
	return "lost"
}

func (e *explorer) ackThatGoesOut(st exState) string {
	a, ok := st.receiver.Poll(present)
	if !ok {
		return "nothing"
	}
	return packed(a.ChunkID, a.NumSlices, int(a.Acked[0])).ackText()
}

func (e *explorer) describe(st *exState) string {
	s, r := &st.sender, &st.receiver
	return fmt.Sprintf("sender %v at chunk %d, acked %s; receiver %v at chunk %d, received %s; %d of %d chunks reported, %d delivered; in flight %d slices, %d acks",
		s.state, s.chunkID, bitString(int(s.acked[0]), s.numSlices), r.state, r.chunkID, bitString(int(r.received[0]), r.numSlices),
		st.reported, len(e.chunks), st.delivered, st.slices.n, st.acks.n)
}

func bitString(set, n int) string {
	out := ""
	for i := range n {
		out += string('0' + byte(set>>i&1))
	}
	return out
}
