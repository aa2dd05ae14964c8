package connection_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/stateful"
	"github.com/chunkwire/chunkwire/core"
)

var commandWaits = []core.Micros{0, 0, 1, 5 * ms, 20 * ms, 20 * ms, 50 * ms, 100 * ms, 250 * ms, 620 * ms, 1000 * ms, 1250 * ms, 10_000 * ms}

// pairSystem is both ends of a connection, each beside its oracle, and what is between them.
type pairSystem struct {
	stateful.Objections
	now    core.Micros
	ends   [2]*conform.Pair
	flight [2][]connections.Receive // to each end; what arrived can arrive again
	path   string                   // what comes of ECT(0)
	serial byte
}

func newPairSystem(cfg connections.Config) *pairSystem {
	s := &pairSystem{path: "ect0"}
	key := func(first byte) conform.Bytes { return conform.Bytes(append([]byte{first}, make([]byte, 31)...)) }
	for i, side := range []string{connections.Client, connections.Server} {
		s.ends[i] = connections.Op.Pair(s, cfg.Sided(side, key(1), key(2)))
	}
	return s
}

// does puts an event to an end.
func (s *pairSystem) does(end int, e conform.Event) connections.Step {
	return s.ends[end].Do(int64(s.now), e).(connections.Step)
}

// advance lets time pass: one of the waits, or to the deadline of an end.
func (s *pairSystem) advance(arg, end int) {
	if arg < len(commandWaits) {
		s.now += commandWaits[arg]
	} else if at := s.ends[end].Look().Deadline; at.Is {
		s.now = max(s.now, core.Micros(at.V))
	}
}

// polls lets an end send all that it has.
func (s *pairSystem) polls(end int) []string {
	step := s.does(end, connections.Poll{})
	for i, d := range step.Datagrams {
		f := connections.Receive{Hex: d}
		if step.ECN.Is && step.ECN.V.ECT[i] {
			f.ECN = s.path
		}
		s.flight[1-end] = append(s.flight[1-end], f)
	}
	return step.Rows
}

// next takes a datagram out of those on the way to an end; some stay there for another time.
func (s *pairSystem) next(end, arg, stay int) (d connections.Receive, ok bool) {
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

func (s *pairSystem) content(size int) conform.Bytes {
	s.serial++
	return conform.Bytes(bytes.Repeat([]byte{s.serial}, size))
}

const pollWaits = 22

var pairVerbs = []*stateful.Verb[*pairSystem]{
	{Weight: 10, Limits: stateful.Args{2, pollWaits}, Run: func(s *pairSystem, a stateful.Args) string {
		s.advance(a[1], a[0])
		return fmt.Sprintf("at %d end %d: %v, deadline %+v", s.now, a[0], s.polls(a[0]), s.ends[a[0]].Look().Deadline)
	}},
	{Weight: 12, Limits: stateful.Args{2, 4, 9}, Run: func(s *pairSystem, a stateful.Args) string {
		d, ok := s.next(a[0], a[1]*a[1], a[2])
		if !ok {
			return "nothing is on the way"
		}
		if a[2] == 1 {
			changed := []byte(d.Hex)
			changed[a[1]*7%len(changed)] ^= 4
			d.Hex = conform.Bytes(changed)
		}
		step := s.does(a[0], d)
		return fmt.Sprintf("at %d end %d gets %d bytes with %q: %v, %+v", s.now, a[0], len(d.Hex), d.ECN, step.Rows, step.Refused)
	}},
	// All that is on the way arrives.
	{Weight: 5, Limits: stateful.Args{2}, Run: func(s *pairSystem, a stateful.Args) string {
		n := len(s.flight[a[0]])
		for _, d := range s.flight[a[0]] {
			s.does(a[0], d)
		}
		s.flight[a[0]] = nil
		return fmt.Sprintf("at %d end %d gets %d datagrams", s.now, a[0], n)
	}},
	// Both ends poll, and hear each other; what is large seldom arrives, so that chunks are given up
	// while the connection lives.
	{Weight: 20, Limits: stateful.Args{20, 6}, Run: func(s *pairSystem, a stateful.Args) string {
		s.now += core.Micros(a[0]) * 50 * ms
		rows := [2][]string{s.polls(0), s.polls(1)}
		for end := range s.ends {
			for _, d := range s.flight[end] {
				if len(d.Hex) < 60 || a[1] == 0 {
					s.does(end, d)
				}
			}
			s.flight[end] = nil
		}
		return fmt.Sprintf("at %d both poll: %v; less than 60 bytes arrive: %t", s.now, rows, a[1] > 0)
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
		var step connections.Step
		for range times {
			step = s.does(a[0], connections.Send{Channel: int64(a[1] / 2), Data: s.content(size), Lifetime: conform.If(int64(100*ms), a[1]%3 == 2)})
		}
		return fmt.Sprintf("at %d end %d sends %d times %d bytes on %d: %+v", s.now, a[0], times, size, a[1]/2, step.Refused)
	}},
	{Weight: 3, Limits: stateful.Args{2, 5}, Run: func(s *pairSystem, a stateful.Args) string {
		size := []int64{0, 1, 1024, 3000, 40_000}[a[1]]
		step := s.does(a[0], connections.SendChunk{Size: size})
		return fmt.Sprintf("at %d end %d sends a chunk of %d: %+v", s.now, a[0], size, step.Refused)
	}},
	{Weight: 5, Limits: stateful.Args{2, 4, 3}, Run: func(s *pairSystem, a stateful.Args) string {
		n := 0
		for more := true; more && n < []int{1, 3, 1000}[a[2]]; n++ {
			if a[1] == 3 {
				more = s.does(a[0], connections.ReadChunk{}).Chunk.Is
			} else {
				more = s.does(a[0], connections.Read{Channel: int64(a[1])}).Read.Is
			}
		}
		return fmt.Sprintf("at %d end %d reads %d times from %d", s.now, a[0], n, a[1])
	}},
	{Weight: 1, Limits: stateful.Args{6}, Run: func(s *pairSystem, a stateful.Args) string {
		s.path = []string{"ect0", "ect0", "ce", "ce", "", "ect1"}[a[0]]
		return fmt.Sprintf("the path makes %q of ECT(0)", s.path)
	}},
	{Weight: 1, Limits: stateful.Args{2, 8}, Run: func(s *pairSystem, a stateful.Args) string {
		if a[1] > 2 {
			return "no close"
		}
		step := s.does(a[0], connections.Close{Code: []int64{0, 256, 5}[a[1]], Text: "why"})
		return fmt.Sprintf("at %d end %d closes: %v, %+v", s.now, a[0], step.Rows, step.Refused)
	}},
}

// Both ends of a connection do what their oracles do, whatever is asked of them and whatever
// comes (sections 8 and 9; CXL-13).
func TestCommandsToConnections(t *testing.T) {
	usual := connections.Usual()
	small := usual
	small.Tick, small.MessageRate, small.Mode = 10_000, 64_000, "mac"
	small.Channels = slices.Clone(usual.Channels)
	for i, data := range []int64{0, 100, 1024} {
		if c := &small.Channels[i]; data > 0 {
			c.Window, c.Data, c.Group, c.SendQueue = conform.Some(int64(32)), conform.Some(data), conform.Some([]int64{0, 16, 4}[i]), conform.Some(int64(64))
		}
	}
	with := func(c connections.Config, mode string, lanes, timeout int64) connections.Config {
		c.Mode, c.Lanes, c.Timeout = mode, lanes, timeout
		return c
	}
	repaired := with(usual, "crc", 2, 10)
	repaired.Variant, repaired.Extensions, repaired.Profile = 2, connections.ECN, connections.Profile{Rule: conform.Some(connections.Rule{})}
	for _, cfg := range []connections.Config{with(usual, "crc", 2, 100), with(small, "aead", 1, 20), repaired, with(small, "mac", 0, 10)} {
		stateful.Check(t, func() *pairSystem { return newPairSystem(cfg) }, pairVerbs...)
	}
}
