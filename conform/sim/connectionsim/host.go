package connectionsim

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Letter is a datagram on its way.
type Letter struct {
	From, To session.Address
	Data     []byte
	ECN      protocol.ECN // the field of its IP header
}

// ect is the field of a datagram that is to go with ECT(0), or not.
func ect(is bool) protocol.ECN {
	if is {
		return protocol.ECT0
	}
	return protocol.NotECT
}

// Address returns the n-th address of a network. Each has a prefix of its own.
func Address(n int) (a session.Address) {
	a[10], a[11], a[12] = 0xff, 0xff, 10
	binary.BigEndian.PutUint16(a[14:], uint16(n))
	a[16] = 1
	return a
}

// ServerAddress is where the server is.
var ServerAddress = Address(0)

// ClientHost is a client, if there is one, at an address. It is an end of a world.
type ClientHost struct {
	*protocol.Client // nil: there is none
	At               session.Address
	// Happened, unless it is nil, is called after each datagram that arrived.
	Happened func(now core.Micros)
	// Refused, unless it is nil, is told of each datagram that was refused.
	Refused func(err error)
}

// Handle takes a datagram, if it is for this address.
func (c *ClientHost) Handle(now core.Micros, l Letter) {
	if c.Client == nil || l.To != c.At {
		return
	}
	if err := c.ReceiveECN(now, l.Data, l.ECN); err != nil && c.Refused != nil {
		c.Refused(err)
	}
	if c.Happened != nil {
		c.Happened(now)
	}
}

// Poll returns a datagram to send.
func (c *ClientHost) Poll(now core.Micros) (Letter, bool) {
	if c.Client == nil {
		return Letter{}, false
	}
	data, ok := c.Client.Poll(now, nil)
	return Letter{c.At, ServerAddress, data, ect(c.ECT())}, ok
}

// Deadline returns when Poll has something to do.
func (c *ClientHost) Deadline() core.Micros {
	if c.Client == nil {
		return core.Never
	}
	return c.Client.Deadline()
}

// Events are what a server says. Each may be nil.
type Events struct {
	Accepted func(now core.Micros, p *protocol.ServerConn)
	Moved    func(now core.Micros, p *protocol.ServerConn)
	Replaced func(now core.Micros, p *protocol.ServerConn)
	Happened func(now core.Micros, p *protocol.ServerConn) // a datagram of it came
	Refused  func(err error)
}

// ServerHost is a server and its connections. It is an end of a world.
type ServerHost struct {
	*protocol.Server // nil: there is none
	Events
	Peers []*protocol.ServerConn // that may have something to send

	answers []Letter
}

// Handle takes a datagram.
func (s *ServerHost) Handle(now core.Micros, l Letter) {
	if s.Server == nil || l.To != ServerAddress {
		return
	}
	got, err := s.ReceiveECN(now, l.From, l.Data, l.ECN, nil)
	if got.Answer != nil {
		s.answers = append(s.answers, Letter{From: ServerAddress, To: l.From, Data: got.Answer})
	}
	if err != nil && s.Refused != nil {
		s.Refused(err)
	}
	call := func(do func(core.Micros, *protocol.ServerConn), p *protocol.ServerConn) {
		if do != nil && p != nil {
			do(now, p)
		}
	}
	call(s.Replaced, got.Ended)
	switch got.Event {
	case protocol.Accepted:
		s.Peers = append(s.Peers, got.Peer)
		call(s.Accepted, got.Peer)
	case protocol.Moved:
		call(s.Moved, got.Peer)
	}
	call(s.Happened, got.Peer)
}

// Poll returns a datagram to send. Peers that have closed and say nothing more are let go.
func (s *ServerHost) Poll(now core.Micros) (Letter, bool) {
	if s.Server == nil {
		return Letter{}, false
	}
	s.Server.Poll(now)
	if len(s.answers) > 0 {
		l := s.answers[0]
		s.answers = s.answers[1:]
		return l, true
	}
	for i := 0; i < len(s.Peers); {
		p := s.Peers[i]
		if data, ok := p.Poll(now, nil); ok {
			return Letter{ServerAddress, p.Address(), data, ect(p.ECT())}, true
		}
		if p.State() == protocol.Closed {
			s.Peers = append(s.Peers[:i], s.Peers[i+1:]...)
		} else {
			i++
		}
	}
	return Letter{}, false
}

// Deadline returns when Poll has something to do.
func (s *ServerHost) Deadline() core.Micros {
	if s.Server == nil {
		return core.Never
	}
	at := s.Server.Deadline()
	for _, p := range s.Peers {
		at = min(at, p.Deadline())
	}
	return at
}

// Network is a server, places for clients, and what lies between them.
type Network struct {
	*sim.World[Letter]
	Server  *ServerHost
	Clients []*ClientHost
}

// Carrier decides what becomes of a datagram: it calls deliver for each copy that arrives.
type Carrier func(now time.Duration, l Letter, deliver func(at time.Duration, l Letter))

// OverPath returns a carrier with one link to the server and one from it.
func OverPath(path netsim.Path, seed uint64) (Carrier, error) {
	up, err1 := netsim.NewLink(path, 2*seed+1)
	down, err2 := netsim.NewLink(path, 2*seed)
	return func(now time.Duration, l Letter, deliver func(time.Duration, Letter)) {
		link := down
		if l.To == ServerAddress {
			link = up
		}
		arrivals := link.Send(now, len(l.Data))
		for i := range arrivals.Len() {
			deliver(arrivals.At(i), l)
		}
	}, errors.Join(err1, err2)
}

// NewNetwork returns a network without a server, and so many places for clients, at addresses 1
// and so on.
func NewNetwork(clients int, carry Carrier) *Network {
	n := &Network{Server: &ServerHost{}}
	ends := []sim.End[Letter]{n.Server}
	for i := range clients {
		c := &ClientHost{At: Address(i + 1)}
		n.Clients = append(n.Clients, c)
		ends = append(ends, c)
	}
	n.World = sim.NewWorld(func(now time.Duration, _ int, l Letter, deliver func(time.Duration, int, Letter)) {
		carry(now, l, func(at time.Duration, l Letter) {
			if l.To == ServerAddress {
				deliver(at, 0, l)
				return
			}
			for i := range n.Clients { // whoever is at the address when it arrives
				deliver(at, i+1, l)
			}
		})
	}, ends...)
	return n
}

// Random returns a source of randomness that a seed decides.
func Random(seed ...byte) *rand.ChaCha8 {
	var key [32]byte
	copy(key[:], seed)
	return rand.NewChaCha8(key)
}
