package plain

import (
	"errors"
	"fmt"
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Conn is a connection with one peer. All its methods are safe for concurrent
// use. Chunks of concurrent calls of Send or Enqueue are sent in some order; each
// complete chunk goes to one caller of Recv.
//
// It sends and receives as transport.Chunks does, by the methods Send, SendEncoded, Enqueue,
// EnqueueEncoded, Recv, RecvAppend, RecvReady and Flush; Done, Err, LocalAddr, RemoteAddr,
// Lanes, SenderStats, ReceiverStats and Receiving are the same, too.
type Conn struct {
	driver.ChunkQueue

	endpoint *Endpoint
	link     driver.Link
	begun    bool // by the peer
	log      eventlog.Log

	// Guarded by the driver.

	end           *connection.Plain
	list          *quietList // the one that it is in, between these two; nil if in none
	before, after *Conn
	validated     bool // as the endpoint has counted it
}

// Delivery is a chunk on its way to the peer.
type Delivery = driver.Delivery

// moreOfIPv6 is how many bytes longer its header is than the header of IPv4, which
// codec.HeaderBytes counts.
const moreOfIPv6 = 20

// newConn returns a connection that its endpoint does not know yet.
func (e *Endpoint) newConn(peer udp.Addr, side connection.Side) (*Conn, error) {
	c := &Conn{endpoint: e, begun: side == connection.ServerSide}
	if e.cfg.Log != nil {
		role := eventlog.Client
		if c.begun {
			role = eventlog.Server
		}
		c.log = e.cfg.Log.Of(int(e.logged.Add(1)), role)
	}
	header := codec.HeaderBytes
	if peer.IPv6() {
		header += moreOfIPv6
	}
	var err error
	c.end, err = connection.NewPlain(&e.ends, side, header, c.log, e.driver.Now())
	c.link = driver.Link{Links: &e.links, Owner: (*owner)(c), End: c.end, Chunks: c.end, To: peer}
	c.ChunkQueue = driver.NewChunkQueue(&c.link)
	return c, err
}

// Endpoint returns the endpoint that the connection belongs to.
func (c *Conn) Endpoint() *Endpoint { return c.endpoint }

// Close ends the connection with ErrClosed. Nothing is sent to say so: what the
// peer has in flight fails when it gives up. Chunks in flight and queued here
// fail; chunks that are complete can still be received. Acks that are due are sent,
// but they can be lost: an end that leaves after it received should Linger first.
//
// Close is idempotent and returns nil, or, for a connection made by the functions
// Dial and Over, what closing its socket returned; then both goroutines of its
// endpoint have ended.
func (c *Conn) Close() error {
	e := c.endpoint
	e.driver.Lock()
	c.endLocked(fmt.Errorf("%w: connection with %v", ErrClosed, c.link.To))
	sole := e.sole == c
	e.driver.Unlock()
	if sole {
		return e.Close()
	}
	return nil
}

// handleLocked takes a packet that came from the peer.
func (c *Conn) handleLocked(now core.Micros, p *connection.PlainPacket, size int) {
	c.link.Traffic.In(size)
	if c.end.Receive(now, p) {
		c.validateLocked()
		c.endpoint.quiet.toBack(c)
	}
	c.updateLocked(now, now)
}

// owner is a connection as its link sees it.
type owner Conn

func (o *owner) UpdateLocked(now, earliest core.Micros) { (*Conn)(o).updateLocked(now, earliest) }
func (o *owner) AbandonLocked(cause error)              { (*Conn)(o).endLocked(cause) }

// updateLocked ends an event.
func (c *Conn) updateLocked(now, earliest core.Micros) {
	if c.link.ErrLocked() != nil {
		return
	}
	c.link.DeliverLocked(now)
	c.trackQuietLocked()
	if err := c.end.Err(); err != nil {
		c.endLocked(c.explain(err))
		return
	}
	c.link.ScheduleLocked(max(earliest, c.end.Deadline()))
}

// explain returns why the connection ended, as an error of this package.
func (c *Conn) explain(err error) error {
	if errors.Is(err, session.ErrTimeout) {
		return fmt.Errorf("%w: nothing from %v for %v", ErrIdle, c.link.To, c.endpoint.cfg.IdleTimeout)
	}
	return fmt.Errorf("%w after %v: connection with %v: %w", ErrGaveUp, c.endpoint.cfg.GiveUp, c.link.To, err)
}

// endLocked ends the connection, unless it has ended. It is the only place where
// that happens: afterwards nothing is left of it in the endpoint.
func (c *Conn) endLocked(cause error) {
	if c.link.ErrLocked() != nil {
		return
	}
	e := c.endpoint
	e.logEndLocked(c, cause)
	e.removeLocked(c)
	c.end.Close()
	c.link.SendLastLocked(e.driver.Now(), math.MaxInt)
	c.link.EndLocked(cause)
	if c.link.CompleteLocked() == 0 || e.acceptor.Full() {
		e.acceptor.Withdraw(c)
	}
	if e.sole == c {
		e.driver.EndLocked(cause)
	}
}
