package trace

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RunReceiver takes a receiver through a trace (TRC-3). It fails with
// ErrUnsupported or ErrBadRequest.
func RunReceiver(cfg contract.ReceiverConfig, events []contract.Event) ([]contract.Step, error) {
	c, err := receiverConfig(cfg)
	if err != nil {
		return nil, err
	}
	r, err := statemachine.NewReceiver(c)
	if err != nil {
		return nil, err
	}
	return runReceiver(r, events)
}

func runReceiver(r chunk.ReceiverMachine, events []contract.Event) ([]contract.Step, error) {
	steps := make([]contract.Step, len(events))
	for i, e := range events {
		step := &steps[i]
		step.Event, step.Packets = i, []contract.Sent{}
		if err := receiverEvent(r, e, step); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		v := r.Vars()
		step.Row, step.State, step.ChunkID = string(v.Row), v.State.String(), v.ChunkID
		step.DeadlineUS = deadline(r.Deadline())
		received := contract.Bits(v.Received, v.NumSlices)
		step.Received = &received
	}
	return steps, nil
}

func receiverConfig(cfg contract.ReceiverConfig) (c statemachine.ReceiverConfig, err error) {
	c.FirstChunkID = cfg.FirstChunkID
	if c.GiveUp, err = giveUp(cfg.GiveUpUS); err != nil {
		return c, fmt.Errorf("%w: the config", err)
	}
	return c, nil
}

func receiverEvent(r chunk.ReceiverMachine, e contract.Event, step *contract.Step) error {
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case "slice":
		s, err := sliceOf(e)
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
			acked := contract.Bits(a.Acked, a.NumSlices)
			step.Packets = append(step.Packets, contract.Sent{Type: contract.TypeAck, ChunkID: a.ChunkID, Acked: &acked})
		}
	default:
		return ErrUnsupported
	}
	return nil
}

// sliceOf returns the slice of an event. A trace has none that a decoder would
// refuse.
func sliceOf(e contract.Event) (codec.Slice, error) {
	if e.ChunkID == nil || e.SliceID == nil || e.NumSlices == nil || e.Size == nil ||
		*e.Size < 1 || *e.Size > codec.SliceSize || *e.SliceID < 0 || *e.SliceID >= codec.MaxSlices {
		return codec.Slice{}, ErrBadRequest
	}
	s := codec.Slice{
		ChunkID: *e.ChunkID, SliceID: *e.SliceID, NumSlices: *e.NumSlices,
		Data: sliceData(*e.ChunkID, *e.SliceID, *e.Size, e.Fill),
	}
	if codec.Named.ValidateSlice(&s) != nil {
		return codec.Slice{}, ErrBadRequest
	}
	return s, nil
}
