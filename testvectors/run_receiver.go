package testvectors

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// RunReceiver takes a receiver through a trace (TRC-3). It fails with ErrUnsupported or
// ErrIncomplete.
func RunReceiver(cfg ReceiverConfig, events []Event) ([]Step, error) {
	if !cfg.valid() {
		return nil, fmt.Errorf("%w: the config", ErrIncomplete)
	}
	r := statemachine.NewReceiver(statemachine.ReceiverConfig{
		FirstChunkID: cfg.FirstChunkID, GiveUp: statemachine.Micros(cfg.GiveUpUS),
	})
	steps := make([]Step, len(events))
	for i, e := range events {
		step := &steps[i]
		step.Event, step.Packets = i, []Packet{}
		if err := receiverEvent(r, e, step); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		step.Row, step.State, step.ChunkID = r.Row().String(), r.State().String(), r.ChunkID()
		step.DeadlineUS = deadline(r.Deadline())
		received := AckedBits(r.Received(), r.NumSlices())
		step.Received = &received
	}
	return steps, nil
}

func receiverEvent(r *statemachine.Receiver, e Event, step *Step) error {
	if e.At < 0 || e.At >= 1<<62 {
		return ErrIncomplete
	}
	now := statemachine.Micros(e.At)
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
			c := contentOf(chunk)
			step.Chunk = &c
		}
	case "poll":
		for a, ok := r.Poll(now); ok; a, ok = r.Poll(now) {
			acked := AckedBits(a.Acked, a.NumSlices)
			step.Packets = append(step.Packets, Packet{Type: "ack", ChunkID: a.ChunkID, Acked: &acked})
		}
	default:
		return ErrUnsupported
	}
	return nil
}

// sliceOf returns the slice of an event; a decoder hands a receiver none that is
// not valid, and so does no trace.
func sliceOf(e Event) (codec.Slice, error) {
	if e.ChunkID == nil || e.SliceID == nil || e.NumSlices == nil || e.Size == nil ||
		*e.Size < 1 || *e.Size > codec.SliceSize || *e.SliceID < 0 || *e.SliceID >= codec.MaxSlices {
		return codec.Slice{}, ErrIncomplete
	}
	s := codec.Slice{
		ChunkID: *e.ChunkID, SliceID: *e.SliceID, NumSlices: *e.NumSlices,
		Data: sliceContent(*e.ChunkID, *e.SliceID, *e.Size, e.Fill),
	}
	if s.Validate() != nil {
		return codec.Slice{}, ErrIncomplete
	}
	return s, nil
}
