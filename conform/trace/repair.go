package trace

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RunRepairReceiver takes a receiver of repair slices through a trace (RPO-7, RPO-8). It fails
// with ErrUnsupported or ErrBadRequest.
func RunRepairReceiver(cfg contract.ReceiverConfig, events []contract.RepairEvent) ([]contract.RepairStep, error) {
	wait, err := giveUp(cfg.GiveUpUS)
	if err != nil {
		return nil, fmt.Errorf("%w: the config", err)
	}
	r, err := statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair, FirstChunkID: cfg.FirstChunkID, GiveUp: wait})
	if err != nil {
		return nil, err
	}
	steps := make([]contract.RepairStep, len(events))
	for i, e := range events {
		step := &steps[i]
		step.Event, step.Packets = i, []contract.RepairSent{}
		if err := repairReceiverEvent(r, e, step); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		v, inconsistent := r.Vars(), int(r.Stats().Inconsistent)
		step.Row, step.State, step.ChunkID, step.Have, step.Top = string(v.Row), v.State.String(), v.ChunkID, v.Have, v.Top
		step.Inconsistent, step.DeadlineUS = &inconsistent, deadline(r.Deadline())
	}
	return steps, nil
}

func repairReceiverEvent(r *statemachine.Receiver, e contract.RepairEvent, step *contract.RepairStep) error {
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case "slice":
		s, err := repairSlice(e)
		if err != nil {
			return err
		}
		r.HandleSlice(now, s)
	case "read":
		chunk, err := r.Read(now, nil)
		if step.Error = refusal(err); err == nil {
			c := Content(chunk)
			step.Chunk = &c
		}
	case "poll":
		for a, ok := r.Poll(now); ok; a, ok = r.Poll(now) {
			step.Packets = append(step.Packets, contract.RepairSent{Type: contract.TypeAck, ChunkID: a.ChunkID, NumSlices: a.NumSlices, Have: &a.Have, Top: &a.Top})
		}
	default:
		return ErrUnsupported
	}
	return nil
}

// repairSlice returns the slice of an event. A trace has none that a decoder would refuse.
func repairSlice(e contract.RepairEvent) (s codec.Slice, err error) {
	if e.ChunkID == nil || e.SliceID == nil || e.NumSlices == nil || e.LastBytes == nil {
		return s, ErrBadRequest
	}
	s = codec.Slice{ChunkID: *e.ChunkID, SliceID: *e.SliceID, NumSlices: *e.NumSlices, LastBytes: *e.LastBytes}
	if s.NumSlices < 1 || s.NumSlices > codec.MaxSlices || s.LastBytes < 1 || s.LastBytes > codec.SliceSize {
		return s, ErrBadRequest
	}
	s.Data = erasure.Encode(Data(s.ChunkID, codec.SliceSize*(s.NumSlices-1)+s.LastBytes)).Slice(s.SliceID)
	if e.Fill != nil {
		s.Data = bytes.Repeat([]byte{*e.Fill}, len(s.Data))
	}
	if codec.Repair.ValidateSlice(&s) != nil {
		return s, ErrBadRequest
	}
	return s, nil
}

// RunRepairSender takes a sender of repair slices through a trace (RPO-6, RPO-8). It fails with
// ErrUnsupported or ErrBadRequest.
func RunRepairSender(cfg contract.RepairSenderConfig, events []contract.RepairEvent) ([]contract.RepairStep, error) {
	wait, err := giveUp(cfg.GiveUpUS)
	if err != nil {
		return nil, fmt.Errorf("%w: the config", err)
	}
	var scheduler statemachine.Scheduler
	due := new(counted)
	if scheduler = due; cfg.Profile != nil {
		due = nil
		if scheduler, err = NewRule(*cfg.Profile); err != nil {
			return nil, fmt.Errorf("%w: the config", err)
		}
	}
	s, err := statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, FirstChunkID: cfg.FirstChunkID, GiveUp: wait, Scheduler: scheduler})
	if err != nil {
		return nil, err
	}
	steps := make([]contract.RepairStep, len(events))
	for i, e := range events {
		step := &steps[i]
		step.Event, step.Packets = i, []contract.RepairSent{}
		if err := repairSenderEvent(s, due, e, step); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		v := s.Vars()
		step.Row, step.State, step.ChunkID, step.Have, step.Top = string(v.Row), v.State.String(), v.ChunkID, v.Have, v.Top
		step.Sent, step.DeadlineUS = &v.Transmissions, deadline(s.Deadline())
	}
	return steps, nil
}

func repairSenderEvent(s *statemachine.Sender, due *counted, e contract.RepairEvent, step *contract.RepairStep) error {
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case "submit":
		if e.Size == nil || *e.Size < 0 || *e.Size > 2*codec.MaxChunkSize {
			return ErrBadRequest
		}
		step.Error = refusal(s.Submit(now, Data(s.Vars().ChunkID, *e.Size)))
	case "ack":
		if e.ChunkID == nil || e.NumSlices == nil || e.Have == nil || e.Top == nil {
			return ErrBadRequest
		}
		a := codec.Ack{ChunkID: *e.ChunkID, NumSlices: *e.NumSlices, Have: *e.Have, Top: *e.Top}
		if codec.Repair.ValidateAck(&a) != nil {
			return ErrBadRequest
		}
		s.HandleAck(now, a)
	case "poll":
		if !due.set(e.Due, s.Vars().State) {
			return ErrBadRequest
		}
		for p, ok := s.Poll(now); ok; p, ok = s.Poll(now) {
			c := Content(p.Data)
			step.Packets = append(step.Packets, contract.RepairSent{
				Type: contract.TypeSlice, ChunkID: p.ChunkID, SliceID: &p.SliceID, NumSlices: p.NumSlices, LastBytes: &p.LastBytes, Size: &c.Size, CRC32: &c.CRC32,
			})
		}
	default:
		return ErrUnsupported
	}
	return nil
}

// counted is the scripted scheduler: as many slices go out as a trace says.
type counted struct {
	statemachine.NoPath
	due int
}

// mostDue is the most that go out at a poll (RPO-6).
const mostDue = 16_384

// set takes what a poll says, and reports whether it may: with another scheduler, or without a
// chunk in flight, nothing is due.
func (c *counted) set(due *int, state statemachine.SenderState) bool {
	n := 0
	if due != nil {
		n = *due
	}
	if c != nil {
		c.due = n
	}
	return n == 0 || n > 0 && n <= mostDue && c != nil && state == statemachine.SenderSending
}

func (*counted) Begin(statemachine.Flight)                {}
func (*counted) Held(core.Micros)                         {}
func (*counted) Acked(core.Micros, statemachine.Progress) {}
func (*counted) Deadline() core.Micros                    { return core.Never }
func (*counted) Stats() (none statemachine.ScheduleStats) { return none }
func (c *counted) Next(core.Micros) (number int, due bool) {
	if due = c.due > 0; due {
		c.due--
	}
	return 0, due
}

// NewRule returns the sender's rule with a trace's profile (RPO-5). It fails with ErrBadRequest.
func NewRule(p contract.RepairProfile) (*rateless.Scheduler, error) {
	profile := rateless.Default()
	switch {
	case p.Burst && p.Fixed || p.Burst && p.Redundant || p.Fixed && p.Redundant:
		return nil, ErrBadRequest
	case p.Burst:
		profile = rateless.Burst()
	case p.Fixed:
		profile = rateless.Fixed(p.Rate)
	case p.Redundant:
		profile = rateless.Redundant()
	}
	profile.MaxRate = p.Rate
	s, err := rateless.New(profile)
	if err != nil {
		return nil, ErrBadRequest
	}
	return s, nil
}
