package main

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	simrepair "github.com/chunkwire/chunkwire/conform/sim/repair"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
	"github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/statemachine"
)

// variant is one of the two protocols of chunks as an end drives it: its machines, the judges
// who watch, and its packets, which are codec.Packet or repair.Packet.
type variant interface {
	// Of the sender, and of what its judge knows.
	submit(now core.Micros, data []byte) error
	submitted(at core.Micros, data []byte, taken bool) *chunk.Violation
	sender() (end senderEnd, judge *chunk.Emission)
	// Of the receiver.
	receiver() (end receiverEnd, judge *chunk.Reception)
	keeps() *chunk.Violation // looks at its memory

	// arrive gives a machine a packet, and its judge what the peer's machine made.
	arrive(now, at core.Micros, p, made any) *chunk.Violation
	// pollAcks and pollSlices return a machine's next packet; sent shows it to its judge.
	pollAcks(now core.Micros) (any, bool)
	pollSlices(now core.Micros) (any, bool)
	sent(at core.Micros, p any, size int, deadline core.Micros) *chunk.Violation

	encode(p any) ([]byte, error)
	decode(datagram []byte) (any, error)
	read(datagram []byte) (any, error) // by the oracle
	same(a, b any) bool
	describe(p any) string
	isSlice(p any) bool
	isExtra(p any) bool // a slice that is sent again, or a repair slice, before it is sent
}

type senderEnd interface {
	Deadline() core.Micros
	Err() error
	Sending() bool
}

type receiverEnd interface {
	Read(now core.Micros, dst []byte) ([]byte, error)
	Deadline() core.Micros
	Err() error
	Ready() bool
}

// both are the machines of a variant, as its packets P go through them.
type both[P any] struct {
	out chunk.Outbound[P]
	in  chunk.Inbound[P]
}

func (b both[P]) submit(now core.Micros, data []byte) error { return b.out.Submit(now, data) }
func (b both[P]) pollAcks(now core.Micros) (any, bool)      { return b.in.Poll(now) }
func (b both[P]) pollSlices(now core.Micros) (any, bool)    { return b.out.Poll(now) }

// give hands over a packet, and has the judge of the sender look at what it reports.
func (b both[P]) give(now core.Micros, p P, slice bool, reported func(delivered bool) *chunk.Violation) *chunk.Violation {
	if slice {
		b.in.Handle(now, p)
		return nil
	}
	was := b.out.Sending()
	b.out.Handle(now, p)
	return reported(was && !b.out.Sending() && b.out.Err() == nil)
}

// named is the chunk protocol.
type named struct {
	both[codec.Packet]
	framer    codec.Framer
	sending   *chunk.SenderJudge
	receiving *chunk.ReceiverJudge
	memory    func() int64
}

func newNamed(e *end, slack core.Micros) variant {
	s, err1 := statemachine.NewSender(statemachine.SenderConfig{FirstChunkID: e.pair.firstID, GiveUp: e.giveUp, Scheduler: e.pace.scheduler()})
	r, err2 := statemachine.NewReceiver(statemachine.ReceiverConfig{FirstChunkID: e.pair.firstID, GiveUp: e.giveUp})
	mustBe(err1, err2)
	return &named{
		both[codec.Packet]{chunk.Sender{SenderMachine: s}, chunk.Receiver{ReceiverMachine: r}}, codec.NewFramer(protocolID(e.epoch)),
		chunk.NewSenderJudge(e.out, e.pace.Pace, e.giveUp, slack), chunk.NewReceiverJudge(e.in, e.giveUp, slack),
		func() int64 { return sim.Footprint(r) },
	}
}

func (v *named) sender() (senderEnd, *chunk.Emission)      { return v.out, &v.sending.Emission }
func (v *named) receiver() (receiverEnd, *chunk.Reception) { return v.in, &v.receiving.Reception }
func (v *named) keeps() *chunk.Violation                   { return v.receiving.Keeps(v.memory()) }
func (v *named) encode(p any) ([]byte, error)              { return v.framer.Append(nil, p.(codec.Packet)) }
func (v *named) decode(datagram []byte) (any, error)       { return v.framer.Decode(datagram) }
func (v *named) same(a, b any) bool                        { return agree.Same(a.(codec.Packet), b.(codec.Packet)) }
func (v *named) describe(p any) string                     { return describe(p.(codec.Packet)) }
func (v *named) isSlice(p any) bool                        { return p.(codec.Packet).Type == codec.TypeSlice }
func (v *named) isExtra(p any) bool                        { return v.sending.WasSent(p.(codec.Packet).Slice.SliceID) }

func (v *named) read(datagram []byte) (any, error) {
	p, err := oracle.DecodeDatagram(v.framer.ProtocolID(), datagram)
	if err != nil {
		return codec.Packet{}, err
	}
	return agree.FromOracle(p), nil
}

func (v *named) submitted(at core.Micros, data []byte, taken bool) *chunk.Violation {
	return v.sending.Submitted(at, data, taken)
}

func (v *named) arrive(now, at core.Micros, p, made any) *chunk.Violation {
	if m := made.(codec.Packet); m.Type == codec.TypeSlice {
		v.receiving.Arrived(at, m.Slice)
	} else {
		v.sending.Acked(at, m.Ack)
	}
	return v.give(now, p.(codec.Packet), v.isSlice(p), v.sending.Reported)
}

func (v *named) sent(at core.Micros, p any, size int, deadline core.Micros) *chunk.Violation {
	if v.isSlice(p) {
		return v.sending.Sent(at, p.(codec.Packet).Slice, size, deadline)
	}
	return v.receiving.Sent(at, p.(codec.Packet).Ack)
}

// repaired is the variant with repair slices.
type repaired struct {
	both[repair.Packet]
	framer    repair.Framer
	sending   *simrepair.SenderJudge
	receiving *simrepair.ReceiverJudge
	memory    func() int64
}

func newRepaired(e *end, slack core.Micros) variant {
	s, err1 := repair.NewSender(repair.SenderConfig{FirstChunkID: e.pair.firstID, GiveUp: e.giveUp, Scheduler: e.pace.rule()})
	r, err2 := repair.NewReceiver(repair.ReceiverConfig{FirstChunkID: e.pair.firstID, GiveUp: e.giveUp})
	mustBe(err1, err2)
	return &repaired{
		both[repair.Packet]{simrepair.Sender{SenderMachine: s}, simrepair.Receiver{ReceiverMachine: r}}, repair.NewFramer(protocolID(e.epoch)),
		simrepair.NewSenderJudge(e.out, e.pace.Pace, e.giveUp, slack), simrepair.NewReceiverJudge(e.in, e.giveUp, slack),
		func() int64 { return sim.Footprint(r) },
	}
}

func (v *repaired) sender() (senderEnd, *chunk.Emission)      { return v.out, &v.sending.Emission }
func (v *repaired) receiver() (receiverEnd, *chunk.Reception) { return v.in, &v.receiving.Reception }
func (v *repaired) keeps() *chunk.Violation                   { return v.receiving.Keeps(v.memory()) }
func (v *repaired) encode(p any) ([]byte, error)              { return v.framer.Append(nil, p.(repair.Packet)) }
func (v *repaired) decode(datagram []byte) (any, error)       { return v.framer.Decode(datagram) }
func (v *repaired) same(a, b any) bool                        { return agree.SameRepair(a.(repair.Packet), b.(repair.Packet)) }
func (v *repaired) describe(p any) string                     { return simrepair.Text(0, p.(repair.Packet)) }
func (v *repaired) isSlice(p any) bool                        { return p.(repair.Packet).Type == codec.TypeSlice }
func (v *repaired) isExtra(p any) bool                        { s := p.(repair.Packet).Slice; return !s.Source() }

func (v *repaired) read(datagram []byte) (any, error) {
	p, err := repairoracle.DecodeDatagram(v.framer.ProtocolID(), datagram)
	if err != nil {
		return repair.Packet{}, err
	}
	return agree.RepairFromOracle(p), nil
}

func (v *repaired) submitted(at core.Micros, data []byte, taken bool) *chunk.Violation {
	return v.sending.Submitted(at, erasure.Encode(data), taken)
}

func (v *repaired) arrive(now, at core.Micros, p, made any) *chunk.Violation {
	if m := made.(repair.Packet); m.Type == codec.TypeSlice {
		v.receiving.Arrived(at, m.Slice)
	} else {
		v.sending.Acked(at, m.Ack)
	}
	return v.give(now, p.(repair.Packet), v.isSlice(p), v.sending.Reported)
}

func (v *repaired) sent(at core.Micros, p any, size int, deadline core.Micros) *chunk.Violation {
	if v.isSlice(p) {
		return v.sending.Sent(at, p.(repair.Packet).Slice, size, deadline)
	}
	return v.receiving.Sent(at, p.(repair.Packet).Ack)
}

// owned returns a packet whose data are its own: the machine's are the application's.
func owned(p any) any {
	switch p := p.(type) {
	case codec.Packet:
		p.Slice.Data = bytes.Clone(p.Slice.Data)
		return p
	case repair.Packet:
		p.Slice.Data = bytes.Clone(p.Slice.Data)
		return p
	}
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
	case a.Acked.Empty():
		return fmt.Sprintf("hold of chunk %d (%d slices)", a.ChunkID, a.NumSlices)
	}
	return fmt.Sprintf("ack of chunk %d, %d of %d slices", a.ChunkID, a.Acked.Count(), a.NumSlices)
}
