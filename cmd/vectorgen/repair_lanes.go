package main

import (
	"math"

	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/oracle/connection"
	"github.com/chunkwire/chunkwire/testvectors/oracle/repair"
)

// This file gives the traces of connections the lanes with repair slices: their oracle.

// repairLane is a sender of a lane, and its rule.
type repairLane struct {
	*repair.Sender
	rule *repair.Rule
}

var _ connection.Sharer = repairLane{}

func newRule(p contract.RepairProfile) *repair.Rule {
	return repair.NewRule(repair.Profile{Rate: p.Rate, Burst: p.Burst, Fixed: p.Fixed, Redundant: p.Redundant})
}

func newRepairLane(p contract.RepairProfile, giveUp int64) func() connection.ChunkSender {
	return func() connection.ChunkSender {
		rule := newRule(p)
		return repairLane{repair.NewSender(0, giveUp, rule), rule}
	}
}

func (s repairLane) Submit(now int64, data []byte)       { s.Sender.Submit(now, data) }
func (s repairLane) Ack(now int64, r connection.Record)  { s.Sender.Ack(now, r.Repair) }
func (s repairLane) Idle() bool                          { return s.State() == repair.StateIdle }
func (s repairLane) Failed() bool                        { return s.State() == repair.StateFailed }
func (s repairLane) AllSent() bool                       { return s.rule.Enough() }
func (s repairLane) Adopt(before connection.ChunkSender) { s.rule.Adopt(before.(repairLane).rule) }
func (s repairLane) PathSlices() int64                   { return s.rule.PathSlices() }
func (s repairLane) InFlight() int64                     { return s.rule.InFlight() }
func (s repairLane) Yield(yields bool)                   { s.rule.Yield(yields) }

func (s repairLane) Poll(now int64) (r connection.Record, ok bool) {
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
type repairLaneReceiver struct{ *repair.Receiver }

func newRepairLaneReceiver(giveUp int64) func() connection.ChunkReceiver {
	return func() connection.ChunkReceiver { return repairLaneReceiver{repair.NewReceiver(0, giveUp)} }
}

func (r repairLaneReceiver) Slice(now int64, record connection.Record) {
	r.Receiver.Slice(now, record.Repair)
}

func (r repairLaneReceiver) Poll(now int64) (record connection.Record, ok bool) {
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
func (r repairLaneReceiver) Failed() bool    { return r.State() == repair.StateFailed }
