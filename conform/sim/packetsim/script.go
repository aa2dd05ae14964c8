package packetsim

import (
	"bytes"

	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// script reads bytes of any content as numbers; behind the end all are 0.
type script struct{ rest []byte }

func (s *script) more() bool { return len(s.rest) > 0 }

// below returns a number below n.
func (s *script) below(n int) int {
	if len(s.rest) == 0 {
		return 0
	}
	v := int(s.rest[0])
	s.rest = s.rest[1:]
	return v % n
}

func (s *script) take(n int) []byte {
	n = min(n, len(s.rest))
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

// scriptTimes are how much time can pass between two events.
var scriptTimes = []core.Micros{0, 0, 0, 1, 1000, 20_000, 300_000, 999_999, 1_000_000, 3_000_000, 11_000_000}

// RunEndpoint runs bytes of any content as a script of sends, arriving datagrams, genuine and
// forged, times and polls, on an endpoint beside its model.
func RunEndpoint(data []byte, fail Fail) {
	s := script{data}
	cfg := []protocol.Config{
		{Format: protocol.Format{FragmentSize: 4, MaxFragments: 4}, FragmentAbove: 4, NextToSend: 65530, NextToReceive: 65530},
		{Format: protocol.Format{FragmentSize: 2, MaxFragments: 3}, FragmentAbove: 3, Received: 64, SentMax: 256, Reassembly: 4, ReassemblyPackets: 2, ReassemblyBytes: 8},
		{Format: protocol.Format{FragmentSize: 2, MaxFragments: 3}, FragmentAbove: 2, SequenceBits: 5, Received: 4, SentMax: 4, Reassembly: 2},
	}[s.below(3)]
	c, err := NewChecked(cfg, fail)
	if err != nil {
		fail("%v", err)
		return
	}
	now, peer, sent := core.Micros(0), cfg.NextToReceive, cfg.NextToSend
	for s.more() {
		now += scriptTimes[s.below(len(scriptTimes))]
		switch s.below(6) {
		case 0:
			if _, err := c.Send(now, bytes.Repeat([]byte{byte(s.below(3))}, s.below(18)), s.below(8) == 0); err == nil {
				sent++
			}
		case 1:
			if _, ok := c.Poll(now); ok {
				sent++
			}
		case 2:
			_ = c.Receive(now, s.take(s.below(20)), s.verdict())
		default:
			n := peer + core.Number(s.below(16)-4)
			peer = max(peer, n+1)
			d := s.datagram(cfg.Format, n, sent)
			_ = c.Receive(now, d, s.verdict())
		}
	}
}

func (s *script) verdict() func(protocol.Delivery) protocol.Verdict {
	v := []protocol.Verdict{protocol.Take, protocol.Take, protocol.TakeQuietly, protocol.Refuse}[s.below(4)]
	return func(protocol.Delivery) protocol.Verdict { return v }
}

// datagram returns one with a number of the peer, which acks what was sent lately.
func (s *script) datagram(f protocol.Format, n, sent core.Number) []byte {
	p := protocol.Packet{Header: protocol.Header{
		Sequence: uint16(n), Ack: uint16(sent - 1 - core.Number(s.below(6)) + 1), AckBits: uint32(s.below(256)) | uint32(s.below(256))<<24,
	}}
	size := 1 + s.below(4)
	if kind := s.below(4); kind > 0 {
		p.NumFragments = 2 + s.below(f.MaxFragments-1)
		p.FragmentID = s.below(p.NumFragments)
		size = f.FragmentSize
	}
	p.Data = make([]byte, size)
	return mustAppend(f, p)
}

// RunCongestion runs bytes of any content as a script of conditions and times on a
// congestion machine beside its model.
func RunCongestion(data []byte, fail Fail) {
	s := script{data}
	profile := protocol.Profile(s.below(2))
	c, m := protocol.NewCongestion(profile), NewCongestionModel(profile)
	now := core.Micros(0)
	for s.more() {
		now += scriptTimes[s.below(len(scriptTimes))]
		if at := c.Deadline(); s.below(4) == 0 && at != core.Never {
			now = max(now, at)
		}
		if s.below(4) == 0 {
			c.Sent(now)
			m.Sent(now)
		} else {
			is := protocol.Conditions{Measured: s.below(4) > 0, Silent: s.below(8) == 0}
			is.SRTT, is.MinRTT = core.Micros(s.below(256))*2000, core.Micros(s.below(256))*1000
			c.Evaluate(now, is)
			m.Evaluate(now, is)
		}
		mode, recovery, nextAt := m.State()
		if c.Mode().String() != mode || c.Recovery() != recovery || c.NextAt() != nextAt || c.Deadline() != m.Deadline() {
			fail("at %d: %v, recovery %d, next %d, deadline %d; the model has %s, %d, %d, %d",
				now, c.Mode(), c.Recovery(), c.NextAt(), c.Deadline(), mode, recovery, nextAt, m.Deadline())
			return
		}
	}
}
