package statemachine

import (
	"bytes"
	"fmt"
	"slices"
)

// baseState is a state of the second explorer's: all of it, at a time.
type baseState struct {
	now       Micros
	sender    Sender
	base      Base // what the sender's scheduler knows
	receiver  Receiver
	flights   []inFlight // by their time
	submitted int
	delivered int
	readAt    Micros
	outUntil  Micros // what goes out before is lost
}

// inFlight is a packet in flight.
type inFlight struct {
	at     Micros
	packet exPacket
	isAck  bool
}

func (f inFlight) text() string {
	if f.isAck {
		return "receiver -- " + f.packet.ackText()
	}
	return "sender -- " + f.packet.sliceText()
}

func (x *baseExplorer) start() baseState {
	x.base = NewBase(x.scenario.profile)
	st := baseState{
		sender:   *NewSender(SenderConfig{FirstChunkID: 65535, Scheduler: x.base}),
		receiver: *NewReceiver(ReceiverConfig{FirstChunkID: 65535}),
		base:     *x.base,
		readAt:   Never,
	}
	return st
}

// clone copies what later events write to. What a slice holds they copy first.
func (st *baseState) clone() baseState {
	next := *st
	next.flights = slices.Clone(st.flights)
	next.base.slices = slices.Clone(st.base.slices)
	next.receiver.slices = slices.Clone(st.receiver.slices)
	return next
}

func (st *baseState) send(p inFlight, f packetFate) {
	if f == onTime || f == doubled {
		st.fly(p, st.now+baseDelay)
	}
	if f == late || f == doubled {
		st.fly(p, st.now+baseDelay+baseLate)
	}
	if f == outageHere {
		st.outUntil = st.now + baseOut
	}
}

func (st *baseState) fly(p inFlight, at Micros) {
	p.at = at
	i := len(st.flights)
	for i > 0 && st.flights[i-1].at > at {
		i--
	}
	st.flights = slices.Insert(st.flights, i, p)
}

// run goes on until a packet goes out, or all is over.
func (x *baseExplorer) run(st *baseState) (inFlight, bool) {
	*x.base = st.base
	st.sender.sched = x.base
	defer func() { st.base = *x.base }()
	for x.problem == "" {
		if p, ok := x.poll(st); ok {
			if st.now < st.outUntil {
				continue
			}
			return p, true
		}
		if st.sender.state == SenderIdle && st.submitted < len(x.chunks) {
			x.check(st.sender.Submit(st.now, x.chunks[st.submitted]) == nil, "a chunk is refused")
			st.submitted++
			continue
		}
		if st.sender.state == SenderIdle && st.delivered == len(x.chunks) {
			return inFlight{}, false
		}
		x.wait(st)
	}
	return inFlight{}, false
}

func (x *baseExplorer) check(ok bool, problem string) {
	if !ok && x.problem == "" {
		x.problem = problem
	}
}

// poll asks both ends for a packet.
func (x *baseExplorer) poll(st *baseState) (inFlight, bool) {
	acked := st.sender.acked
	if s, ok := st.sender.Poll(st.now); ok {
		x.check(!acked.Has(s.SliceID), fmt.Sprintf("slice %d goes out, though it is acked (SCH-1)", s.SliceID))
		return inFlight{packet: packed(s.ChunkID, s.NumSlices, s.SliceID)}, true
	}
	a, ok := st.receiver.Poll(st.now)
	return inFlight{packet: packed(a.ChunkID, a.NumSlices, int(a.Acked[0])), isAck: true}, ok
}

// wait goes on to what happens next: packets first, then the reader.
func (x *baseExplorer) wait(st *baseState) {
	next := min(st.sender.Deadline(), st.receiver.Deadline(), st.readAt)
	if len(st.flights) > 0 {
		next = min(next, st.flights[0].at)
	}
	x.check(st.sender.Err() == nil && st.receiver.Err() == nil, "an end has given up (LIVE-2)")
	x.check(next != Never, "a stall: nothing will ever happen again (LIVE-2, SCH-3)")
	x.check(next > st.now, "a deadline lies in the past (SCH-3)")
	if x.problem != "" {
		return
	}
	st.now = next
	for len(st.flights) > 0 && st.flights[0].at <= st.now {
		p := st.flights[0]
		st.flights = slices.Delete(st.flights, 0, 1)
		x.arrive(st, p)
	}
	if st.receiver.state == ReceiverReady && st.readAt == Never {
		st.readAt = st.now + x.scenario.readTime
	}
	if st.now >= st.readAt {
		x.read(st)
	}
}

func (x *baseExplorer) arrive(st *baseState, p inFlight) {
	if p.isAck {
		st.sender.HandleAck(st.now, p.packet.ack())
		return
	}
	id := p.packet.rest()
	if kept := st.receiver.slices; id < len(kept) && kept[id] != nil {
		page := *kept[id]
		kept[id] = &page
	}
	chunk := slicesOf(p.packet.chunkID(), x.chunks[p.packet.chunkID()-65535])
	st.receiver.HandleSlice(st.now, chunk[id])
}

func (x *baseExplorer) read(st *baseState) {
	chunk, err := st.receiver.Read(st.now, nil)
	ok := err == nil && st.delivered < len(x.chunks) && bytes.Equal(chunk, x.chunks[st.delivered])
	x.check(ok, "what is delivered is not what was submitted (SAFE-1)")
	x.check(st.sender.stats.Chunks <= st.receiver.stats.Chunks, "a chunk is reported that the receiver does not have (SAFE-2)")
	st.delivered++
	st.readAt = Never
}
