package plain

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Endpoint is a socket and its connections. All its methods are safe for
// concurrent use.
type Endpoint struct {
	cfg     Config
	socket  udp.Socket
	framers []codec.Framer // one a lane
	clock   clock
	tasks   sync.WaitGroup // the reader and the driver
	wake    chan struct{}  // ends the driver's sleep; one is enough
	done    chan struct{}  // closed when the endpoint has ended
	driven  chan struct{}  // closed when the driver has ended

	latestLane int // the reader's: the lane of the latest datagram that decoded

	closeOnce sync.Once
	closeErr  error

	mu              sync.Mutex // guards all below, and the connections
	conns           map[udp.Key]*Conn
	sole            *Conn // made by Dial or Over: the endpoint ends with it
	agenda          agenda
	sleepUntil      machine.Micros // what the driver sleeps for; awake while it works
	watchdog        watchdog
	lastAcks        []udp.Run // of ended connections
	flushes         []flush   // who waits for the driver
	waiting         waitingList
	quiet           quietConns
	memory          statemachine.Memory // of all receivers
	buffers         bufferPool          // of RecvAppend
	stats           EndpointStats
	undecodableFrom udp.Peer
	err             error // why it has ended; nil while it is active
}

// awake is before any time that the driver could sleep for.
const awake machine.Micros = -1

const (
	maxLastAcks = 1024
	// lastWrites is how long Close waits for a socket that does not take the
	// last acks.
	lastWrites = time.Second
)

// New returns an endpoint on a socket. It takes the socket over, and closes it
// when the endpoint ends; if New fails it leaves the socket open. It fails with
// machine.ErrConfig.
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
		return nil, machine.ConfigError("the socket", "connected", "one that is not; Over takes connected ones")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := newEndpoint(udp.New(pc), cfg)
	e.start(pc)
	return e, nil
}

// newEndpoint returns an endpoint without goroutines.
func newEndpoint(socket udp.Socket, cfg Config) *Endpoint {
	e := &Endpoint{
		cfg:        cfg,
		socket:     socket,
		framers:    laneFramers(cfg.ProtocolID, cfg.Lanes),
		clock:      startClock(),
		waiting:    newWaitingList(cfg.MaxPeers),
		wake:       make(chan struct{}, 1),
		done:       make(chan struct{}),
		driven:     make(chan struct{}),
		conns:      make(map[udp.Key]*Conn),
		sleepUntil: awake,
	}
	e.watchdog.endpoint = e
	return e
}

// start sets the buffers of the socket, which is conn, and starts the goroutines.
func (e *Endpoint) start(conn any) {
	b := udp.SizeBuffers(conn, e.cfg.SocketBuffer)
	e.stats.BufferWanted = e.cfg.SocketBuffer
	e.stats.ReadBuffer, e.stats.WriteBuffer, e.stats.BufferError = b.Read, b.Write, b.Err
	e.tasks.Go(e.read)
	e.tasks.Go(e.drive)
}

// Listen returns an endpoint on a new socket. The network is "udp", "udp4" or
// "udp6". It fails with machine.ErrConfig or with the error of net.ListenPacket.
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
func (e *Endpoint) Addr() net.Addr { return e.socket.LocalAddr() }

// Done returns a channel that is closed when the endpoint has ended: closed, or
// without a working socket.
func (e *Endpoint) Done() <-chan struct{} { return e.done }

// Err returns why the endpoint has ended, or nil while it is active.
func (e *Endpoint) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Close ends all connections and the endpoint with ErrClosed, and closes the
// socket. When it returns, the endpoint's goroutines have ended. It returns
// what closing the socket returned, each time.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.shutdownLocked(fmt.Errorf("%w: endpoint %v", ErrClosed, e.Addr()))
	e.mu.Unlock()
	patience := time.NewTimer(lastWrites)
	defer patience.Stop()
	select {
	case <-e.driven:
	case <-patience.C:
		e.closeSocket()
	}
	e.tasks.Wait()
	return e.closeErr
}

// closeSocket closes the socket, once. It ends the reader.
func (e *Endpoint) closeSocket() {
	e.closeOnce.Do(func() {
		e.closeErr = e.socket.Close()
		if errors.Is(e.closeErr, net.ErrClosed) {
			e.closeErr = nil // somebody else did it
		}
	})
}

// shutdownLocked ends the endpoint, unless it has ended. The driver then closes
// the socket.
func (e *Endpoint) shutdownLocked(cause error) {
	if e.err != nil {
		return
	}
	e.err = cause
	for _, c := range e.conns {
		c.endLocked(cause)
	}
	close(e.done)
	e.watchdog.stopLocked()
	e.wakeDriverLocked()
}

// addLocked makes a connection known: from now on it takes part in everything.
func (e *Endpoint) addLocked(c *Conn) {
	now := e.clock.now()
	c.heardAt, c.due = now, machine.Never
	e.conns[c.peer.Key] = c
	e.agenda.add(c)
	if c.begun {
		e.quiet.unvalidated++
	}
	c.scheduleLocked(now)
}

// checkRoomLocked returns why there can be no connection with a peer, if so.
func (e *Endpoint) checkRoomLocked(peer udp.Peer) error {
	switch {
	case e.err != nil:
		return e.err
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
	e.agenda.remove(c)
	e.quiet.remove(c)
	if c.begun && !c.validated {
		e.quiet.unvalidated--
	}
}
