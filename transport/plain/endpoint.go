package plain

import (
	"fmt"
	"net"
	"sync/atomic"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Endpoint is a socket and its connections. All its methods are safe for
// concurrent use.
type Endpoint struct {
	cfg     Config
	framers []codec.Framer // one a lane
	driver  *driver.Driver

	logged     atomic.Int64 // connections that have a number in the log
	latestLane int          // the reader's: the lane of the latest datagram that decoded

	// Guarded by driver, as the connections are.

	conns           map[udp.Key]*Conn
	sole            *Conn // made by Dial or Over: the endpoint ends with it
	waiting         driver.Waiting[*Conn]
	quiet           quietConns
	memory          statemachine.Memory // of all receivers
	buffers         driver.Buffers      // of RecvAppend
	stats           EndpointStats       // what the driver does not count
	undecodableFrom udp.Peer
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
		cfg:     cfg,
		framers: laneFramers(cfg.ProtocolID, cfg.Lanes, cfg.Repair),
		waiting: driver.NewWaiting[*Conn](min(cfg.MaxPeers, maxWaiting)),
		conns:   make(map[udp.Key]*Conn),
	}
	e.driver = driver.New(socket, (*protocol)(e), driver.StartClock(), codec.MaxDatagramSize)
	e.driver.Log = driver.NewLog(cfg.Logger)
	return e
}

// Listen returns an endpoint on a new socket. The network is "udp", "udp4" or
// "udp6". It fails with core.ErrConfig or with the error of net.ListenPacket.
func Listen(network, address string, cfg Config) (*Endpoint, error) {
	if err := checkNetwork(network); err != nil {
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

func checkNetwork(network string) error {
	switch network {
	case "udp", "udp4", "udp6":
		return nil
	}
	return net.UnknownNetworkError(network)
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

// addLocked makes a connection known: from now on it takes part in everything.
func (e *Endpoint) addLocked(c *Conn) {
	now := e.driver.Now()
	c.heardAt = now
	e.conns[c.peer.Key] = c
	e.driver.Log.Begun(c.peer)
	c.logStarted(now)
	e.driver.AddLocked(&c.slot, (*polled)(c))
	if c.begun {
		e.quiet.unvalidated++
	}
	c.scheduleLocked(now)
}

// checkRoomLocked returns why there can be no connection with a peer, if so.
func (e *Endpoint) checkRoomLocked(peer udp.Peer) error {
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
	delete(e.conns, c.peer.Key)
	e.driver.RemoveLocked(&c.slot)
	e.quiet.remove(c)
	if c.begun && !c.validated {
		e.quiet.unvalidated--
	}
}
