package main

import (
	"bytes"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file runs the oracle's machines of repair slices through traces.

// repairReceiverResponse runs a receiver through a trace.
func repairReceiverResponse(cfg contract.ReceiverConfig, events []contract.RepairEvent) contract.RepairTraceResponse {
	r := newRepairReceiver(cfg)
	a := contract.RepairTraceResponse{Answer: ok, Steps: []contract.RepairStep{}}
	for i, e := range events {
		a.Steps = append(a.Steps, repairReceiverStep(r, i, e))
	}
	return a
}

func newRepairReceiver(cfg contract.ReceiverConfig) *repairoracle.Receiver {
	return repairoracle.NewReceiver(int64(cfg.FirstChunkID), cfg.GiveUpUS)
}

func repairReceiverStep(r *repairoracle.Receiver, i int, e contract.RepairEvent) contract.RepairStep {
	step := contract.RepairStep{Event: i, Packets: []contract.RepairSent{}}
	switch e.Event {
	case "slice":
		step.Row = r.Slice(e.At, arrivingSlice(e))
	case "read":
		row, chunk := r.Read(e.At)
		if step.Row = row; chunk == nil {
			step.Error = "nothing_to_read"
		} else {
			content := contentOf(chunk)
			step.Chunk = &content
		}
	case "poll":
		for more := true; more; {
			row, ack := r.Poll(e.At)
			if step.Row = row; ack != nil {
				have, top := int(ack.Have), int(ack.Top)
				step.Packets = append(step.Packets, contract.RepairSent{Type: ack.Type, ChunkID: uint16(ack.ChunkID), NumSlices: int(ack.NumSlices), Have: &have, Top: &top})
			}
			more = ack != nil
		}
	}
	inconsistent := int(r.Inconsistent())
	step.State, step.ChunkID, step.Have, step.Top, step.Inconsistent = r.State(), uint16(r.ChunkID()), int(r.Have()), int(r.Top()), &inconsistent
	step.DeadlineUS = deadlineOf(r.Deadline())
	return step
}

// arrivingSlice is the slice of an event.
func arrivingSlice(e contract.RepairEvent) repairoracle.Packet {
	p := repairoracle.Packet{
		Type: repairoracle.TypeSlice, ChunkID: int64(*e.ChunkID), SliceID: int64(*e.SliceID), NumSlices: int64(*e.NumSlices), LastBytes: int64(*e.LastBytes),
	}
	if e.Fill != nil {
		p.Data = bytes.Repeat([]byte{*e.Fill}, int(repairoracle.DataSize(p.NumSlices, p.LastBytes, p.SliceID)))
	} else {
		p.Data = repairoracle.Slice(trace.Data(*e.ChunkID, repairoracle.SliceSize*(*e.NumSlices-1)+*e.LastBytes), p.SliceID)
	}
	return p
}

// tracedSender is a sender in a trace.
type tracedSender struct {
	*repairoracle.Sender
	script *repairoracle.Script // nil: it follows the rule
}

// repairSenderResponse runs a sender through a trace.
func repairSenderResponse(cfg contract.RepairSenderConfig, events []contract.RepairEvent) contract.RepairTraceResponse {
	s := newRepairSender(cfg)
	a := contract.RepairTraceResponse{Answer: ok, Steps: []contract.RepairStep{}}
	for i, e := range events {
		a.Steps = append(a.Steps, s.step(i, e))
	}
	return a
}

func newRepairSender(cfg contract.RepairSenderConfig) tracedSender {
	if p := cfg.Profile; p != nil {
		rule := repairoracle.Profile{Rate: p.Rate, Burst: p.Burst, Fixed: p.Fixed, Redundant: p.Redundant}
		return tracedSender{Sender: repairoracle.NewSender(int64(cfg.FirstChunkID), cfg.GiveUpUS, repairoracle.NewRule(rule))}
	}
	t := tracedSender{script: &repairoracle.Script{}}
	t.Sender = repairoracle.NewSender(int64(cfg.FirstChunkID), cfg.GiveUpUS, t.script)
	return t
}

func (t tracedSender) step(i int, e contract.RepairEvent) contract.RepairStep {
	step := contract.RepairStep{Event: i, Packets: []contract.RepairSent{}}
	switch e.Event {
	case "submit":
		step.Row, step.Error = t.Submit(e.At, trace.Data(uint16(t.ChunkID()), *e.Size))
	case "ack":
		step.Row = t.Ack(e.At, repairoracle.Packet{Type: repairoracle.TypeAck, ChunkID: int64(*e.ChunkID), NumSlices: int64(*e.NumSlices), Have: int64(*e.Have), Top: int64(*e.Top)})
	case "poll":
		if t.script != nil && e.Due != nil {
			t.script.Due = int64(*e.Due)
		}
		for more := true; more; {
			row, p := t.Poll(e.At)
			if step.Row = row; p != nil {
				id, last, content := int(p.SliceID), int(p.LastBytes), contentOf(p.Data)
				step.Packets = append(step.Packets, contract.RepairSent{
					Type: p.Type, ChunkID: uint16(p.ChunkID), SliceID: &id, NumSlices: int(p.NumSlices), LastBytes: &last, Size: &content.Size, CRC32: &content.CRC32,
				})
			}
			more = p != nil
		}
		if t.script != nil {
			t.script.Due = 0
		}
	}
	sent := int(t.Sent())
	step.State, step.ChunkID, step.Sent, step.Have, step.Top = t.State(), uint16(t.ChunkID()), &sent, int(t.Have()), int(t.Top())
	step.DeadlineUS = deadlineOf(t.Deadline())
	return step
}

// contentOf stands for data.
func contentOf(data []byte) contract.Content {
	return contract.Content{Size: len(data), CRC32: stream.CRC32(data)}
}

func deadlineOf(at int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &at
}
