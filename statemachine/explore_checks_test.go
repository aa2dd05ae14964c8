package statemachine

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
)

// What must hold in every state (sections 7.2, 8.2 and 11). It is told by an
// observer who knows what was submitted, not by the machines' own guards.

// checkState returns what is wrong with a folded state.
func (e *explorer) checkState(st *exState) string {
	if e.scenario.blind || st.restarted != 0 {
		return "" // nothing is promised but an end
	}
	for _, check := range []func(*exState) string{e.checkIDs, e.checkSender, e.checkAcked, e.checkReceiver, e.checkDue, e.checkReady} {
		if problem := check(st); problem != "" {
			return problem
		}
	}
	return ""
}

// completed returns how many chunks the receiver has had whole.
func (e *explorer) completed(st *exState) int { return int(st.receiver.chunkID - e.scenario.first) }

func (e *explorer) checkIDs(st *exState) string {
	read := int(st.delivered)
	if st.receiver.state == ReceiverReady {
		read++
	}
	switch ahead := st.receiver.chunkID - st.sender.chunkID; {
	case st.sender.chunkID != e.scenario.first+uint16(st.reported):
		return fmt.Sprintf("the sender is at chunk %d after %d (CID-2)", st.sender.chunkID, st.reported)
	case e.completed(st) != read:
		return fmt.Sprintf("the receiver is at chunk %d after %d (SAFE-1)", st.receiver.chunkID, read)
	case ahead == 65535:
		return "the sender has reported a chunk that the receiver does not have (SAFE-2)"
	case ahead > 1:
		return fmt.Sprintf("the receiver is %d chunks ahead (CON-2)", ahead)
	}
	return ""
}

func (e *explorer) checkSender(st *exState) string {
	s := &st.sender
	all := codec.FirstN(s.numSlices)
	switch {
	case s.state != SenderSending && s.chunk != nil:
		return "a chunk is kept, though none is in flight"
	case s.state == SenderIdle && s.numSlices != 0:
		return "num_slices is not 0 in IDLE"
	case s.state != SenderSending:
		return ""
	case !same(s.chunk, e.chunks[st.submitted-1]):
		return "the chunk in flight is not the one submitted"
	case s.numSlices != numSlicesOf(s.chunk):
		return fmt.Sprintf("%d bytes are not %d slices (LIM-2)", len(s.chunk), s.numSlices)
	case !s.acked.Minus(s.sent).Empty() || !s.sent.Minus(all).Empty() || s.acked == all:
		return fmt.Sprintf("sent %v, acked %v of %d slices (section 7.2)", s.sent, s.acked, s.numSlices)
	case st.sched.unacked != all.Minus(s.acked):
		return "the scheduler has not been told what is acked (SND-12)"
	}
	return ""
}

// numSlicesOf is LIM-2 for the small chunks of these tests.
func numSlicesOf(chunk []byte) int { return (len(chunk) + 1023) / 1024 }

// checkAcked: what the sender knows to have arrived has (SAFE-4).
func (e *explorer) checkAcked(st *exState) string {
	s, r := &st.sender, &st.receiver
	if s.state != SenderSending || r.state == ReceiverFailed || r.chunkID != s.chunkID {
		return ""
	}
	has := r.received
	if r.state != ReceiverReceiving || !e.pinIsGenuine(r) {
		has = codec.Bitset{}
	}
	if !s.acked.Minus(has).Empty() {
		return fmt.Sprintf("acked %v, but the receiver has %v (SAFE-4)", s.acked, has)
	}
	return ""
}

func (e *explorer) checkReceiver(st *exState) string {
	r := &st.receiver
	if r.state != ReceiverReceiving {
		if r.numSlices != 0 || !r.received.Empty() || r.state == ReceiverFailed && r.slices != nil {
			return fmt.Sprintf("%v with %v of %d slices (section 8.2)", r.state, r.received, r.numSlices)
		}
		return ""
	}
	all := codec.FirstN(r.numSlices)
	if r.received.Empty() || r.received == all || !r.received.Minus(all).Empty() {
		return fmt.Sprintf("RECEIVING with %v of %d slices (section 8.2)", r.received, r.numSlices)
	}
	if !e.pinIsGenuine(r) {
		if len(e.scenario.forged) == 0 {
			return fmt.Sprintf("pinned %d slices, which is wrong (RCV-7)", r.numSlices)
		}
		return ""
	}
	return e.checkPages(r, e.completed(st), r.received)
}

// checkPages: what is here is what was sent.
func (e *explorer) checkPages(r *Receiver, index int, received codec.Bitset) string {
	chunk := e.chunks[index]
	for id := received.Next(0); id >= 0; id = received.Next(id + 1) {
		want := chunk[id*codec.SliceSize:]
		want = want[:min(len(want), codec.SliceSize)]
		if id >= len(r.slices) || r.slices[id] == nil || !bytes.Equal(r.slices[id][:len(want)], want) {
			return fmt.Sprintf("slice %d of chunk %d is not here as it was sent (SAFE-1)", id, e.scenario.first+uint16(index))
		}
	}
	return ""
}

func (e *explorer) pinIsGenuine(r *Receiver) bool {
	return e.genuine(packed(r.chunkID, r.numSlices, 0))
}

// checkDue: for each chunk at most one ack is due, and that goes out soon.
func (e *explorer) checkDue(st *exState) string {
	r := &st.receiver
	previous := 0
	if n := e.completed(st); n > 0 && r.state != ReceiverFailed {
		previous = numSlicesOf(e.chunks[n-1])
	}
	switch {
	case (r.pending == pendingAcks{}) != (r.acks.at == Never):
		return fmt.Sprintf("acks due: %+v, the next one goes out at %d (AKT-5)", r.pending, r.acks.at)
	case r.pending.current && r.state != ReceiverReceiving:
		return fmt.Sprintf("an ack of the current chunk is due in %v", r.state)
	case r.pending.hold && r.state == ReceiverReceiving:
		return "a hold is due for a chunk that is received (RCV-10)"
	case r.pending.previous && previous == 0:
		return "an ack of the previous chunk is due, but there is none (RCV-6)"
	case r.state != ReceiverFailed && r.previousSlices != previous:
		return fmt.Sprintf("the previous chunk had %d slices, not %d (RCV-12)", previous, r.previousSlices)
	case r.state == ReceiverReceiving && r.acks.unreported > r.received.Count():
		return fmt.Sprintf("%d slices unreported of %v (AKT-3)", r.acks.unreported, r.received)
	}
	return ""
}

// checkReady: a complete chunk is here, whole (SAFE-5).
func (e *explorer) checkReady(st *exState) string {
	r := &st.receiver
	if r.state != ReceiverReady {
		return ""
	}
	index := e.completed(st) - 1
	if r.readSize != len(e.chunks[index]) {
		return fmt.Sprintf("%d bytes wait to be read of %d (SAFE-5)", r.readSize, len(e.chunks[index]))
	}
	return e.checkPages(r, index, codec.FirstN(numSlicesOf(e.chunks[index])))
}
