package trace

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RunEndpoint takes an endpoint of the packet layer through a trace (PKO-4, PKO-5). It
// fails with ErrUnsupported or ErrBadRequest.
func RunEndpoint(cfg contract.EndpointConfig, events []contract.EndpointEvent) ([]contract.EndpointStep, error) {
	e, err := newEndpoint(cfg)
	if err != nil {
		return nil, err
	}
	steps := make([]contract.EndpointStep, len(events))
	for i, event := range events {
		if steps[i], err = endpointEvent(e, event); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, event.Event)
		}
	}
	return steps, nil
}

// lastFirstNumber is the largest number with which a trace begins (PKP-1).
const lastFirstNumber = 1 << 32

// newEndpoint returns the endpoint of a trace.
func newEndpoint(cfg contract.EndpointConfig) (*packet.Endpoint, error) {
	if cfg.FragmentSize == 0 || cfg.MaxFragments == 0 || cfg.FragmentAbove == 0 || // the defaults of packet.Config
		cfg.NextToSend > lastFirstNumber || cfg.NextToReceive > lastFirstNumber {
		return nil, fmt.Errorf("%w: the config", ErrBadRequest)
	}
	e, err := packet.NewEndpoint(packet.Config{
		Format:        packet.Format{FragmentSize: cfg.FragmentSize, MaxFragments: cfg.MaxFragments},
		FragmentAbove: cfg.FragmentAbove,
		NextToSend:    core.Number(cfg.NextToSend), NextToReceive: core.Number(cfg.NextToReceive),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: the config: %w", ErrBadRequest, err)
	}
	return e, nil
}

// endpointEvent gives an endpoint an event, and returns what it did.
func endpointEvent(e *packet.Endpoint, event contract.EndpointEvent) (contract.EndpointStep, error) {
	step := contract.EndpointStep{Datagrams: []string{}, Acked: []uint16{}, Lost: []uint16{}}
	if event.At < 0 || event.At >= maxTime {
		return step, ErrBadRequest
	}
	now := core.Micros(event.At)
	switch event.Event {
	case contract.EventSend:
		payload, err := bytesOf(event.Payload)
		if err != nil {
			return step, err
		}
		datagrams, _, err := e.Send(now, payload)
		step.Refused = refusedBy(err)
		for _, b := range datagrams {
			step.Datagrams = append(step.Datagrams, hex.EncodeToString(b))
		}
	case contract.EventReceive:
		datagram, err := bytesOf(event.Datagram)
		if err != nil {
			return step, err
		}
		step.Refused = refusedBy(e.Receive(now, datagram, func(d packet.Delivery) packet.Verdict {
			step.Delivered = &contract.Delivered{Sequence: uint16(d.Number), Payload: hex.EncodeToString(d.Payload)}
			return packet.Take
		}))
	case contract.EventPoll:
		for b, ok := e.Poll(now); ok; b, ok = e.Poll(now) {
			step.Datagrams = append(step.Datagrams, hex.EncodeToString(b))
		}
	default:
		return step, ErrUnsupported
	}
	for _, became := range e.Events() {
		if became.Kind == packet.EventAcked {
			step.Acked = append(step.Acked, uint16(became.Number))
		} else {
			step.Lost = append(step.Lost, uint16(became.Number))
		}
	}
	return step, nil
}

func bytesOf(text *string) ([]byte, error) {
	if text == nil {
		return nil, ErrBadRequest
	}
	b, err := hex.DecodeString(*text)
	if err != nil {
		return nil, ErrBadRequest
	}
	return b, nil
}

// refusedBy is nil for no error.
func refusedBy(err error) *contract.Refused {
	var e *packet.Error
	if !errors.As(err, &e) {
		return nil
	}
	return &contract.Refused{Error: string(e.Code()), At: e.Place()}
}

// longestLatency is the longest round trip of a trace (PKE-10).
const longestLatency = 1 << 40

// RunCongestion takes congestion avoidance through a trace (PKO-6). It fails with
// ErrBadRequest.
func RunCongestion(cfg contract.CongestionConfig, events []contract.CongestionEvent) ([]contract.CongestionStep, error) {
	profile := packet.ProfileArticle
	switch cfg.Profile {
	case contract.ProfileArticle:
	case contract.ProfileDefault:
		profile = packet.ProfileDefault
	default:
		return nil, fmt.Errorf("%w: the config", ErrBadRequest)
	}
	c := packet.NewCongestion(profile)
	steps := make([]contract.CongestionStep, len(events))
	for i, e := range events {
		is := packet.Conditions{Silent: e.Silent, MinRTT: core.Micros(e.MinRTT)}
		if e.SRTT != nil {
			is.Measured, is.SRTT = true, core.Micros(*e.SRTT)
		}
		if e.At < 0 || e.At >= maxTime || is.SRTT < 0 || is.SRTT > longestLatency || is.MinRTT < 0 || is.MinRTT > longestLatency {
			return nil, fmt.Errorf("%w: event %d", ErrBadRequest, i)
		}
		c.Evaluate(core.Micros(e.At), is)
		steps[i] = contract.CongestionStep{Mode: contract.ModeBad, Recovery: int64(c.Recovery())}
		if c.Mode() == packet.Good {
			steps[i].Mode = contract.ModeGood
		}
	}
	return steps, nil
}
