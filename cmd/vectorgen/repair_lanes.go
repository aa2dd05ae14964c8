package main

import (
	"math"

	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

// This file gives the traces of connections the lanes with repair slices: their oracle.

// repairLane is a sender of a lane, and its rule.
type repairLane struct {
	*repairoracle.Sender
	rule *repairoracle.Rule
}

var _ connectionoracle.Sharer = repairLane{}

func newRule(p contract.RepairProfile) *repairoracle.Rule {
	return repairoracle.NewRule(repairoracle.Profile{Rate: p.Rate, Burst: p.Burst, Fixed: p.Fixed, Redundant: p.Redundant})
}

func newRepairLane(p contract.RepairProfile, giveUp int64) func() connectionoracle.ChunkSender {
	return func() connectionoracle.ChunkSender {
		rule := newRule(p)
		return repairLane{repairoracle.NewSender(0, giveUp, rule), rule}
	}
}

func (s repairLane) Submit(now int64, data []byte)            { s.Sender.Submit(now, data) }
func (s repairLane) Ack(now int64, r connectionoracle.Record) { s.Sender.Ack(now, r.Repair) }
func (s repairLane) Idle() bool                               { return s.State() == repairoracle.StateIdle }
func (s repairLane) Failed() bool                             { return s.State() == repairoracle.StateFailed }
func (s repairLane) AllSent() bool                            { return s.rule.Enough() }
func (s repairLane) Adopt(before connectionoracle.ChunkSender) {
	s.rule.Adopt(before.(repairLane).rule)
}
func (s repairLane) PathSlices() int64 { return s.rule.PathSlices() }
func (s repairLane) InFlight() int64   { return s.rule.InFlight() }
func (s repairLane) Yield(yields bool) { s.rule.Yield(yields) }
func (s repairLane) Marked(_, n int64) { s.rule.Marked(n) }

func (s repairLane) Poll(now int64) (r connectionoracle.Record, ok bool) {
	_, p := s.Sender.Poll(now)
	if p != nil {
		r.Repair = *p
	}
	return r, p != nil
}

func (s repairLane) Deadline() int64 { return orNever(s.Sender.Deadline()) }

func orNever(at int64, some bool) int64 {
	if !some {
		return math.MaxInt64
	}
	return at
}

// repairLaneReceiver is a receiver of a lane.
type repairLaneReceiver struct{ *repairoracle.Receiver }

func newRepairLaneReceiver(giveUp int64) func() connectionoracle.ChunkReceiver {
	return func() connectionoracle.ChunkReceiver { return repairLaneReceiver{repairoracle.NewReceiver(0, giveUp)} }
}

func (r repairLaneReceiver) Slice(now int64, record connectionoracle.Record) {
	r.Receiver.Slice(now, record.Repair)
}

func (r repairLaneReceiver) Poll(now int64) (record connectionoracle.Record, ok bool) {
	_, p := r.Receiver.Poll(now)
	if p != nil {
		record.Repair = *p
	}
	return record, p != nil
}

func (r repairLaneReceiver) Read(now int64) ([]byte, bool) {
	_, chunk := r.Receiver.Read(now)
	return chunk, chunk != nil
}

func (r repairLaneReceiver) Deadline() int64 { return orNever(r.Receiver.Deadline()) }
func (r repairLaneReceiver) Failed() bool    { return r.State() == repairoracle.StateFailed }

// repairRecord is a record of a lane.
func repairRecord(lane int64, p repairoracle.Packet) connectionoracle.Record {
	kind := connectionoracle.Slice
	if p.Type == repairoracle.TypeAck {
		kind = connectionoracle.ChunkAck
	}
	return connectionoracle.Record{Type: kind, Lane: lane, Repair: p}
}

// arrivingRepairSlice is a slice of a chunk of TRC-1.
func arrivingRepairSlice(lane, chunkID, id, numSlices, last int64) connectionoracle.Record {
	p := repairSliceOf(chunkID, id, numSlices, last)
	p.Data = repairoracle.Slice(trace.Data(uint16(chunkID), int(repairoracle.SliceSize*(numSlices-1)+last)), id)
	return repairRecord(lane, p)
}
