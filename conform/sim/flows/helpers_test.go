package flows_test

import (
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	ms     = core.Millisecond
	second = core.Second
)

var (
	s2 = netsim.Path{Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: 28}
	// simple takes 1 ms for 1000 bytes, without headers.
	simple = netsim.Path{Rate: 8e6, Delay: 10 * time.Millisecond}
)

func worldOf(seed uint64, path flows.Path) *flows.World {
	return check.Must(flows.NewWorld(path, seed))
}

func world(path netsim.Path) *flows.World { return worldOf(1, flows.Path{Down: path, Up: path}) }

// steady is an end that sends a datagram of 1000 bytes each so long, whatever comes back, and
// notes what arrives.
type steady struct {
	every core.Micros // 0: nothing
	left  int         // datagrams to send
	next  core.Micros
	got   []core.Micros // when they arrived
	marks int
}

func (s *steady) Poll(now core.Micros) (d flows.Datagram, ok bool) {
	if s.left == 0 || now < s.next {
		return d, false
	}
	s.left--
	s.next += s.every
	return flows.Datagram{Size: 1000, Data: true}, true
}

func (s *steady) Handle(now core.Micros, d flows.Datagram) (news bool) {
	s.got = append(s.got, now)
	if d.Marked {
		s.marks++
	}
	return true
}

func (s *steady) Deadline() core.Micros {
	if s.left == 0 {
		return core.Never
	}
	return s.next
}

// counted is an end that counts what it is given.
type counted struct {
	flows.End
	handled int64
}

func (c *counted) Handle(now core.Micros, d flows.Datagram) bool {
	c.handled++
	return c.End.Handle(now, d)
}

// both are the variants.
var both = []bool{false, true}

func lanesOf(n int, repair bool) lanes.Config { return lanes.Config{Lanes: n, Repair: repair} }
