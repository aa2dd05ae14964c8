package testvectors

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

var (
	// ErrUnsupported says that a trace has an event that its machine does not know.
	ErrUnsupported = errors.New("testvectors: no such event")
	// ErrIncomplete says that an event lacks a field that it needs, or that a
	// field has a value that no trace can have.
	ErrIncomplete = errors.New("testvectors: an event without what it needs")
)

// RunSender takes a sender through a trace (TRC-2). It fails with ErrUnsupported or
// ErrIncomplete.
func RunSender(cfg SenderConfig, events []Event) ([]Step, error) {
	if !cfg.valid() {
		return nil, fmt.Errorf("%w: the config", ErrIncomplete)
	}
	script := &scriptedScheduler{}
	var scheduler statemachine.Scheduler = script
	if p := cfg.Profile; p != nil {
		scheduler = statemachine.NewBase(statemachine.Profile{
			Rate: p.Rate, Cap: p.Cap, Burst: p.Burst, AckPays: p.AcksPay,
			Spacing: statemachine.Micros(p.SpacingUS), ResendDelay: statemachine.Micros(p.ResendDelayUS),
		})
	}
	s := statemachine.NewSender(statemachine.SenderConfig{
		FirstChunkID: cfg.FirstChunkID, GiveUp: statemachine.Micros(cfg.GiveUpUS), Scheduler: scheduler,
	})
	steps := make([]Step, len(events))
	for i, e := range events {
		step := &steps[i]
		step.Event, step.Packets = i, []Packet{}
		if err := senderEvent(s, script, e, step); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		step.Row, step.State, step.ChunkID = s.Row().String(), s.State().String(), s.ChunkID()
		step.DeadlineUS = deadline(s.Deadline())
		acked := ""
		if s.State() == statemachine.SenderSending {
			acked = AckedBits(s.Acked(), s.NumSlices())
		}
		step.Acked = &acked
	}
	return steps, nil
}

func senderEvent(s *statemachine.Sender, script *scriptedScheduler, e Event, step *Step) error {
	if e.At < 0 || e.At >= 1<<62 {
		return ErrIncomplete
	}
	now := statemachine.Micros(e.At)
	switch e.Event {
	case "submit":
		if e.Size == nil || *e.Size < 0 || *e.Size > 2*codec.MaxChunkSize {
			return ErrIncomplete
		}
		step.Error = refusal(s.Submit(now, ChunkContent(s.ChunkID(), *e.Size)))
	case "ack":
		if e.ChunkID == nil || e.Acked == nil {
			return ErrIncomplete
		}
		set, n, err := ParseAcked(*e.Acked)
		if err != nil {
			return ErrIncomplete
		}
		s.HandleAck(now, codec.Ack{ChunkID: *e.ChunkID, NumSlices: n, Acked: set})
	case "poll":
		if !dueIsValid(s, script, e.Due) {
			return ErrIncomplete
		}
		script.due = e.Due
		for p, ok := s.Poll(now); ok; p, ok = s.Poll(now) {
			step.Packets = append(step.Packets, slicePacket(p))
		}
	default:
		return ErrUnsupported
	}
	return nil
}

// dueIsValid reports whether a script names slices that may be sent (SCH-1); with
// another scheduler there is none.
func dueIsValid(s *statemachine.Sender, script *scriptedScheduler, due []int) bool {
	acked := s.Acked()
	for _, id := range due {
		if !script.used || s.State() != statemachine.SenderSending || id < 0 || id >= s.NumSlices() || acked.Has(id) {
			return false
		}
	}
	return true
}

func slicePacket(s codec.Slice) Packet {
	c := contentOf(s.Data)
	return Packet{Type: "slice", ChunkID: s.ChunkID, SliceID: &s.SliceID, NumSlices: &s.NumSlices, Size: &c.Size, CRC32: &c.CRC32}
}

// refusal names why an application's call was refused.
func refusal(err error) string {
	switch {
	case errors.Is(err, statemachine.ErrChunkSize):
		return "chunk_size"
	case errors.Is(err, statemachine.ErrBusy):
		return "busy"
	case errors.Is(err, statemachine.ErrGaveUp):
		return "gave_up"
	case errors.Is(err, statemachine.ErrNothingToRead):
		return "nothing_to_read"
	}
	return ""
}

func deadline(at statemachine.Micros) *int64 {
	if at == statemachine.Never {
		return nil
	}
	us := int64(at)
	return &us
}

// scriptedScheduler returns what a trace says, so that the sender's table can
// be tested without any way to choose slices.
type scriptedScheduler struct {
	due  []int
	used bool // a chunk has begun with it
}

func (s *scriptedScheduler) Begin(statemachine.Flight)              { s.used = true }
func (*scriptedScheduler) Held(statemachine.Micros)                 {}
func (*scriptedScheduler) Acked(statemachine.Micros, codec.Bitset)  {}
func (*scriptedScheduler) Deadline() statemachine.Micros            { return statemachine.Never }
func (*scriptedScheduler) Stats() (none statemachine.ScheduleStats) { return none }
func (s *scriptedScheduler) Next(statemachine.Micros) (id int, some bool) {
	if len(s.due) == 0 {
		return 0, false
	}
	id, s.due = s.due[0], s.due[1:]
	return id, true
}
