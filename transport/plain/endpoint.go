package plain

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Endpoint is a socket and its connections. All its methods are safe for
// concurrent use.
type Endpoint struct {
	cfg      Config
	ends     connection.PlainConfig // of all connections
	driver   *driver.Driver
	acceptor *driver.Acceptor[*Conn]

	logged atomic.Int64 // connections that have a number in the log

	// Guarded by driver, as the connections are.

	conns           map[udp.Key]*Conn
	sole            *Conn // made by Dial or Over: the endpoint ends with it
	quiet           quietConns
	links           driver.Links
	stats           EndpointStats // what the driver does not count
	undecodableFrom udp.Addr
	refusals        eventlog.Limit
}

// New returns an endpoint on a socket. It takes the socket over, and closes it
// when the endpoint ends; if New fails it leaves the socket open. It fails with
// core.ErrConfig.
//
// A socket of type *net.UDPConn, which must not be connected, is used without
// allocations and, on Linux, with segmentation offload; all others by the methods
// of net.PacketConn.
//
// A PacketConn that wraps another, to encrypt datagrams for instance, should
// have a method Unwrap() net.PacketConn that returns it, or else SetReadBuffer,
// SetWriteBuffer and SyscallConn: with the system's default buffers a burst loses
// slices. EndpointStats.BufferError says if they were not found.
func New(pc net.PacketConn, cfg Config) (*Endpoint, error) {
	if udp.IsConnected(pc) {
		return nil, core.ConfigError("the socket", "connected", "one that is not; Over takes connected ones")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := newEndpoint(udp.New(pc), cfg)
	e.driver.Start(pc, cfg.SocketBuffer)
	return e, nil
}

// newEndpoint returns an endpoint without goroutines.
func newEndpoint(socket udp.Socket, cfg Config) *Endpoint {
	e := &Endpoint{
		cfg:      cfg,
		ends:     cfg.ends(),
		acceptor: driver.NewAcceptor[*Conn](driver.AcceptorBounds{All: min(cfg.MaxPeers, maxWaiting)}),
		conns:    make(map[udp.Key]*Conn),
	}
	e.ends.Chunks.Memory = new(statemachine.Memory)
	e.driver = driver.New(socket, (*protocol)(e), driver.StartClock(), codec.MaxDatagramSize)
	e.links = driver.Links{Driver: e.driver, RecvQueue: cfg.RecvQueue}
	e.driver.Log = driver.NewLog(cfg.Logger, e.driver.Clock)
	return e
}

// Listen returns an endpoint on a new socket. The network is "udp", "udp4" or
// "udp6". It fails with core.ErrConfig or with the error of net.ListenPacket.
func Listen(network, address string, cfg Config) (*Endpoint, error) {
	if err := udp.CheckNetwork(network); err != nil {
		return nil, err
	}
	pc, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	e, err := New(pc, cfg)
	if err != nil {
		pc.Close()
	}
	return e, err
}

// Config returns the endpoint's configuration, with what stands for its zeros.
func (e *Endpoint) Config() Config { return e.cfg }

// Addr returns the address of the socket.
func (e *Endpoint) Addr() net.Addr { return e.driver.Socket().LocalAddr() }

// Done returns a channel that is closed when the endpoint has ended: closed, or
// without a working socket.
func (e *Endpoint) Done() <-chan struct{} { return e.driver.Done() }

// Err returns why the endpoint has ended, or nil while it is active.
func (e *Endpoint) Err() error { return e.driver.Err() }

// Close ends all connections and the endpoint with ErrClosed, and closes the
// socket. When it returns, the endpoint's goroutines have ended. It returns
// what closing the socket returned, each time.
func (e *Endpoint) Close() error {
	return e.driver.Close(fmt.Errorf("%w: endpoint %v", ErrClosed, e.Addr()))
}

// maxWaiting is how many connections wait for Accept at most.
const maxWaiting = 128

// Accept returns the next connection that a peer began. There is none before the
// peer's first chunk has begun to arrive: a client that only waits for what the
// server sends must send a first chunk, and one byte will do.
//
// Accept fails with ErrCanceled, or, once the endpoint has ended, with the error
// that ended it. At most 128 connections wait for Accept; beginnings of further
// ones are dropped, and their peers try again. Of those that have ended while they
// waited only the ones that left something to receive are returned.
func (e *Endpoint) Accept(ctx context.Context) (*Conn, error) { return e.acceptor.Accept(ctx) }

// addLocked makes a connection known: from now on it takes part in everything.
func (e *Endpoint) addLocked(c *Conn) {
	now := e.driver.Now()
	e.conns[c.link.To.Key] = c
	e.driver.Log.Begun(c.link.To)
	c.logStarted(now)
	if c.begun {
		e.quiet.unvalidated++
	}
	c.link.AddLocked(&c.link, max(now, c.end.Deadline()))
}

// checkRoomLocked returns why there can be no connection with a peer, if so.
func (e *Endpoint) checkRoomLocked(peer udp.Addr) error {
	switch err := e.driver.ErrLocked(); {
	case err != nil:
		return err
	case e.conns[peer.Key] != nil:
		return fmt.Errorf("%w: %v", ErrExists, peer)
	case len(e.conns) >= e.cfg.MaxPeers:
		return fmt.Errorf("%w: %d", ErrTooManyPeers, len(e.conns))
	}
	return nil
}

// removeLocked forgets a connection, so that ended ones cost nothing.
func (e *Endpoint) removeLocked(c *Conn) {
	delete(e.conns, c.link.To.Key)
	c.link.RemoveLocked()
	e.quiet.remove(c)
	if c.begun && !c.validated {
		e.quiet.unvalidated--
	}
}
