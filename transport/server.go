package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Server is an address where clients connect. All its methods are safe for concurrent
// use.
type Server struct {
	settings settings
	clock    driver.Clock
	seed     maphash.Seed // of the spread of identities
	log      *driver.Log
	shards   []*shard
	closing  atomic.Bool // no new connections
	goodbye  atomic.Pointer[goodbye]

	total, anonymous *lanes.Total // of all shards

	ctx    context.Context // of functions of the application
	cancel func()

	closeOnce sync.Once
	closeErr  error

	acceptor *driver.Acceptor[*Peer]
}

// Listen returns a server at an address. The network is "udp", "udp4" or "udp6". It
// fails with core.ErrConfig, with an error of the net package, or with
// errors.ErrUnsupported if the system has no SO_REUSEPORT for Config.Sockets.
func Listen(network, address string, cfg Config) (*Server, error) {
	if err := udp.CheckNetwork(network); err != nil {
		return nil, err
	}
	set, err := newSettings(cfg)
	if err != nil {
		return nil, err
	}
	conns, err := udp.ListenMany(network, address, set.Sockets)
	if err != nil {
		return nil, err
	}
	return newServer(set, conns)
}

// New returns a server on a socket. It takes the socket over, and closes it when the
// server ends, also if New fails. It fails with core.ErrConfig.
//
// A socket of type *net.UDPConn, which must not be connected, is used without
// allocations and, on Linux, with segmentation offload; all others by the methods of
// net.PacketConn. One that wraps another should have a method Unwrap()
// net.PacketConn that returns it, so that its buffers are found.
func New(pc net.PacketConn, cfg Config) (*Server, error) {
	set, err := newSettings(cfg)
	switch {
	case err == nil && udp.IsConnected(pc):
		err = core.ConfigError("the socket", "connected", "one that is not")
	case err == nil && set.Sockets > 1:
		err = core.ConfigError("Config.Sockets", set.Sockets, "1 with New")
	}
	if err != nil {
		pc.Close()
		return nil, err
	}
	return newServer(set, []net.PacketConn{pc})
}

// newServer returns a server on sockets at one address, which it closes if it fails.
func newServer(set settings, conns []net.PacketConn) (*Server, error) {
	s := &Server{
		settings: set, clock: driver.StartClock(), seed: maphash.MakeSeed(),
	}
	s.log = driver.NewLog(set.Logger, s.clock)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.total = lanes.NewTotal(set.ServerRate, nil)
	s.anonymous = lanes.NewTotal(set.AnonymousRate, s.total)
	for i, pc := range conns {
		sh, err := newShard(s, udp.New(pc), i)
		if err != nil {
			for _, pc := range conns {
				pc.Close()
			}
			return nil, err
		}
		s.shards = append(s.shards, sh)
	}
	// One that ends keeps its place until it is accepted, or who comes and goes would fill
	// the memory of a server that does not accept. Living ones take such places.
	s.acceptor = driver.NewAcceptor[*Peer](driver.AcceptorBounds{All: set.MaxPeers, OfSource: set.MaxPerAddress})
	for i, sh := range s.shards {
		sh.driver.Start(conns[i], set.SocketBuffer)
	}
	return s, nil
}

// Accept returns the next client that has connected: its handshake is done, its
// address validated and, if it has an identity, that proven; and Config.Admit lets it in. Accept fails with
// ErrCanceled, or, once the server has ended, with the error that ended it. Of
// connections that ended meanwhile only those that left something to receive are
// returned. They count for Config.MaxPeers and MaxPerAddress: one that ends beyond
// these is not kept, and a newcomer takes the place of the latest.
func (s *Server) Accept(ctx context.Context) (*Peer, error) {
	p, err := s.acceptor.Accept(ctx)
	if err == nil {
		p.accepted.Store(true)
	}
	return p, err
}

// offerLocked gives the application a client that has connected.
func (s *Server) offerLocked(p *Peer) {
	if s.settings.Admit == nil {
		s.acceptor.Offer(p)
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, p.conn.Link().Agreed().Timeout.Duration())
	p.endAdmit = cancel
	go func() {
		defer cancel()
		s.admitted(p, s.settings.Admit(ctx, p))
	}()
}

// admitted ends what Config.Admit decides on a client.
func (s *Server) admitted(p *Peer, err error) {
	d := p.link.Driver
	d.Lock()
	defer d.Unlock()
	switch {
	case err == nil && p.link.ErrLocked() == nil && !s.closing.Load():
		s.acceptor.Offer(p)
	case err != nil:
		var veto *ClosedError
		if !errors.As(err, &veto) || veto == nil {
			veto = &ClosedError{} // any other error tells the client nothing
		}
		_ = p.closeLocked(veto.Code, veto.Text, cmp.Or(s.Err(), fmt.Errorf("%w: connection with %v: %w", ErrClosed, p.link.To, err)))
	}
}

// Config returns the server's configuration, with what stands for its zeros.
func (s *Server) Config() Config { return s.settings.Config }

// Addr returns the server's address.
func (s *Server) Addr() net.Addr { return s.shards[0].driver.Socket().LocalAddr() }

// Done returns a channel that is closed when the server has ended: closed, or without
// a working socket.
func (s *Server) Done() <-chan struct{} { return s.acceptor.Done() }

// Err returns why the server has ended, or nil while it is active.
func (s *Server) Err() error { return s.acceptor.Err() }

// Close closes all connections, which notifies their other ends, and the server with
// ErrClosed. When it returns the other ends have heard it, or a second is over; the
// sockets are closed, and the server's goroutines have ended, except calls of Config.Keys and Config.Admit that
// have not returned: their contexts have ended. It returns what closing the sockets returned, each time.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.closing.Store(true)
		s.cancel()
		cause := fmt.Errorf("%w: server %v", ErrClosed, s.Addr())
		s.acceptor.End(cause)
		deadline := time.Now().Add(connection.CloseTime.Duration())
		for _, sh := range s.shards {
			sh.closePeers(cause)
		}
		for _, sh := range s.shards {
			sh.awaitEmpty(deadline)
			if err := sh.driver.Close(cause); err != nil {
				s.closeErr = err
			}
		}
	})
	return s.closeErr
}

// end ends the server because a socket has failed.
func (s *Server) end(cause error) {
	s.cancel()
	s.acceptor.End(cause)
	for _, sh := range s.shards {
		sh.driver.Lock()
		sh.driver.EndLocked(cause)
		sh.driver.Unlock()
	}
}

// closePeers begins to close all connections.
func (sh *shard) closePeers(cause error) {
	sh.driver.Lock()
	defer sh.driver.Unlock()
	for p := range sh.peers {
		p.closeLocked(0, "", cause)
	}
}

// awaitEmpty waits until there is no connection left.
func (sh *shard) awaitEmpty(deadline time.Time) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		sh.driver.Lock()
		// A client whose handshake is done may not have said anything yet: it is told as soon as it does.
		empty, change := len(sh.peers) == 0 && !sh.table.HalfOpen(), sh.emptied.Wait()
		sh.driver.Unlock()
		if empty {
			return
		}
		select {
		case <-change:
		case <-sh.driver.Done():
			return
		case <-timer.C:
			return
		}
	}
}
