package trace

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RunSender takes a sender through a trace (TRC-2). It fails with ErrUnsupported or
// ErrBadRequest.
func RunSender(cfg contract.SenderConfig, events []contract.Event) ([]contract.Step, error) {
	_, steps, err := takenThrough(cfg, events)
	return steps, err
}

// SenderStats returns what a sender knows after a trace, its scheduler included.
func SenderStats(cfg contract.SenderConfig, events []contract.Event) (statemachine.SenderStats, error) {
	s, _, err := takenThrough(cfg, events)
	if err != nil {
		return statemachine.SenderStats{}, err
	}
	return s.Stats(), nil
}

// takenThrough returns a new sender after a trace, and its steps.
func takenThrough(cfg contract.SenderConfig, events []contract.Event) (*statemachine.Sender, []contract.Step, error) {
	script := &script{}
	c, err := senderConfig(cfg, script)
	if err != nil {
		return nil, nil, err
	}
	s, err := statemachine.NewSender(c)
	if err != nil {
		return nil, nil, err
	}
	steps, err := runSender(s, script, hosts(c.Scheduler), events)
	return s, steps, err
}

func runSender(s chunk.SenderMachine, script *script, hosts []statemachine.Scheduler, events []contract.Event) ([]contract.Step, error) {
	steps := make([]contract.Step, len(events))
	for i, e := range events {
		step := &steps[i]
		step.Event, step.Packets = i, []contract.Sent{}
		err := hostEvent(hosts, e)
		if errors.Is(err, ErrUnsupported) {
			err = senderEvent(s, script, e, step)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		v := s.Vars()
		step.Row, step.State, step.ChunkID = string(v.Row), v.State.String(), v.ChunkID
		step.DeadlineUS = deadline(s.Deadline())
		acked := ""
		if v.State == statemachine.SenderSending {
			acked = contract.Bits(v.Acked, v.NumSlices)
		}
		step.Acked = &acked
	}
	return steps, nil
}

// senderConfig returns the configuration of a sender with the scheduler of its profile, or
// without one with the script.
func senderConfig(cfg contract.SenderConfig, script *script) (c statemachine.SenderConfig, err error) {
	c.FirstChunkID, c.Scheduler = cfg.FirstChunkID, script
	c.GiveUp, err = giveUp(cfg.GiveUpUS)
	switch {
	case err != nil:
	case cfg.Recovery != nil:
		c.Scheduler, err = NewRecovery(*cfg.Recovery)
	case cfg.Profile != nil:
		c.Scheduler, err = NewScheduler(*cfg.Profile)
	}
	if err != nil {
		return c, fmt.Errorf("%w: the config", err)
	}
	return c, nil
}

// longest is the longest spacing and resend delay of a trace, in microseconds.
const longest = 1_000_000_000

// NewScheduler returns the base algorithm with a trace's profile. It fails with
// ErrBadRequest.
func NewScheduler(p contract.Profile) (*base.Scheduler, error) {
	if p.Rate < 0 || p.Rate > statemachine.MaxRate/8 || p.SpacingUS > longest || p.ResendDelayUS > longest {
		return nil, ErrBadRequest
	}
	b, err := base.New(profile(p))
	if errors.Is(err, core.ErrConfig) {
		return nil, ErrBadRequest
	}
	return b, err
}

// profile returns a profile whose rate is in bits a second instead of bytes.
func profile(p contract.Profile) base.Profile {
	return base.Profile{
		Rate: 8 * p.Rate, Cap: p.Cap, Burst: p.Burst, AckPays: p.AcksPay,
		Spacing: core.Micros(p.SpacingUS), ResendDelay: core.Micros(p.ResendDelayUS),
	}
}

func senderEvent(s chunk.SenderMachine, script *script, e contract.Event, step *contract.Step) error {
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
		if e.ChunkID == nil || e.Acked == nil {
			return ErrBadRequest
		}
		set, n, err := contract.ParseBits(*e.Acked)
		if err != nil {
			return ErrBadRequest
		}
		s.HandleAck(now, codec.Ack{ChunkID: *e.ChunkID, NumSlices: n, Acked: set})
	case "poll":
		if !dueIsValid(s.Vars(), script, e.Due) {
			return ErrBadRequest
		}
		script.due = e.Due
		for p, ok := s.Poll(now); ok; p, ok = s.Poll(now) {
			step.Packets = append(step.Packets, sentSlice(p))
		}
	default:
		return ErrUnsupported
	}
	return nil
}

// dueIsValid reports whether a script names slices that may be sent (SCH-1); with
// another scheduler there is none.
func dueIsValid(v statemachine.SenderVars, script *script, due []int) bool {
	for _, id := range due {
		if !script.used || v.State != statemachine.SenderSending || id < 0 || id >= v.NumSlices || v.Acked.Has(id) {
			return false
		}
	}
	return true
}

func sentSlice(s codec.Slice) contract.Sent {
	c := Content(s.Data)
	return contract.Sent{Type: contract.TypeSlice, ChunkID: s.ChunkID, SliceID: &s.SliceID, NumSlices: &s.NumSlices, Size: &c.Size, CRC32: &c.CRC32}
}

// script is the scripted scheduler: it returns what a trace says, so that the
// sender's table can be tested without any way to choose slices.
type script struct {
	statemachine.NoPath

	due  []int
	used bool // a chunk has begun with it
}

func (s *script) Begin(statemachine.Flight)              { s.used = true }
func (*script) Held(core.Micros)                         {}
func (*script) Acked(core.Micros, statemachine.Progress) {}
func (*script) Deadline() core.Micros                    { return core.Never }
func (*script) Stats() (none statemachine.ScheduleStats) { return none }
func (s *script) Next(core.Micros) (id int, some bool) {
	if len(s.due) == 0 {
		return 0, false
	}
	id, s.due = s.due[0], s.due[1:]
	return id, true
}
