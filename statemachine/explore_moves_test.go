package statemachine

// moveKind is one thing that can happen.
type moveKind uint8

const (
	moveSubmit moveKind = iota
	moveSend            // the scheduler has a slice to send: arg is its id
	moveSliceArrives
	moveAckArrives
	moveSliceLost
	moveAckLost
	moveSliceDoubled
	moveAckDoubled
	moveAck  // the receiver is polled, and an ack is due
	moveWait // 2 ms pass at the receiver
	moveHalf // so much time without a new slice that the receiver may pin anew
	moveRead
	moveForge // arg: which forgery
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
)

type exMove struct {
	kind moveKind
	arg  uint8
}

// An option is a move that is possible in a state.
type option struct {
	move exMove
	// fair: in fair weather this happens sooner or later.
	fair bool
	// calm is when the move is made in calm weather, where each thing happens as
	// soon as the ones before it have: acks arrive, then acks go out, slices
	// arrive, the reader reads, timers run out, the sender sends. 0: never.
	calm uint8
}

const (
	calmAckArrives = 1 + iota
	calmAck
	calmSliceArrives
	calmRead
	calmTimer
	calmSend
)

// findOptions lists all that can happen in a state.
func (e *explorer) findOptions(st *exState) {
	e.options = e.options[:0]
	e.senderOptions(st)
	e.receiverOptions(st)
	e.networkOptions(st)
	e.failureOptions(st)
	if e.scenario.pokes {
		e.pokeOptions(st)
	}
}

func (e *explorer) can(kind moveKind, arg int, fair bool, calm uint8) {
	e.options = append(e.options, option{exMove{kind, uint8(arg)}, fair, calm})
}

func (e *explorer) senderOptions(st *exState) {
	switch st.sender.state {
	case SenderIdle:
		if int(st.submitted) < len(e.chunks) {
			e.can(moveSubmit, 0, true, calmSend)
		}
	case SenderSending:
		room := int(st.slices.n) < e.scenario.slices // else the slice is lost
		for id := st.sched.unacked.Next(0); id >= 0; id = st.sched.unacked.Next(id + 1) {
			e.can(moveSend, id, room, calmSend)
		}
	}
}

func (e *explorer) receiverOptions(st *exState) {
	r := &st.receiver
	if r.acks.due(epoch) {
		e.can(moveAck, 0, int(st.acks.n) < e.scenario.acks, calmAck)
	}
	if waiting(r) {
		calm := uint8(0)
		if r.acks.at != Never {
			calm = calmAck
		}
		e.can(moveWait, 0, true, calm)
	}
	if r.state == ReceiverReady {
		e.can(moveRead, 0, true, calmRead)
	}
	if e.scenario.forged != nil && r.state == ReceiverReceiving && !halfPassed(r) {
		calm := uint8(0)
		if !e.pinIsGenuine(r) {
			calm = calmTimer
		}
		e.can(moveHalf, 0, true, calm)
	}
}

func (e *explorer) networkOptions(st *exState) {
	e.channelOptions(&st.acks, e.scenario.acks, moveAckArrives, moveAckLost, moveAckDoubled, calmAckArrives)
	e.channelOptions(&st.slices, e.scenario.slices, moveSliceArrives, moveSliceLost, moveSliceDoubled, calmSliceArrives)
}

func (e *explorer) channelOptions(c *exChannel, capacity int, arrives, lost, doubled moveKind, calm uint8) {
	for i := range int(c.n) {
		if i > 0 && c.packets[i] == c.packets[i-1] {
			continue
		}
		e.can(arrives, i, true, calm)
		e.can(lost, i, false, 0)
		if e.scenario.doubles && int(c.n) < capacity {
			e.can(doubled, i, false, 0)
		}
	}
}

// failureOptions: an end gives up in fair weather only when the other has failed.
func (e *explorer) failureOptions(st *exState) {
	s, r := &st.sender, &st.receiver
	if e.scenario.giveUps && s.state == SenderSending {
		e.canGiveUp(moveSenderGivesUp, r.state == ReceiverFailed)
	}
	if e.scenario.giveUps && r.state == ReceiverReceiving {
		e.canGiveUp(moveReceiverGivesUp, s.state == SenderFailed)
	}
	if e.scenario.restarts && st.restarted == 0 {
		e.can(moveSenderRestarts, 0, false, 0)
		e.can(moveReceiverRestarts, 0, false, 0)
	}
	if r.state == ReceiverReceiving && halfPassed(r) {
		return // a forgery would pin a genuine chunk anew
	}
	for i := range e.scenario.forged {
		if st.forged>>i&1 == 0 {
			e.can(moveForge, i, false, 0)
		}
	}
}

func (e *explorer) canGiveUp(kind moveKind, otherFailed bool) {
	calm := uint8(0)
	if otherFailed {
		calm = calmTimer
	}
	e.can(kind, 0, otherFailed || e.scenario.restarts, calm)
}

func (e *explorer) pokeOptions(st *exState) {
	e.can(pokeSubmitNothing, 0, false, 0)
	if st.sender.state != SenderIdle {
		e.can(pokeSubmitBusy, 0, false, 0)
	}
	e.can(pokeSender, 0, false, 0)
	if !st.receiver.acks.due(epoch) {
		e.can(pokeReceiver, 0, false, 0)
	}
	if st.receiver.state != ReceiverReady {
		e.can(pokeRead, 0, false, 0)
	}
}
