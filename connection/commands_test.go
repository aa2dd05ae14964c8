package connection_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/connectionsim"
	"github.com/chunkwire/chunkwire/conform/stateful"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

var commandWaits = []core.Micros{0, 0, 1, 5 * ms, 20 * ms, 20 * ms, 50 * ms, 100 * ms, 250 * ms, 620 * ms, 1000 * ms, 1250 * ms, 10_000 * ms}

// pairSystem is both ends of a connection, each beside its model, and what is between them.
type pairSystem struct {
	stateful.Objections
	now    core.Micros
	ends   [2]*connectionsim.CheckedConn
	flight [2][]flying    // to each end; what arrived can arrive again
	path   connection.ECN // what comes of ECT(0)
	serial byte
}

// flying is a datagram, and the field ECN that it comes with.
type flying struct {
	data  []byte
	field connection.ECN
}

func newPairSystem(mode session.Mode, cfg connection.Config, agreed session.Agreed) *pairSystem {
	s := &pairSystem{path: connection.ECT0}
	agreed.Link = 7
	keys := [2]session.Key{{1}, {2}}
	for i := range s.ends {
		link := session.LinkConfig{Mode: mode, Agreed: agreed, Seal: keys[i], Open: keys[1-i]}
		s.ends[i] = check.Must(connectionsim.NewCheckedConn(cfg, link, connectionsim.Side(i), 0, s.Fail))
	}
	return s
}

// advance lets time pass: one of the waits, or to the deadline of an end.
func (s *pairSystem) advance(arg, end int) {
	if arg < len(commandWaits) {
		s.now += commandWaits[arg]
	} else if at := s.ends[end].Conn.Deadline(); at != core.Never {
		s.now = max(s.now, at)
	}
}

// polls lets an end send all that it has.
func (s *pairSystem) polls(end int) (text string) {
	for range 400 {
		d, ok := s.ends[end].Poll(s.now)
		text += " " + string(s.ends[end].Conn.Row())
		if !ok || s.Any() {
			return text
		}
		f := flying{data: d}
		if s.ends[end].Conn.ECT() {
			f.field = s.path
		}
		s.flight[1-end] = append(s.flight[1-end], f)
	}
	s.Fail("end %d never stops sending", end)
	return text
}

// next takes a datagram out of those on the way to an end; some stay there for another time.
func (s *pairSystem) next(end, arg, stay int) (d flying, ok bool) {
	f := s.flight[end]
	if len(f) == 0 {
		return d, false
	}
	i := min(arg, len(f)-1)
	d = f[i]
	if stay == 0 {
		s.flight[end] = append(f, d)
	}
	s.flight[end] = append(s.flight[end][:i:i], s.flight[end][i+1:]...)
	return d, true
}

func (s *pairSystem) content(size int) []byte {
	s.serial++
	return bytes.Repeat([]byte{s.serial}, size)
}

const pollWaits = 22

var pairVerbs = []*stateful.Verb[*pairSystem]{
	{Weight: 10, Limits: stateful.Args{2, pollWaits}, Run: func(s *pairSystem, a stateful.Args) string {
		s.advance(a[1], a[0])
		return fmt.Sprintf("at %d end %d:%s, deadline %d", s.now, a[0], s.polls(a[0]), s.ends[a[0]].Conn.Deadline())
	}},
	{Weight: 12, Limits: stateful.Args{2, 4, 9}, Run: func(s *pairSystem, a stateful.Args) string {
		d, ok := s.next(a[0], a[1]*a[1], a[2])
		if !ok {
			return "nothing is on the way"
		}
		if a[2] == 1 {
			d.data = bytes.Clone(d.data)
			d.data[a[1]*7%len(d.data)] ^= 4
		}
		err := s.ends[a[0]].Receive(s.now, d.data, d.field)
		return fmt.Sprintf("at %d end %d gets %d bytes with %v: %s, %v", s.now, a[0], len(d.data), d.field, s.ends[a[0]].Conn.Row(), err)
	}},
	// All that is on the way arrives.
	{Weight: 5, Limits: stateful.Args{2}, Run: func(s *pairSystem, a stateful.Args) string {
		n := len(s.flight[a[0]])
		for _, d := range s.flight[a[0]] {
			_ = s.ends[a[0]].Receive(s.now, d.data, d.field)
		}
		s.flight[a[0]] = nil
		return fmt.Sprintf("at %d end %d gets %d datagrams: %s", s.now, a[0], n, s.ends[a[0]].Conn.Row())
	}},
	{Weight: 1, Limits: stateful.Args{2, 8}, Run: func(s *pairSystem, a stateful.Args) string {
		n := len(s.flight[a[0]])
		for range a[1] {
			s.next(a[0], 0, 1)
		}
		return fmt.Sprintf("of %d to end %d are lost %d", n, a[0], a[1])
	}},
	{Weight: 6, Limits: stateful.Args{2, 6, 8}, Run: func(s *pairSystem, a stateful.Args) string {
		size, times := []int{1, 60, 60, 300, 1500, 1500, 1, 40}[a[2]], []int{1, 1, 1, 1, 1, 20, 60, 10}[a[2]]
		var err error
		for range times {
			err = s.ends[a[0]].Send(s.now, uint8(a[1]/2), s.content(size), []core.Micros{0, 0, 100 * ms}[a[1]%3])
		}
		return fmt.Sprintf("at %d end %d sends %d times %d bytes on %d: %v", s.now, a[0], times, size, a[1]/2, err)
	}},
	{Weight: 3, Limits: stateful.Args{2, 5}, Run: func(s *pairSystem, a stateful.Args) string {
		size := []int{0, 1, 1024, 3000, 40_000}[a[1]]
		err := s.ends[a[0]].SendChunk(s.now, s.content(size))
		return fmt.Sprintf("at %d end %d sends a chunk of %d: %v", s.now, a[0], size, err)
	}},
	{Weight: 5, Limits: stateful.Args{2, 4, 3}, Run: func(s *pairSystem, a stateful.Args) string {
		n := 0
		for ok := true; ok && n < []int{1, 3, 1000}[a[2]] && !s.Any(); n++ {
			if a[1] == 3 {
				_, ok = s.ends[a[0]].ReadChunk(s.now)
			} else {
				_, ok = s.ends[a[0]].Read(s.now, uint8(a[1]))
			}
		}
		return fmt.Sprintf("at %d end %d reads %d times from %d", s.now, a[0], n, a[1])
	}},
	{Weight: 1, Limits: stateful.Args{6}, Run: func(s *pairSystem, a stateful.Args) string {
		s.path = []connection.ECN{connection.ECT0, connection.ECT0, connection.CE, connection.CE, connection.NotECT, connection.ECT1}[a[0]]
		return fmt.Sprintf("the path makes %v of ECT(0)", s.path)
	}},
	{Weight: 1, Limits: stateful.Args{2, 8}, Run: func(s *pairSystem, a stateful.Args) string {
		if a[1] > 2 {
			return "no close"
		}
		err := s.ends[a[0]].Close(s.now, []uint16{0, 256, 5}[a[1]], "why")
		return fmt.Sprintf("at %d end %d closes: %s, %v", s.now, a[0], s.ends[a[0]].Conn.Row(), err)
	}},
}

// Both ends of a connection do what their models do, whatever is asked of them and whatever
// comes (sections 8 and 9; CXL-13).
func TestCommandsToConnections(t *testing.T) {
	small := connection.Config{Tick: 10 * ms, MessageRate: 64_000, Channels: []channel.Config{
		{ID: 0, Kind: channel.Unreliable, QueueBytes: 1 << 19},
		{ID: 1, Kind: channel.Ordered, Format: channel.Format{Window: 32, Data: 100, Group: 16}, SendQueue: 64},
		{ID: 2, Kind: channel.Unordered, Format: channel.Format{Window: 32, Data: 1024, Group: 4}, SendQueue: 32, Priority: 1},
	}}
	for _, c := range []struct {
		mode   session.Mode
		cfg    connection.Config
		agreed session.Agreed
	}{
		{session.CRC, connection.Config{}, session.Agreed{Lanes: 2, Variant: 1, Timeout: 10 * second}},
		{session.AEAD, small, session.Agreed{Lanes: 1, Variant: 1, Timeout: 2 * second}},
		{session.CRC, connection.Config{}, session.Agreed{Lanes: 2, Variant: session.VariantRepair, Extensions: session.ExtensionECN, Timeout: 10 * second}},
		{session.MAC, small, session.Agreed{Timeout: second}},
	} {
		stateful.Check(t, func() *pairSystem { return newPairSystem(c.mode, c.cfg, c.agreed) }, pairVerbs...)
	}
}
