package connection

import (
	"errors"
	"io"

	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// ErrReplaced is why a connection ends when its identity begins another one. A client whose
// server says so has a *session.RefusedError, which it matches.
var ErrReplaced error = &session.RefusedError{Reason: session.Replaced, Proven: true}

// ServerConfig sets up a Server.
type ServerConfig struct {
	Config
	// Keys returns the key of an identity other than 0, at once: see Server.NeedsKey. Nil: no identity has one.
	Keys func(identity uint64) (session.Key, bool)
	// PrivateKey is as in session.ServerConfig.
	PrivateKey session.Key
	// Anonymous lets clients in without an identity.
	Anonymous bool
	// MaxConnections is how many connections live at once: 1 to 2^24; 1,024 by default.
	MaxConnections int
	// MaxPerAddress is how many of them live at one IPv4 address or IPv6 /64; a quarter of
	// MaxConnections by default, at least 16.
	MaxPerAddress int
	// AnonymousTotal bounds what is sent to clients without an identity, in place of Chunks.Total (CXA-8).
	AnonymousTotal *lanes.Total
	// Shard, Shards and Beside are as in session.ServerConfig.
	Shard, Shards uint32
	Beside        *Server
	// Random gives the secret, links and nonces. It must not be predictable, and not fail.
	Random io.Reader
}

// Server is the handshake of many clients, and a connection for each. It does nothing between
// calls.
type Server struct {
	cfg      Config
	unproven Config // of clients without an identity
	random   io.Reader
	rebuilds lanes.Rebuilds
	session  *session.Server
	stats    ServerStats
}

// NewServer returns a server without connections. It fails with core.ErrConfig.
func NewServer(cfg ServerConfig) (*Server, error) {
	complete, err := cfg.Complete()
	if err != nil {
		return nil, err
	}
	var beside *session.Server
	if cfg.Beside != nil {
		beside = cfg.Beside.session
	}
	s, err := session.NewServer(session.ServerConfig{
		Terms: complete.terms(), Keys: cfg.Keys, PrivateKey: cfg.PrivateKey, Anonymous: cfg.Anonymous,
		MaxConnections: cfg.MaxConnections, MaxPerAddress: cfg.MaxPerAddress, Shard: cfg.Shard, Shards: cfg.Shards, Beside: beside, Random: cfg.Random,
		Log: complete.Log, KeyLog: complete.KeyLog,
	})
	if err != nil {
		return nil, err
	}
	server := &Server{cfg: complete, unproven: complete, session: s, random: cfg.Random}
	server.unproven.Chunks.Rebuilds = &server.rebuilds // RPH-3
	if cfg.AnonymousTotal != nil {
		server.unproven.Chunks.Total = cfg.AnonymousTotal
	}
	return server, nil
}

// ServerConn is the connection with one client, whatever its address (CXL-1). It exists from the first datagram that the client
// sealed, and the application can accept it then.
type ServerConn struct {
	*Conn
	Owner any // the driver's

	server   *Server
	entry    *session.Entry // nil once the connection has closed
	identity uint64
	address  session.Address
}

// Identity returns the identity that the client has proven; 0: it is anonymous.
func (p *ServerConn) Identity() uint64 { return p.identity }

// Address returns where the client is, or was last.
func (p *ServerConn) Address() session.Address { return p.address }

// Poll does what Conn.Poll does. Nothing else polls a ServerConn's connection.
func (p *ServerConn) Poll(now core.Micros, dst []byte) (out []byte, ok bool) {
	out, ok = p.Conn.Poll(now, dst)
	p.server.settle(now, p)
	return out, ok
}

// Event is what a datagram changed.
type Event uint8

// The events.
const (
	NoEvent  Event = iota
	Accepted       // the connection is new
	Moved          // it has another address
)

func (e Event) String() string { return [...]string{"none", "accepted", "moved"}[e] }

// Received is the result of a datagram.
type Received struct {
	// Answer is what Receive was given as dst with a message of the handshake behind it, to be
	// sent where the datagram came from; nil if there is none.
	Answer []byte
	Peer   *ServerConn // whose deadline can have changed; nil: of none
	Event  Event       // of that peer
	Ended  *ServerConn // that was replaced; it is closed; nil: none
}

// Receive takes a datagram that arrived at now from an address. It fails with why it was
// refused, or drew no answer.
func (s *Server) Receive(now core.Micros, from session.Address, datagram, dst []byte) (got Received, err error) {
	return s.ReceiveECN(now, from, datagram, NotECT, dst)
}

// NeedsKey is session.Server.NeedsKey.
func (s *Server) NeedsKey(now core.Micros, from session.Address, datagram []byte) (identity uint64, ok bool) {
	return s.session.NeedsKey(now, from, datagram)
}

// ReceiveECN is Receive for a datagram that came with a value of the field ECN.
func (s *Server) ReceiveECN(now core.Micros, from session.Address, datagram []byte, ecn ECN, dst []byte) (got Received, err error) {
	got, err = s.receive(now, from, datagram, ecn, dst)
	if got.Peer == nil && err != nil && s.cfg.Log != nil {
		prefix := from.Prefix()
		s.cfg.Memory.logRefused(s.cfg.Log.Of(0, eventlog.Server), now, eventlog.SourceOf(prefix[:]), datagram, err)
	}
	return got, err
}

func (s *Server) receive(now core.Micros, from session.Address, datagram []byte, ecn ECN, dst []byte) (got Received, err error) {
	if !isData(datagram) {
		return s.receiveMessage(now, from, datagram, dst)
	}
	entry, err := s.session.Route(from, datagram)
	if err != nil {
		return got, err
	}
	p, ok := entry.Owner.(*ServerConn)
	if !ok {
		return s.accept(now, entry, datagram, ecn)
	}
	got.Peer = p
	h, err := p.receive(now, datagram, ecn)
	if h.opened {
		s.session.Heard(now, entry)
	}
	s.settle(now, p)
	return got, err
}

// accept makes the connection of a client if a datagram shows that it has the keys (CXL-9,
// PKT-SEC-2, CHT-SEC-2).
func (s *Server) accept(now core.Micros, entry *session.Entry, datagram []byte, ecn ECN) (got Received, err error) {
	body, err := s.cfg.Memory.open(entry.Link(), datagram)
	if err != nil {
		s.stats.Refused++
		return got, err
	}
	cfg := &s.cfg
	if entry.Identity() == 0 {
		cfg = &s.unproven
	}
	cfg.Seed = drawSeed(s.random)
	conn, err := newConn(cfg, entry.Link(), ServerSide, now)
	if err != nil {
		s.session.End(now, entry, session.ConnectionClosed)
		return got, err
	}
	p := &ServerConn{Conn: conn, server: s, entry: entry, identity: entry.Identity(), address: entry.Address()}
	conn.logStarted(cfg, ServerSide, &p.address)
	entry.Owner = p
	s.session.Heard(now, entry)
	s.stats.Accepted++
	_, err = p.takeBody(body, ecn)
	s.settle(now, p)
	return Received{Peer: p, Event: Accepted}, err
}

// receiveMessage takes a message of the handshake.
func (s *Server) receiveMessage(now core.Micros, from session.Address, datagram, dst []byte) (got Received, err error) {
	answer, event, err := s.session.Receive(now, from, datagram, dst)
	if len(answer) > len(dst) {
		got.Answer = answer
	}
	if p, ok := event.Owner.(*ServerConn); ok {
		p.entry = nil
		p.end(now, ErrReplaced)
		got.Ended = p
	}
	if event.Entry == nil {
		return got, err
	}
	if p, ok := event.Entry.Owner.(*ServerConn); ok {
		got.Peer = p
		p.relinked(now)
		if event.Kind == session.EventMoved {
			p.address = from
			if p.log != nil {
				p.log(eventlog.Event{Kind: eventlog.ConnectionMoved, At: now, Remote: remote(from)})
			}
			p.forgetPath(now)
			got.Event = Moved
		}
	}
	return got, err
}

// settle ends the entry of a connection that has closed.
func (s *Server) settle(now core.Micros, p *ServerConn) {
	if p.entry != nil && p.State() == Closed {
		s.session.End(now, p.entry, session.ConnectionClosed)
		p.entry = nil
		if errors.Is(p.Err(), ErrLied) {
			s.stats.Lied++
		}
	}
}

// Poll forgets what need not be remembered any more of clients that did not go on, and of
// connections that ended. It sends nothing; connections are polled each by itself.
func (s *Server) Poll(now core.Micros) {
	for ok := true; ok; {
		_, ok = s.session.Poll(now)
	}
}

// HalfOpen reports whether there are clients whose handshake is complete and from which nothing else has arrived.
func (s *Server) HalfOpen() bool { return s.session.HalfOpen() }

// Deadline returns when Poll has something to do, or core.Never.
func (s *Server) Deadline() core.Micros { return s.session.Deadline() }

// ServerStats counts the events of a Server.
type ServerStats struct {
	Session  session.ServerStats
	Accepted int64 // connections
	Lied     int64 // connections that ended since their client acked what it was not sent
	Refused  int64 // datagrams of clients that were not accepted, whose envelope was refused
}

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats {
	st := s.stats
	st.Session = s.session.Stats()
	return st
}
