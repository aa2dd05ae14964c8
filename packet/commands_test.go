package packet_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/packetsim"
	"github.com/chunkwire/chunkwire/conform/stateful"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// endpointSystem is an endpoint beside its model.
type endpointSystem struct {
	stateful.Objections
	*packetsim.Checked
	cfg  packet.Config
	now  core.Micros
	sent core.Number // the next number that is sent
	peer core.Number // a number that a genuine peer would be at
}

func newEndpointSystem(cfg packet.Config) *endpointSystem {
	s := &endpointSystem{cfg: packetsim.Complete(cfg), sent: cfg.NextToSend, peer: cfg.NextToReceive}
	s.Checked = check.Must(packetsim.NewChecked(cfg, s.Fail))
	return s
}

// gets lets a packet of the peer arrive, which acks what was sent lately.
func (s *endpointSystem) gets(p packet.Packet, ack int, verdict packet.Verdict) string {
	if p.NumFragments == 0 || p.FragmentID == 0 {
		p.Ack, p.AckBits = uint16(int(s.sent)-1-ack), 0x80000000>>(ack%31)|uint32(ack)*0x01010101|1
	}
	err := s.Receive(s.now, check.Must(s.cfg.Format.Append(nil, &p)), func(packet.Delivery) packet.Verdict { return verdict })
	return fmt.Sprintf("packet %d, fragment %d of %d, ack %d, bits %08x: %v", p.Sequence, p.FragmentID, p.NumFragments, p.Ack, p.AckBits, err)
}

// number returns a number near that of the peer, mostly the next one.
func (s *endpointSystem) number(arg int) uint16 {
	n := s.peer + []core.Number{0, 0, 0, 0, 1, -1, -2, -5, 3, 9, -70, 300, 32000, 32768}[arg]
	if arg < 9 {
		s.peer = max(s.peer, n+1)
	}
	return uint16(n)
}

var endpointWaits = []core.Micros{0, 1, 5 * ms, 20 * ms, 300 * ms, 1000 * ms, 4000 * ms, 11_000 * ms}

var endpointVerbs = []*stateful.Verb[*endpointSystem]{
	{Weight: 6, Limits: stateful.Args{40, 6, 4}, Run: func(s *endpointSystem, a stateful.Args) string {
		times := []int{1, 1, 1, 1, 3, 40}[a[1]]
		for range times {
			if _, err := s.Send(s.now, bytes.Repeat([]byte{byte(a[0])}, a[0]), a[2] == 0); err == nil {
				s.sent++
			}
		}
		return fmt.Sprintf("send %d times %d bytes", times, a[0])
	}},
	{Weight: 8, Limits: stateful.Args{14, 70, 9}, Run: func(s *endpointSystem, a stateful.Args) string {
		verdict := []packet.Verdict{packet.Take, packet.TakeQuietly, packet.Refuse}[max(0, a[2]-6)]
		return s.gets(packet.Packet{Header: packet.Header{Sequence: s.number(a[0])}, Data: []byte{byte(a[2])}}, a[1], verdict)
	}},
	{Weight: 8, Limits: stateful.Args{14, 30, 12}, Run: func(s *endpointSystem, a stateful.Args) string {
		p := packet.Packet{Header: packet.Header{Sequence: s.number(a[0])}, NumFragments: 2 + a[2]%2, FragmentID: a[1] % (2 + a[2]%2)}
		p.Data = bytes.Repeat([]byte{7}, s.cfg.FragmentSize)
		verdict := []packet.Verdict{packet.Take, packet.Refuse}[a[2]/11]
		return s.gets(p, a[1], verdict)
	}},
	{Weight: 1, Limits: stateful.Args{8, 256, 256}, Run: func(s *endpointSystem, a stateful.Args) string {
		d := []byte{byte(a[0]), byte(a[1]), byte(a[2]), 0, byte(a[0]), 3, 4, 5, 6}[:a[0]+1]
		return fmt.Sprintf("bytes %x: %v", d, s.Receive(s.now, d, func(packet.Delivery) packet.Verdict { return packet.Take }))
	}},
	{Weight: 6, Limits: stateful.Args{2 * len(endpointWaits)}, Run: func(s *endpointSystem, a stateful.Args) string {
		if a[0] < len(endpointWaits) {
			s.now += endpointWaits[a[0]]
		} else if d := s.Deadline(); d != core.Never {
			s.now = max(s.now, d)
		}
		_, ok := s.Poll(s.now)
		if ok {
			s.sent++
		}
		return fmt.Sprintf("polled at %d: ack-only packet %v, events %v", s.now, ok, s.Events())
	}},
}

// The endpoint does what its model does, whatever is asked of it and whatever comes
// (sections 5 to 10).
func TestCommandsToTheEndpoint(t *testing.T) {
	for _, cfg := range []packet.Config{
		{Format: packet.Format{FragmentSize: 8, MaxFragments: 4}, FragmentAbove: 8, NextToSend: 65530, NextToReceive: 65530},
		{Format: packet.Format{FragmentSize: 8, MaxFragments: 4}, FragmentAbove: 12, Received: 64, SentMax: 256, Reassembly: 4, ReassemblyPackets: 2, ReassemblyBytes: 40},
	} {
		stateful.Check(t, func() *endpointSystem { return newEndpointSystem(cfg) }, endpointVerbs...)
	}
}

// congestionSystem is a congestion machine beside its model.
type congestionSystem struct {
	stateful.Objections
	machine packet.Congestion
	model   *packetsim.CongestionModel
	now     core.Micros
}

func (s *congestionSystem) compare() {
	m := s.model
	got := []any{s.machine.Mode().String(), s.machine.Recovery(), s.machine.NextAt(), s.machine.Deadline()}
	mode, recovery, nextAt := m.State()
	if want := []any{mode, recovery, nextAt, m.Deadline()}; fmt.Sprint(got) != fmt.Sprint(want) {
		s.Fail("mode, recovery, next and deadline are %v, the model's %v", got, want)
	}
}

var congestionVerbs = []*stateful.Verb[*congestionSystem]{
	{Weight: 8, Limits: stateful.Args{8, 16, 8}, Run: func(s *congestionSystem, a stateful.Args) string {
		if a[0] == 7 && s.machine.Deadline() != core.Never {
			s.now = s.machine.Deadline()
		} else {
			s.now += []core.Micros{0, 1, 100 * ms, 999 * ms, 4000 * ms, 9999 * ms, 10_001 * ms, 61_000 * ms}[a[0]]
		}
		is := packet.Conditions{Measured: a[1] > 0, Silent: a[1] > 13, SRTT: 100 * ms, MinRTT: core.Micros(a[2]) * 50 * ms}
		if a[1] > 10 {
			is.SRTT = []core.Micros{250 * ms, 250*ms + 1, 500 * ms}[a[1]%3]
		}
		s.machine.Evaluate(s.now, is)
		s.model.Evaluate(s.now, is)
		s.compare()
		return fmt.Sprintf("at %d: %+v: %v", s.now, is, s.machine.Mode())
	}},
	{Weight: 2, Limits: stateful.Args{5}, Run: func(s *congestionSystem, a stateful.Args) string {
		s.now = max(s.now, []core.Micros{s.now, s.now, s.now + ms, s.machine.NextAt(), s.now + 500*ms}[a[0]])
		s.machine.Sent(s.now)
		s.model.Sent(s.now)
		s.compare()
		return fmt.Sprintf("sent at %d", s.now)
	}},
}

// The congestion machine does what its model does (section 9).
func TestCommandsToCongestion(t *testing.T) {
	for _, profile := range []packet.Profile{packet.ProfileArticle, packet.ProfileDefault} {
		stateful.Check(t, func() *congestionSystem {
			return &congestionSystem{machine: packet.NewCongestion(profile), model: packetsim.NewCongestionModel(profile)}
		}, congestionVerbs...)
	}
}
