package connections

import (
	"math"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// This file gives the oracle's lanes their machines.

func newLaneSender(p Profile, giveUp int64) connectionoracle.ChunkSender {
	if p.Rule.Is {
		rule := p.Rule.V.Oracle()
		return ruledSender{laneSender{chunkoracle.NewSender(chunkoracle.Repair, 0, giveUp, rule)}, rule.Rule}
	}
	return laneSender{chunkoracle.NewSender(chunkoracle.Named, 0, giveUp, p.Base.Oracle())}
}

func newLaneReceiver(p Profile, giveUp int64) connectionoracle.ChunkReceiver {
	if p.Rule.Is {
		return laneReceiver{chunkoracle.NewReceiver(chunkoracle.Repair, 0, giveUp)}
	}
	return laneReceiver{chunkoracle.NewReceiver(chunkoracle.Named, 0, giveUp)}
}

// laneSender is a sender whose packets are records.
type laneSender struct{ *chunkoracle.Sender }

func (s laneSender) Submit(now int64, data []byte) { s.Sender.Submit(now, data) }

func (s laneSender) Ack(now int64, r connectionoracle.Record) {
	p := r.Packet
	s.Sender.Ack(now, chunkoracle.Ack{ChunkID: p.ChunkID, NumSlices: p.NumSlices, Acked: p.Acked, Have: p.Have, Top: p.Top})
}

func (s laneSender) Poll(now int64) (r connectionoracle.Record, ok bool) {
	_, p := s.Sender.Poll(now)
	if p == nil {
		return r, false
	}
	r.Packet = oracle.Packet{ChunkID: p.ChunkID, SliceID: p.SliceID, NumSlices: p.NumSlices, LastBytes: p.LastBytes, Data: p.Data}
	return r, true
}

func (s laneSender) Deadline() int64 { return orNever(s.Sender.Deadline()) }
func (s laneSender) Idle() bool      { return s.State() == chunkoracle.StateIdle }
func (s laneSender) Failed() bool    { return s.State() == chunkoracle.StateFailed }
func (s laneSender) AllSent() bool   { return s.Transmissions() == s.NumSlices() }

// ruledSender is one of repair slices, whose rule shares the path with others.
type ruledSender struct {
	laneSender
	rule *repairoracle.Rule
}

var _ connectionoracle.Sharer = ruledSender{}

func (s ruledSender) AllSent() bool     { return s.rule.Enough() }
func (s ruledSender) PathSlices() int64 { return s.rule.PathSlices() }
func (s ruledSender) InFlight() int64   { return s.rule.InFlight() }
func (s ruledSender) Yield(yields bool) { s.rule.Yield(yields) }
func (s ruledSender) Marked(_, n int64) { s.rule.Marked(n) }

func (s ruledSender) Adopt(before connectionoracle.ChunkSender) {
	s.rule.Adopt(before.(ruledSender).rule)
}

func orNever(at int64, some bool) int64 {
	if !some {
		return math.MaxInt64
	}
	return at
}

// laneReceiver is the other machine.
type laneReceiver struct{ *chunkoracle.Receiver }

func (r laneReceiver) Slice(now int64, record connectionoracle.Record) {
	p := record.Packet
	r.Receiver.Slice(now, chunkoracle.Slice{ChunkID: p.ChunkID, SliceID: p.SliceID, NumSlices: p.NumSlices, LastBytes: p.LastBytes, Data: p.Data})
}

func (r laneReceiver) Poll(now int64) (record connectionoracle.Record, ok bool) {
	_, a := r.Receiver.Poll(now)
	if a == nil {
		return record, false
	}
	record.Packet = oracle.Packet{ChunkID: a.ChunkID, NumSlices: a.NumSlices, Acked: a.Acked, Have: a.Have, Top: a.Top}
	return record, true
}

func (r laneReceiver) Read(now int64) ([]byte, bool) {
	_, chunk := r.Receiver.Read(now)
	return chunk, chunk != nil
}

func (r laneReceiver) Deadline() int64 { return orNever(r.Receiver.Deadline()) }
func (r laneReceiver) Failed() bool    { return r.State() == chunkoracle.StateFailed }
