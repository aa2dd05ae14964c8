package connections

import (
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// This file gives the oracle's lanes their machines: the exact models of conform/sim/chunk, and the oracle
// of repair slices.

func newLaneSender(p Profile, giveUp int64) connectionoracle.ChunkSender {
	if p.Rule.Is {
		rule := repairoracle.NewRule(repairoracle.Profile{Rate: p.Rule.V.Rate, Burst: p.Rule.V.Burst, Fixed: p.Rule.V.Fixed, Redundant: p.Rule.V.Redundant})
		return repairSender{repairoracle.NewSender(0, giveUp, rule), rule}
	}
	b := p.Base
	return sliceSender{chunk.NewSenderModel(statemachine.SenderConfig{GiveUp: core.Micros(giveUp), Scheduler: chunk.NewBaseModel(base.Profile{
		Rate: 8 * b.Rate, Cap: b.Cap, Burst: b.Burst, AckPays: b.AcksPay, Spacing: core.Micros(b.SpacingUS), ResendDelay: core.Micros(b.ResendDelayUS),
	})})}
}

func newLaneReceiver(p Profile, giveUp int64) connectionoracle.ChunkReceiver {
	if p.Rule.Is {
		return repairReceiver{repairoracle.NewReceiver(0, giveUp)}
	}
	return sliceReceiver{chunk.NewReceiverModel(statemachine.ReceiverConfig{GiveUp: core.Micros(giveUp)})}
}

// sliceSender sends a chunk as slices of variant 1.
type sliceSender struct{ *chunk.SenderModel }

func (s sliceSender) Submit(now int64, data []byte) {
	if err := s.SenderModel.Submit(core.Micros(now), data); err != nil {
		panic(err) // its lane is idle, and the size was checked
	}
}

func (s sliceSender) Ack(now int64, r connectionoracle.Record) {
	var acked core.Set
	for i, bit := range r.Packet.Acked {
		if bit {
			acked.Add(i)
		}
	}
	s.HandleAck(core.Micros(now), codec.Ack{ChunkID: uint16(r.Packet.ChunkID), NumSlices: int(r.Packet.NumSlices), Acked: acked})
}

func (s sliceSender) Poll(now int64) (connectionoracle.Record, bool) {
	p, ok := s.SenderModel.Poll(core.Micros(now))
	return connectionoracle.Record{Packet: oracle.Packet{
		Type: oracle.TypeSlice, ChunkID: int64(p.ChunkID), SliceID: int64(p.SliceID), NumSlices: int64(p.NumSlices), Data: p.Data,
	}}, ok
}

func (s sliceSender) Deadline() int64 { return int64(s.SenderModel.Deadline()) }
func (s sliceSender) Idle() bool      { return s.Vars().State == statemachine.SenderIdle }
func (s sliceSender) Failed() bool    { return s.Err() != nil }
func (s sliceSender) AllSent() bool   { return s.Vars().Sent.Count() == s.Vars().NumSlices }

// sliceReceiver is the other machine.
type sliceReceiver struct{ *chunk.ReceiverModel }

func (r sliceReceiver) Slice(now int64, record connectionoracle.Record) {
	p := record.Packet
	r.HandleSlice(core.Micros(now), codec.Slice{ChunkID: uint16(p.ChunkID), SliceID: int(p.SliceID), NumSlices: int(p.NumSlices), Data: p.Data})
}

func (r sliceReceiver) Poll(now int64) (connectionoracle.Record, bool) {
	a, ok := r.ReceiverModel.Poll(core.Micros(now))
	acked := make([]bool, a.NumSlices)
	for i := range acked {
		acked[i] = a.Acked.Has(i)
	}
	return connectionoracle.Record{Packet: oracle.Packet{Type: oracle.TypeAck, ChunkID: int64(a.ChunkID), NumSlices: int64(a.NumSlices), Acked: acked}}, ok
}

func (r sliceReceiver) Read(now int64) ([]byte, bool) {
	data, err := r.ReceiverModel.Read(core.Micros(now), nil)
	return data, err == nil
}

func (r sliceReceiver) Deadline() int64 { return int64(r.ReceiverModel.Deadline()) }
func (r sliceReceiver) Failed() bool    { return r.Err() != nil }

// repairSender sends a chunk as repair slices by a rule.
type repairSender struct {
	*repairoracle.Sender
	rule *repairoracle.Rule
}

var _ connectionoracle.Sharer = repairSender{}

func (s repairSender) Submit(now int64, data []byte)            { s.Sender.Submit(now, data) }
func (s repairSender) Ack(now int64, r connectionoracle.Record) { s.Sender.Ack(now, r.Repair) }
func (s repairSender) Idle() bool                               { return s.State() == repairoracle.StateIdle }
func (s repairSender) Failed() bool                             { return s.State() == repairoracle.StateFailed }
func (s repairSender) AllSent() bool                            { return s.rule.Enough() }
func (s repairSender) PathSlices() int64                        { return s.rule.PathSlices() }
func (s repairSender) InFlight() int64                          { return s.rule.InFlight() }
func (s repairSender) Yield(yields bool)                        { s.rule.Yield(yields) }
func (s repairSender) Marked(_, n int64)                        { s.rule.Marked(n) }
func (s repairSender) Deadline() int64                          { return orNever(s.Sender.Deadline()) }

func (s repairSender) Adopt(before connectionoracle.ChunkSender) {
	s.rule.Adopt(before.(repairSender).rule)
}

func (s repairSender) Poll(now int64) (r connectionoracle.Record, ok bool) {
	_, p := s.Sender.Poll(now)
	if p != nil {
		r.Repair = *p
	}
	return r, p != nil
}

func orNever(at int64, some bool) int64 {
	if !some {
		return math.MaxInt64
	}
	return at
}

// repairReceiver is the other machine.
type repairReceiver struct{ *repairoracle.Receiver }

func (r repairReceiver) Slice(now int64, record connectionoracle.Record) {
	r.Receiver.Slice(now, record.Repair)
}

func (r repairReceiver) Poll(now int64) (record connectionoracle.Record, ok bool) {
	_, p := r.Receiver.Poll(now)
	if p != nil {
		record.Repair = *p
	}
	return record, p != nil
}

func (r repairReceiver) Read(now int64) ([]byte, bool) {
	_, chunk := r.Receiver.Read(now)
	return chunk, chunk != nil
}

func (r repairReceiver) Deadline() int64 { return orNever(r.Receiver.Deadline()) }
func (r repairReceiver) Failed() bool    { return r.State() == repairoracle.StateFailed }
