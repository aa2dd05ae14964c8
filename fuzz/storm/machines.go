package main

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
	"github.com/chunkwire/chunkwire/statemachine"
)

// machines are the two machines of an end, and the judges who watch.
type machines struct {
	kind      codec.Kind
	framer    codec.Framer
	sender    chunk.Sender
	receiver  chunk.Receiver
	sending   *chunk.SenderJudge
	receiving *chunk.ReceiverJudge
	memory    func() int64 // what the receiver takes
}

func newMachines(kind codec.Kind, e *end, slack core.Micros) *machines {
	s, err1 := statemachine.NewSender(statemachine.SenderConfig{Kind: kind, FirstChunkID: e.pair.firstID, GiveUp: e.giveUp, Scheduler: e.pace.scheduler()})
	r, err2 := statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: kind, FirstChunkID: e.pair.firstID, GiveUp: e.giveUp})
	mustBe(err1, err2)
	return &machines{
		kind: kind, framer: kind.Framer(protocolID(e.epoch)), sender: chunk.Sender{SenderMachine: s}, receiver: chunk.Receiver{ReceiverMachine: r},
		sending: chunk.NewSenderJudge(kind, e.out, e.pace.Pace, e.giveUp, slack), receiving: chunk.NewReceiverJudge(kind, e.in, e.giveUp, slack),
		memory: func() int64 { return sim.Footprint(r) },
	}
}

// keeps looks at the memory of the receiver.
func (m *machines) keeps() *chunk.Violation { return m.receiving.Keeps(m.memory()) }

func isSlice(p codec.Packet) bool { return p.Type == codec.TypeSlice }

// readBack decodes a datagram by the oracle.
func (m *machines) readBack(datagram []byte) (codec.Packet, error) {
	if m.kind == codec.Repair {
		p, err := repairoracle.DecodeDatagram(m.framer.ProtocolID(), datagram)
		if err != nil {
			return codec.Packet{}, err
		}
		return agree.RepairFromOracle(p), nil
	}
	p, err := oracle.DecodeDatagram(m.framer.ProtocolID(), datagram)
	if err != nil {
		return codec.Packet{}, err
	}
	return agree.FromOracle(p), nil
}

// arrive gives a machine a packet, and its judge what the peer's machine made.
func (m *machines) arrive(now, at core.Micros, p, made codec.Packet) *chunk.Violation {
	if isSlice(made) {
		m.receiving.Arrived(at, made.Slice)
	} else {
		m.sending.Acked(at, made.Ack)
	}
	if isSlice(p) {
		m.receiver.Handle(now, p)
		return nil
	}
	was := m.sender.Sending()
	m.sender.Handle(now, p)
	return m.sending.Reported(was && !m.sender.Sending() && m.sender.Err() == nil)
}

// sent shows a packet to the judge of its machine.
func (m *machines) sent(at core.Micros, p codec.Packet, size int, deadline core.Micros) *chunk.Violation {
	if isSlice(p) {
		return m.sending.Sent(at, p.Slice, size, deadline)
	}
	return m.receiving.Sent(at, p.Ack)
}

// owned returns a packet whose data are its own: the machine's are the application's.
func owned(p codec.Packet) codec.Packet {
	p.Slice.Data = bytes.Clone(p.Slice.Data)
	return p
}

// mustBe panics unless what was drawn is valid.
func mustBe(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

// describe writes a packet in words.
func describe(p codec.Packet) string {
	s, a := p.Slice, p.Ack
	switch {
	case p.Type == codec.TypeSlice:
		return fmt.Sprintf("slice %d of chunk %d (%d slices, %d bytes)", s.SliceID, s.ChunkID, s.NumSlices, len(s.Data))
	case a.Top > 0:
		return fmt.Sprintf("ack of chunk %d, %d of %d slices, below %d", a.ChunkID, a.Have, a.NumSlices, a.Top)
	case a.Acked.Empty():
		return fmt.Sprintf("hold of chunk %d (%d slices)", a.ChunkID, a.NumSlices)
	}
	return fmt.Sprintf("ack of chunk %d, %d of %d slices", a.ChunkID, a.Acked.Count(), a.NumSlices)
}
