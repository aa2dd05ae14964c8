package trace

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// The bounds of what a trace of channels holds (CHO-12).
const (
	mostNumber = 1 << 32 // of a packet
	mostSpace  = 65535   // of a poll
	longestUS  = 1 << 40 // a lifetime, a round trip
)

// channelConfig returns the configuration of a machine. A field of 0 would have its default
// in package channel; here it is what no parameter may be (CHP-1), but for the first
// sequence.
func channelConfig(kind string, f contract.ChannelFormat, sendQueue, first, giveUp int64) (c channel.Config, err error) {
	kinds := map[string]channel.Kind{contract.KindOrdered: channel.Ordered, contract.KindUnordered: channel.Unordered}
	c = channel.Config{
		Kind: kinds[kind], Format: channel.Format{Window: int(f.Window), Data: int(f.Data), Group: int(f.Group)},
		SendQueue: int(sendQueue), First: core.Number(first), GiveUp: core.Micros(giveUp),
	}
	if _, ok := kinds[kind]; !ok || f.Window < 1 || f.Data < 1 || f.Group < 1 || sendQueue < 1 || giveUp < 1 {
		return c, fmt.Errorf("%w: the config", ErrBadRequest)
	}
	return c, nil
}

// oneRecord decodes what a trace has as one record of channel 0, of one of these types
// (CHO-11, CHO-12).
func oneRecord(f channel.Format, text *string, allowed func(channel.Type) bool) (r channel.Record, err error) {
	b, err := bytesOf(text)
	if err != nil {
		return r, err
	}
	next, err := f.Decode(b, 0, &r)
	if err != nil || next != len(b) || r.Channel != 0 || !allowed(r.Type) {
		return r, ErrBadRequest
	}
	return r, nil
}

// bounded reads a field that must be there, within bounds.
func bounded(p *int64, low, high int64) (int64, error) {
	if p == nil || *p < low || *p > high {
		return 0, ErrBadRequest
	}
	return *p, nil
}

// pathOf reads what the packet layer measured (CHP-3).
func pathOf(srtt contract.Null, patience int64) (p channel.Path, err error) {
	if !srtt.Is {
		return p, ErrBadRequest
	}
	p.Patience = core.Micros(patience)
	if srtt.Value != nil {
		us, err := bounded(srtt.Value, 0, longestUS)
		if err != nil {
			return p, err
		}
		p.Measured, p.SRTT = true, core.Micros(us)
	}
	return p, nil
}

// RunChannelReceiver takes the receiver of a channel through a trace (CHO-7, CHO-8). It
// fails with ErrUnsupported or ErrBadRequest.
func RunChannelReceiver(cfg contract.ChannelReceiverConfig, events []contract.ChannelReceiverEvent) ([]contract.ChannelReceiverStep, error) {
	c, err := channelConfig(cfg.Kind, cfg.ChannelFormat, channel.DefaultSendQueue, cfg.First, cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	v, err := channel.NewReceiver(c)
	if err != nil {
		return nil, fmt.Errorf("%w: the config: %w", ErrBadRequest, err)
	}
	steps := make([]contract.ChannelReceiverStep, len(events))
	for i, e := range events {
		if err := channelReceiverEvent(v, c.Format, e, &steps[i]); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		if e.Event != contract.EventPath {
			row := string(v.Row())
			steps[i].Row = &row
		}
		steps[i].State, steps[i].Deadline = v.State().String(), deadline(v.Deadline())
	}
	return steps, nil
}

// forReceiver reports whether a record is an event of a receiver.
func forReceiver(t channel.Type) bool {
	return t == channel.TypeMessage || t == channel.TypeFragment || t == channel.TypeSkip || t == channel.TypeStatus
}

func channelReceiverEvent(v *channel.Receiver, f channel.Format, e contract.ChannelReceiverEvent, step *contract.ChannelReceiverStep) error {
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case contract.EventRecord:
		r, err := oneRecord(f, e.Hex, forReceiver)
		if err != nil {
			return err
		}
		v.Handle(now, &r)
	case contract.EventRead:
		if m, ok := v.Read(now, nil); ok {
			step.Read = &contract.ChannelRead{Sequence: uint16(m.Sequence), Skipped: m.Skipped}
			if !m.Skipped {
				data := hex.EncodeToString(m.Data)
				step.Read.Data = &data
			}
		}
	case contract.EventPoll:
		space, err := bounded(e.Space, 0, mostSpace)
		if err != nil {
			return err
		}
		if r, ok := v.Poll(now, int(space)); ok {
			step.Report = recordText(f, &r)
		}
	case contract.EventPath:
		p, err := pathOf(e.SRTT, 0)
		if err != nil {
			return err
		}
		v.SetPath(p)
	default:
		return ErrUnsupported
	}
	return nil
}

// recordText returns the bytes of a machine's record. They are always valid: no bytes would
// show it.
func recordText(f channel.Format, r *channel.Record) *string {
	b, _ := f.Append(nil, r)
	text := hex.EncodeToString(b)
	return &text
}

// RunChannelSender takes the sender of a channel through a trace (CHO-9, CHO-10). It fails
// with ErrUnsupported or ErrBadRequest.
func RunChannelSender(cfg contract.ChannelSenderConfig, events []contract.ChannelSenderEvent) ([]contract.ChannelSenderStep, error) {
	c, err := channelConfig(contract.KindOrdered, cfg.ChannelFormat, cfg.SendQueue, cfg.First, cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	s, err := channel.NewSender(c)
	if err != nil {
		return nil, fmt.Errorf("%w: the config: %w", ErrBadRequest, err)
	}
	steps := make([]contract.ChannelSenderStep, len(events))
	for i, e := range events {
		steps[i].Rows, steps[i].Records = []string{}, []string{}
		if err := channelSenderEvent(s, c.Format, e, &steps[i]); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		steps[i].State, steps[i].Deadline = s.State().String(), deadline(s.Deadline())
		steps[i].Base, steps[i].Limit = int64(s.Base()), int64(s.Limit())
	}
	return steps, nil
}

func channelSenderEvent(s *channel.Sender, f channel.Format, e contract.ChannelSenderEvent, step *contract.ChannelSenderStep) error {
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	switch e.Event {
	case contract.EventSend:
		return channelSend(s, e, step)
	case contract.EventReport:
		return channelReport(s, f, e, step)
	case contract.EventPoll:
		return channelPoll(s, f, e, step)
	case contract.EventPath:
		patience, err := bounded(e.Patience, 0, longestUS)
		if err != nil {
			return err
		}
		p, err := pathOf(e.SRTT, patience)
		if err != nil {
			return err
		}
		s.SetPath(p)
		return nil
	}
	return ErrUnsupported
}

func channelSend(s *channel.Sender, e contract.ChannelSenderEvent, step *contract.ChannelSenderStep) error {
	data, err := bytesOf(e.Data)
	if err != nil || !e.Lifetime.Is {
		return ErrBadRequest
	}
	lifetime := int64(0) // none
	if e.Lifetime.Value != nil {
		if lifetime, err = bounded(e.Lifetime.Value, 1, longestUS); err != nil {
			return err
		}
	}
	var refused *channel.Error
	if err := s.Send(core.Micros(e.At), data, core.Micros(lifetime)); errors.As(err, &refused) {
		code := string(refused.Code())
		step.Refused = &code
	}
	step.Rows = append(step.Rows, string(s.Row()))
	return nil
}

func channelReport(s *channel.Sender, f channel.Format, e contract.ChannelSenderEvent, step *contract.ChannelSenderStep) error {
	number, err1 := bounded(e.Number, 0, mostNumber)
	ack, err2 := bounded(e.Ack, -1, mostNumber)
	r, err3 := oneRecord(f, e.Hex, func(t channel.Type) bool { return t == channel.TypeReport })
	if err := errors.Join(err1, err2, err3); err != nil {
		return ErrBadRequest
	}
	s.Report(core.Micros(e.At), core.Number(number), core.Number(ack), &r)
	step.Rows = append(step.Rows, string(s.Row()))
	return nil
}

// channelPoll polls until no record comes (CHS-12).
func channelPoll(s *channel.Sender, f channel.Format, e contract.ChannelSenderEvent, step *contract.ChannelSenderStep) error {
	number, err1 := bounded(e.Number, 0, mostNumber)
	space, err2 := bounded(e.Space, 0, mostSpace)
	if err := errors.Join(err1, err2); err != nil {
		return ErrBadRequest
	}
	for more := true; more; {
		var r channel.Record
		r, more = s.Poll(core.Micros(e.At), core.Number(number), int(space))
		step.Rows = append(step.Rows, string(s.Row()))
		if more {
			space -= int64(r.Size())
			step.Records = append(step.Records, *recordText(f, &r))
		}
	}
	return nil
}
