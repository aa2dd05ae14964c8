package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/statemachine"
)

// patience is the GIVE_UP from which on the base algorithm, over a network
// without delay and loss, always gets a chunk across: a wrong pin leaves half of
// it, and a sender probes each 250 ms.
const patience = 1_000_000

// maxWait is the longest GIVE_UP of which a run waits for the half.
const maxWait = 60_000_000

// finish runs a genuine sender of the current chunk against the receiver, with
// a network that does all it should. If the receiver is not about to give up, and
// GIVE_UP is not too short, the chunk must come, with the genuine bytes unless
// something forged came first (SEC-1); otherwise the sender gives up and says so.
func (b *receiverBench) finish() {
	b.Helper()
	if b.m.state == statemachine.ReceiverReady {
		b.read()
	}
	b.now = max(b.now, b.m.now)
	if b.m.state == statemachine.ReceiverReceiving && b.m.giveUp > maxWait {
		b.now = max(b.now, b.m.progressAt+b.m.giveUp/2) // a wrong pin may change now (RCV-7)
	}
	id := b.m.chunkID
	chunk := b.genuine(id)
	sender := statemachine.NewSender(statemachine.SenderConfig{FirstChunkID: id, GiveUp: b.m.giveUp})
	if err := sender.Submit(b.now, chunk); err != nil {
		b.Fatalf("submit: %v", err)
	}
	if b.story != nil {
		b.story.at(b.now, "a genuine sender begins with chunk %d of %d bytes", id, len(chunk))
	}
	sure := b.m.giveUp >= patience && (b.m.state == statemachine.ReceiverWaiting ||
		b.m.state == statemachine.ReceiverReceiving && b.now-b.m.progressAt <= b.m.giveUp/2)
	for n := 0; sender.State() == statemachine.SenderSending; n++ {
		if n > 20000 {
			b.Fatalf("no end: sender %v, receiver %v", sender.State(), b.m.state)
		}
		b.exchange(sender)
	}
	b.outcome(sender, chunk, sure)
}

// exchange lets both ends do what is due now, and goes on to what is next.
func (b *receiverBench) exchange(sender *statemachine.Sender) {
	b.Helper()
	for {
		s, ok := sender.Poll(b.now)
		if !ok {
			break
		}
		b.give("from the sender", s, false)
	}
	for _, a := range b.poll() {
		sender.HandleAck(b.now, a)
	}
	if sender.State() != statemachine.SenderSending {
		return
	}
	next := min(sender.Deadline(), b.r.Deadline())
	if b.m.state == statemachine.ReceiverFailed {
		next = sender.HeardFromAt() + b.m.giveUp // nobody answers: only the end is left
	}
	b.now = max(b.now, next)
}

// outcome is what must have come of it. A sure chunk had to come.
func (b *receiverBench) outcome(sender *statemachine.Sender, chunk []byte, sure bool) {
	b.Helper()
	switch {
	case sender.State() == statemachine.SenderIdle:
		if b.m.state != statemachine.ReceiverReady {
			b.Fatalf("the sender is done, the receiver %v", b.m.state) // SAFE-2
		}
		if got := b.read(); !b.forged && !bytes.Equal(got, chunk) {
			b.Fatalf("delivered %d bytes that are not the chunk", len(got))
		}
	case !errors.Is(sender.Err(), statemachine.ErrGaveUp):
		b.Fatalf("the sender ended with %v", sender.Err())
	case sure:
		b.Fatalf("the sender gave up; the receiver is %v", b.m.state)
	}
}
