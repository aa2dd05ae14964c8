package packets

import (
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// ProductEndpoint is packet.Endpoint.
type ProductEndpoint struct{ *packet.Endpoint }

func newProductEndpoint(config any) (conform.Machine, error) {
	c := config.(EndpointConfig)
	e, err := packet.NewEndpoint(packet.Config{
		Format:        packet.Format{FragmentSize: c.FragmentSize, MaxFragments: c.MaxFragments},
		FragmentAbove: c.FragmentAbove, NextToSend: core.Number(c.NextToSend), NextToReceive: core.Number(c.NextToReceive),
	})
	return &ProductEndpoint{e}, err
}

// Do is the machine under test.
func (p *ProductEndpoint) Do(at int64, e conform.Event) conform.Step {
	s := EndpointStep{Datagrams: []conform.Bytes{}, Acked: []uint16{}, Lost: []uint16{}}
	now := core.Micros(at)
	switch e := e.(type) {
	case Send:
		datagrams, _, err := p.Endpoint.Send(now, []byte(e.Payload))
		s.Refused = refusedBy(err)
		for _, b := range datagrams {
			s.Datagrams = append(s.Datagrams, conform.Bytes(b))
		}
	case Receive:
		s.Refused = refusedBy(p.Endpoint.Receive(now, slices.Clip([]byte(e.Datagram)), func(d packet.Delivery) packet.Verdict {
			s.Delivered = conform.Some(Delivered{uint16(d.Number), conform.Bytes(d.Payload)})
			return packet.Take
		}))
	case Poll:
		for b, ok := p.Endpoint.Poll(now); ok; b, ok = p.Endpoint.Poll(now) {
			s.Datagrams = append(s.Datagrams, conform.Bytes(b))
		}
	}
	for _, became := range p.Events() {
		if became.Kind == packet.EventAcked {
			s.Acked = append(s.Acked, uint16(became.Number))
		} else {
			s.Lost = append(s.Lost, uint16(became.Number))
		}
	}
	return s
}

func refusedBy(err error) conform.Opt[Refused] {
	var e *packet.Error
	if !errors.As(err, &e) {
		return conform.Opt[Refused]{}
	}
	return conform.Some(Refused{string(e.Code()), e.Place()})
}

// ProductCongestion is packet.Congestion.
type ProductCongestion struct{ packet.Congestion }

func newProductCongestion(config any) (conform.Machine, error) {
	profile := packet.ProfileArticle
	if config.(CongestionConfig).Profile == "default" {
		profile = packet.ProfileDefault
	}
	return &ProductCongestion{packet.NewCongestion(profile)}, nil
}

// Do is the machine under test.
func (p *ProductCongestion) Do(at int64, e conform.Event) conform.Step {
	is := e.(Conditions)
	p.Evaluate(core.Micros(at), packet.Conditions{Measured: is.SRTT.Is, SRTT: core.Micros(is.SRTT.V), Silent: is.Silent, MinRTT: core.Micros(is.MinRTT.V)})
	s := CongestionStep{Mode: "bad", Recovery: int64(p.Recovery())}
	if p.Mode() == packet.Good {
		s.Mode = "good"
	}
	return s
}

// Inside is when it is due.
func (p *ProductCongestion) Inside() any {
	return conform.If(int64(p.Deadline()), p.Deadline() != core.Never)
}
