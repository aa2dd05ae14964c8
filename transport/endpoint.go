package transport

import (
	"container/list"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Endpoint is a socket and its connections. All its methods are safe for
// concurrent use.
type Endpoint struct {
	cfg     Config
	conn    net.PacketConn
	socket  socket
	framers []codec.Framer // one a lane
	clock   clock
	welcome func(net.Addr) bool // nil: nobody
	tasks   sync.WaitGroup      // the reader and the driver
	wake    chan struct{}       // ends the driver's sleep; one is enough
	done    chan struct{}       // closed when the endpoint has ended
	driven  chan struct{}       // closed when the driver has ended

	latestLane int // the reader's: the lane of the latest datagram that decoded

	closeOnce sync.Once
	closeErr  error

	mu         sync.Mutex // guards all below, and the connections
	conns      map[peerKey]*Conn
	agenda     agenda
	sleepUntil statemachine.Micros // what the driver sleeps for; awake while it works
	goodbyes   []message           // last acks of ended connections
	flushes    []flush             // who waits for the driver
	waiting    waitingList
	memory     statemachine.Memory // of all receivers
	silence    list.List           // of *Conn, those that peers began, the longest silent first
	stats      EndpointStats
	err        error // why it has ended; nil while it lives
}

// awake is before any time that the driver could sleep for.
const awake statemachine.Micros = -1

const (
	maxGoodbyes = 1024
	// lastWrites is how long Close waits for a socket that does not take the
	// last acks.
	lastWrites = time.Second
)

// New returns an endpoint on a socket. It takes the socket over, and closes it
// when the endpoint ends; if New fails it leaves the socket open. It fails with
// ErrConfig.
//
// A socket of type *net.UDPConn, which must not be connected, is used without
// allocations; all others by the methods of net.PacketConn.
func New(pc net.PacketConn, cfg Config) (*Endpoint, error) {
	welcome := cfg.Accept
	if welcome == nil {
		welcome = func(net.Addr) bool { return true }
	}
	return start(pc, cfg, welcome)
}

// start makes an endpoint and its goroutines.
func start(pc net.PacketConn, cfg Config, welcome func(net.Addr) bool) (*Endpoint, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Endpoint{
		cfg:        cfg,
		conn:       pc,
		socket:     newSocket(pc),
		framers:    laneFramers(cfg.ProtocolID, cfg.Lanes),
		clock:      startClock(),
		welcome:    welcome,
		waiting:    newWaitingList(cfg.MaxPeers),
		wake:       make(chan struct{}, 1),
		done:       make(chan struct{}),
		driven:     make(chan struct{}),
		conns:      make(map[peerKey]*Conn),
		sleepUntil: awake,
	}
	pc.SetDeadline(time.Time{}) // a deadline left over would look like a failure
	e.stats.BufferWanted = cfg.SocketBuffer
	e.stats.ReadBuffer, e.stats.WriteBuffer = sizeBuffers(pc, cfg.SocketBuffer)
	e.tasks.Go(e.read)
	e.tasks.Go(e.drive)
	return e, nil
}

// Listen returns an endpoint on a new socket. The network is "udp", "udp4" or
// "udp6". It fails with ErrConfig or with the error of net.ListenPacket.
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

// Addr returns the address of the socket.
func (e *Endpoint) Addr() net.Addr { return e.conn.LocalAddr() }

// Done returns a channel that is closed when the endpoint has ended: closed, or
// without a working socket.
func (e *Endpoint) Done() <-chan struct{} { return e.done }

// Err returns why the endpoint has ended, or nil while it lives.
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
	e.shutdown(fmt.Errorf("%w: endpoint %v", ErrClosed, e.Addr()))
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
		e.closeErr = e.conn.Close()
		if errors.Is(e.closeErr, net.ErrClosed) {
			e.closeErr = nil // somebody else did it
		}
	})
}

// The rest of this file needs e.mu.

// shutdown ends the endpoint, unless it has ended. The driver then closes the
// socket.
func (e *Endpoint) shutdown(cause error) {
	if e.err != nil {
		return
	}
	e.err = cause
	for _, c := range e.conns {
		c.end(cause)
	}
	close(e.done)
	e.wakeDriver()
}

// adopt makes a connection known, from when on it takes part in everything.
func (e *Endpoint) adopt(c *Conn) {
	now := e.clock.now()
	c.heardAt, c.due = now, statemachine.Never
	e.conns[c.peer.key] = c
	e.agenda.add(c)
	if c.begun {
		c.silent = e.silence.PushBack(c)
	}
	c.schedule(now)
}

// room returns why there can be no connection with a peer, if so.
func (e *Endpoint) room(peer origin) error {
	switch {
	case e.err != nil:
		return e.err
	case e.conns[peer.key] != nil:
		return fmt.Errorf("%w: %v", ErrExists, peer.netAddr())
	case len(e.conns) >= e.cfg.MaxPeers:
		return fmt.Errorf("%w: %d", ErrTooManyPeers, len(e.conns))
	}
	return nil
}

// forget removes a connection, so that ended ones cost nothing.
func (e *Endpoint) forget(c *Conn) {
	delete(e.conns, c.peer.key)
	e.agenda.remove(c)
	if c.begun {
		e.silence.Remove(c.silent)
	}
}

// sayGoodbye sends the acks that are due at a connection's end: without them a
// peer whose chunk is complete would not know.
func (e *Endpoint) sayGoodbye(c *Conn) {
	if len(e.goodbyes) >= maxGoodbyes {
		return
	}
	now := e.clock.now()
	for k := range c.lanes {
		for {
			a, ok := c.lanes[k].receiver.Poll(now)
			if !ok {
				break
			}
			if data, err := e.framers[k].AppendAck(nil, a); err == nil {
				e.goodbyes = append(e.goodbyes, message{data, len(data), c.peer})
				c.traffic.out(len(data))
			}
		}
	}
	e.wakeDriver()
}
