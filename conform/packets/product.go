package packets

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// ProductEndpoint is packet.Endpoint.
type ProductEndpoint struct {
	*packet.Endpoint
	says    packet.Verdict
	offered packet.Delivery
	refused *packet.Error
	now     core.Micros
	acked   []core.Number
	lost    []core.Number
}

var profiles = map[string]packet.Profile{"default": packet.ProfileDefault, "article": packet.ProfileArticle}

func newProductEndpoint(config any) (conform.Machine, error) {
	c, _ := whole(config)
	e, err := packet.NewEndpoint(packet.Config{
		Format: packet.Format(c.Limits), FragmentAbove: c.FragmentAbove, Profile: profiles[c.Profile],
		NextToSend: core.Number(c.NextToSend), NextToReceive: core.Number(c.NextToReceive),
		Received: int(c.Received), SentMax: int(c.SentMax), SequenceBits: core.Space(c.SequenceBits),
		Reassembly: int(c.Reassembly), ReassemblyPackets: int(c.ReassemblyPackets), ReassemblyBytes: c.ReassemblyBytes,
	})
	return &ProductEndpoint{Endpoint: e}, err
}

// Do is the machine under test.
func (p *ProductEndpoint) Do(at int64, e conform.Event) conform.Step {
	s := EndpointStep{Datagrams: []conform.Bytes{}, Acked: []uint16{}, Lost: []uint16{}}
	p.refused, p.offered = nil, packet.Delivery{}
	if _, is := e.(Above); !is { // which no endpoint sees
		p.now = core.Micros(at)
	}
	switch e := e.(type) {
	case Send:
		p.send(&s, p.Endpoint.Send, e.Payload)
	case Quiet:
		p.send(&s, p.SendQuiet, e.Payload)
	case Receive:
		datagram := slices.Clip([]byte(e.Datagram))
		err := p.Endpoint.Receive(p.now, datagram, func(d packet.Delivery) packet.Verdict {
			if p.offered = d; p.says != packet.Refuse {
				s.Delivered = conform.Some(Delivered{uint16(d.Number), conform.Bytes(d.Payload)})
			}
			return p.says
		})
		if p.refuses(&s, err); string(datagram) != string(e.Datagram) {
			return nil // it changed the caller's datagram
		}
	case Poll:
		for b, ok := p.Endpoint.Poll(p.now); ok; b, ok = p.Endpoint.Poll(p.now) {
			s.Datagrams = append(s.Datagrams, conform.Bytes(b))
		}
	case Above:
		p.says = map[string]packet.Verdict{"take": packet.Take, "quietly": packet.TakeQuietly, "refuse": packet.Refuse}[e.Says]
	}
	p.acked, p.lost = nil, nil
	for _, became := range p.Events() {
		if became.Kind == packet.EventAcked {
			p.acked, s.Acked = append(p.acked, became.Number), append(s.Acked, uint16(became.Number))
		} else {
			p.lost, s.Lost = append(p.lost, became.Number), append(s.Lost, uint16(became.Number))
		}
	}
	return s
}

func (p *ProductEndpoint) send(s *EndpointStep, send func(core.Micros, []byte) ([][]byte, core.Number, error), payload conform.Bytes) {
	given := []byte(payload)
	datagrams, _, err := send(p.now, given)
	p.refuses(s, err)
	for _, b := range datagrams {
		s.Datagrams = append(s.Datagrams, conform.Bytes(b))
	}
	if !bytes.Equal(given, []byte(payload)) {
		s.Datagrams = nil // it changed the caller's payload
	}
}

func (p *ProductEndpoint) refuses(s *EndpointStep, err error) {
	if errors.As(err, &p.refused) {
		s.Refused = conform.Some(conform.Refused{Error: string(p.refused.Code()), At: p.refused.Place()})
	}
}

// Inside is what is estimated, counted and held.
func (p *ProductEndpoint) Inside() any {
	e, shown, stats := p.Estimates(p.now), p.Samples(), p.Stats()
	s := inside{
		Estimates: packetoracle.Estimates{
			Measured: e.Measured, SRTT: int64(e.SRTT), Jitter: int64(e.Jitter), Latest: int64(e.Latest), MinRTT: int64(e.MinRTT),
			Patience: int64(e.Patience), Settled: int64(e.Settled), Lost: int64(e.Lost), Sent: e.SentRate, Received: e.ReceivedRate, Acked: e.AckedRate,
			Shown: packetoracle.Figures{
				Count: int64(shown.Count), Min: int64(shown.Min), Max: int64(shown.Max), Avg: int64(shown.Avg),
				JitterAvg: int64(shown.JitterAvg), JitterMax: int64(shown.JitterMax), JitterDev: int64(shown.JitterDev),
			},
		},
		good: p.Mode() == packet.Good, recovery: int64(p.Recovery()), nextAt: int64(p.NextAt()), due: int64(p.Deadline()),
		held: stats.Incomplete, heldBytes: stats.IncompleteBytes, events: fmt.Sprint(p.acked, p.lost),
		offered: int64(p.offered.Number), offeredAck: int64(p.offered.Ack), numberOfNext: int64(p.Next()),
	}
	if p.refused != nil {
		s.rule, s.refused = ruleOf(p.refused.Rule(), p.refused.Place()), stats.Refused(p.refused.Code())
	}
	return s
}

// ProductCongestion is packet.Congestion.
type ProductCongestion struct{ packet.Congestion }

func newProductCongestion(config any) (conform.Machine, error) {
	return &ProductCongestion{packet.NewCongestion(profiles[config.(CongestionConfig).Profile])}, nil
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

// Inside is when it is due, and when the next packet may go.
func (p *ProductCongestion) Inside() any { return [2]int64{int64(p.Deadline()), int64(p.NextAt())} }
