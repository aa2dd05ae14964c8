package connection_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// letter is a datagram on its way.
type letter struct {
	from, to session.Address
	data     []byte
}

// address returns the n-th address of a network.
func address(n int) (a session.Address) {
	a[10], a[11], a[12] = 0xff, 0xff, 10
	binary.BigEndian.PutUint16(a[14:], uint16(n))
	return a
}

var serverAddress = address(0)

// network is one server, clients, and what lies between them.
type network struct {
	*sim.World[letter]
	t       testing.TB
	server  *serverEnd
	clients []*clientEnd
	random  *rand.Rand

	delay  core.Micros
	jitter core.Micros         // what a datagram may take more
	loss   int                 // percent
	copies int                 // percent that arrive twice
	drop   func(l letter) bool // more that is lost, or nil
}

// clientEnd is a client, if there is one, at an address.
type clientEnd struct {
	*connection.Client
	at  session.Address
	old session.Address // where it can be reached, too
}

func (c *clientEnd) Handle(now core.Micros, l letter) {
	if c.Client != nil {
		_ = c.Receive(now, l.data)
	}
}

func (c *clientEnd) Poll(now core.Micros) (letter, bool) {
	if c.Client == nil {
		return letter{}, false
	}
	data, ok := c.Client.Poll(now, nil)
	return letter{c.at, serverAddress, data}, ok
}

func (c *clientEnd) Deadline() core.Micros {
	if c.Client == nil {
		return core.Never
	}
	return c.Client.Deadline()
}

// serverEnd is a server and its connections.
type serverEnd struct {
	*connection.Server
	answers  []letter
	peers    []*connection.ServerConn // those that were accepted and are polled
	accepted []*connection.ServerConn // all
	moved    []*connection.ServerConn
	ended    []*connection.ServerConn // that were replaced
}

func (s *serverEnd) Handle(now core.Micros, l letter) {
	got, _ := s.Receive(now, l.from, l.data, nil)
	if got.Answer != nil {
		s.answers = append(s.answers, letter{serverAddress, l.from, got.Answer})
	}
	switch got.Event {
	case connection.Accepted:
		s.peers, s.accepted = append(s.peers, got.Peer), append(s.accepted, got.Peer)
	case connection.Moved:
		s.moved = append(s.moved, got.Peer)
	}
	if got.Ended != nil {
		s.ended = append(s.ended, got.Ended)
	}
}

func (s *serverEnd) Poll(now core.Micros) (letter, bool) {
	s.Server.Poll(now)
	if len(s.answers) > 0 {
		l := s.answers[0]
		s.answers = s.answers[1:]
		return l, true
	}
	for _, p := range s.peers {
		if data, ok := p.Poll(now, nil); ok {
			return letter{serverAddress, p.Address(), data}, true
		}
	}
	return letter{}, false
}

func (s *serverEnd) Deadline() core.Micros {
	at := s.Server.Deadline()
	for _, p := range s.peers {
		at = min(at, p.Deadline())
	}
	return at
}

// newNetwork returns a server at address 0 and so many places for clients, at 1 and so on.
func newNetwork(t testing.TB, seed uint64, clients int, cfg connection.ServerConfig) *network {
	n := &network{t: t, server: &serverEnd{}, random: rand.New(rand.NewPCG(seed, 1)), delay: 20 * ms}
	ends := []sim.End[letter]{n.server}
	for i := range clients {
		c := &clientEnd{at: address(i + 1)}
		n.clients = append(n.clients, c)
		ends = append(ends, c)
	}
	n.World = sim.NewWorld(n.carry, ends...)
	n.restart(cfg)
	return n
}

// restart begins a new server, which knows nothing of the one before.
func (n *network) restart(cfg connection.ServerConfig) {
	cfg.Random = n.randomness()
	*n.server = serverEnd{Server: check.Must(connection.NewServer(cfg))}
}

// link begins a new client at a place.
func (n *network) link(place int, cfg connection.ClientConfig) *clientEnd {
	cfg.Random = n.randomness()
	c := n.clients[place]
	c.Client = check.Must(connection.NewClient(cfg, n.Now()))
	return c
}

// randomness returns a source of its own for a machine: no two draw the same nonces.
func (n *network) randomness() *rand.ChaCha8 {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], n.random.Uint64())
	return rand.NewChaCha8(seed)
}

// carry takes a datagram to whoever is at its address when it is sent.
func (n *network) carry(now time.Duration, _ int, l letter, deliver func(time.Duration, int, letter)) {
	if n.random.IntN(100) < n.loss || n.drop != nil && n.drop(l) {
		return
	}
	n.deliver(now, l, deliver)
	if n.random.IntN(100) < n.copies {
		n.deliver(now, l, deliver)
	}
}

func (n *network) deliver(now time.Duration, l letter, deliver func(time.Duration, int, letter)) {
	at := now + (n.delay + core.Micros(n.random.Int64N(int64(n.jitter)+1))).Duration()
	if l.to == serverAddress {
		deliver(at, 0, l)
	}
	for i, c := range n.clients {
		if l.to == c.at || l.to == c.old {
			deliver(at, i+1, l)
		}
	}
}

// until runs until something holds.
func (n *network) until(what string, limit core.Micros, holds func() bool) {
	n.t.Helper()
	if !n.Run(n.Now()+limit, holds) {
		n.t.Fatalf("at %d us: still not: %s", n.Now(), what)
	}
}

// open links a client and waits until the server has accepted it.
func (n *network) open(place int, cfg connection.ClientConfig) (*clientEnd, *connection.ServerConn) {
	n.t.Helper()
	c, before := n.link(place, cfg), len(n.server.accepted)
	n.until("the client is accepted", 10*second, func() bool { return len(n.server.accepted) > before })
	return c, n.server.accepted[before]
}

// anyone is a server that needs no identity.
var anyone = connection.ServerConfig{Anonymous: true}

// known is a server that knows the keys of all identities, and known clients.
func known(cfg connection.Config) connection.ServerConfig {
	return connection.ServerConfig{Config: cfg, Keys: func(identity uint64) (session.Key, bool) { return keyOf(identity), identity < 1000 }}
}

func keyOf(identity uint64) session.Key { return session.Key{byte(identity), byte(identity >> 8), 7} }

func withKey(identity uint64, cfg connection.Config) connection.ClientConfig {
	return connection.ClientConfig{Config: cfg, Identity: identity, Key: keyOf(identity)}
}
