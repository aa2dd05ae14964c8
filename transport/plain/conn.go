package plain

import (
	"fmt"
	"net"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Conn is a connection with one peer. All its methods are safe for concurrent
// use. Chunks of concurrent calls of Send or Enqueue go out in some order; each
// complete chunk goes to one caller of Recv.
type Conn struct {
	endpoint *Endpoint
	peer     udp.Peer
	begun    bool // by the peer
	log      eventlog.Log

	// Guarded by endpoint.driver.

	quiet          bool // in one of the endpoint's quiet lists, between these two
	before, behind *Conn
	validated      bool // the peer has acked a slice

	lanes     *lanes.Lanes
	sending   driver.Deliveries // in flight or queued
	chunks    [][]byte          // complete, for Recv
	trialWait core.Micros       // of a peer that is not validated, before the next slice
	heardAt   core.Micros
	slot      driver.Slot
	traffic   Traffic
	arrived   driver.Signal // there is a chunk to receive, or the connection has ended
	done      driver.Signal // the connection has ended
	err       error         // why it has ended; nil while it is active
}

// newConn returns a connection that its endpoint does not know yet. Its machines,
// one for each direction, are new and begin with chunk 0 (CON-1, CID-1).
func (e *Endpoint) newConn(peer udp.Peer, end eventlog.End) (*Conn, error) {
	c := &Conn{endpoint: e, peer: peer}
	if e.cfg.Log != nil {
		c.log = e.cfg.Log.Of(int(e.logged.Add(1)), end)
	}
	var err error
	c.lanes, err = c.newLanes()
	return c, err
}

// Endpoint returns the endpoint that the connection belongs to.
func (c *Conn) Endpoint() *Endpoint { return c.endpoint }

// LocalAddr returns the address of the endpoint's socket.
func (c *Conn) LocalAddr() net.Addr { return c.endpoint.Addr() }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.peer.Addr() }

// Err returns why the connection has ended, or nil while it is active.
func (c *Conn) Err() error {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	return c.err
}

// Done returns a channel that is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	if c.err != nil {
		return driver.Given
	}
	return c.done.Wait()
}

// Close ends the connection with ErrClosed. Nothing is sent to say so: what the
// peer has in flight fails when it gives up. Chunks in flight and queued here
// fail; chunks that are complete can still be received. Acks that are due go out,
// but they may be lost: an end that leaves after it received should Linger first.
//
// Close is idempotent and returns nil, or, for a connection made by the functions
// Dial and Over, what closing its socket returned; then both goroutines of its
// endpoint have ended.
func (c *Conn) Close() error {
	e := c.endpoint
	e.driver.Lock()
	c.endLocked(fmt.Errorf("%w: connection with %v", ErrClosed, c.peer))
	sole := e.sole == c
	e.driver.Unlock()
	if sole {
		return e.Close()
	}
	return nil
}

// handleLocked takes a packet that came from the peer. What is not of this
// connection is no sign of the peer (CON-6).
func (c *Conn) handleLocked(now core.Micros, p *packet, size int) {
	c.traffic.In(size)
	ours := false
	if p.Type == codec.TypeSlice {
		ours = c.lanes.HandleSlice(now, p.lane, p.Slice)
	} else {
		ours = c.lanes.HandleAck(now, p.lane, p.Ack)
		if ours && !c.validated && c.lanes.Stats().Sender.SlicesAcked > 0 { // SEC-4, RPX-12
			c.validateLocked(now)
		}
	}
	if ours {
		c.heardLocked(now)
	}
	c.settleLocked(now)
	c.scheduleLocked(now)
}

// heardLocked notes that something valid came from the peer.
func (c *Conn) heardLocked(now core.Micros) {
	c.heardAt = max(c.heardAt, now)
	if c.quiet {
		c.endpoint.quiet.remove(c)
		c.endpoint.quiet.add(c)
	}
}

// polled is a connection as its driver sees it.
type polled Conn

func (c *polled) PollLocked(now core.Micros, b *driver.Batch) { (*Conn)(c).pollLocked(now, b) }

// pollLocked puts what is due into the batch, acks first, until nothing more is,
// and then gives the connection its next time (SND-3, RCV-1). One that fills the
// batch is due again at once, behind all that have waited longer.
func (c *Conn) pollLocked(now core.Micros, b *driver.Batch) {
	for !b.Full() {
		k, a, ok := c.lanes.PollAck(now)
		if !ok {
			break
		}
		c.addAck(b, k, a)
	}
	for !b.Full() {
		k, s, ok := c.lanes.PollSlice(now)
		if !ok {
			break
		}
		c.spendLocked(now, c.addSlice(b, k, s))
	}
	earliest := now
	if !b.Full() {
		// Nothing is due, so the next time lies ahead, whatever the scheduler says.
		earliest = now + 1
	}
	c.settleLocked(now)
	c.scheduleLocked(earliest)
}

func (c *Conn) addAck(b *driver.Batch, lane int, a codec.Ack) {
	buf, err := c.endpoint.framers[lane].AppendAck(b.Room(), a)
	c.add(b, buf, err)
}

// addSlice returns the bytes that the slice's datagram has.
func (c *Conn) addSlice(b *driver.Batch, lane int, s codec.Slice) int {
	buf, err := c.endpoint.framers[lane].AppendSlice(b.Room(), s)
	return c.add(b, buf, err)
}

// add keeps a datagram that was encoded into the batch. There is no error: what
// the machines make can be encoded.
func (c *Conn) add(b *driver.Batch, buf []byte, err error) (size int) {
	if err != nil {
		return 0
	}
	size = b.Add(c.peer, buf, false)
	c.traffic.Out(size)
	return size
}

// settleLocked delivers finished chunks, and ends the connection if a machine failed
// or the idle timeout has passed. A lane that fails ends the others (LAN-6).
func (c *Conn) settleLocked(now core.Micros) {
	c.finishSendingLocked()
	c.advanceReceivingLocked(now)
	c.trackQuietLocked()
	if err := c.lanes.Err(); err != nil {
		c.endLocked(fmt.Errorf("%w after %v: connection with %v: %w", ErrGaveUp, c.endpoint.cfg.GiveUp, c.peer, err))
	}
	if now >= c.idleAtLocked() {
		c.endLocked(fmt.Errorf("%w: nothing from %v for %v", ErrIdle, c.peer, c.endpoint.cfg.IdleTimeout))
	}
}

// scheduleLocked sets when the driver looks again, not before earliest.
func (c *Conn) scheduleLocked(earliest core.Micros) {
	if c.err != nil {
		return
	}
	deadline := min(c.lanes.Deadline(), c.idleAtLocked())
	c.endpoint.driver.ScheduleLocked(&c.slot, max(earliest, deadline))
}

// idleAtLocked returns when the connection ends if nothing more is received.
func (c *Conn) idleAtLocked() core.Micros {
	if c.endpoint.cfg.IdleTimeout == 0 {
		return core.Never
	}
	return c.heardAt + core.FromDuration(c.endpoint.cfg.IdleTimeout)
}

// endLocked ends the connection, unless it has ended. It is the only place where
// that happens: afterwards nothing is left of it in the endpoint.
func (c *Conn) endLocked(cause error) {
	if c.err != nil {
		return
	}
	c.err = cause
	e := c.endpoint
	e.logEndLocked(c)
	e.removeLocked(c)
	e.sendLastAcksLocked(c)
	c.endReceivingLocked()
	if len(c.chunks) == 0 {
		e.waiting.Remove(c)
	}
	c.sending.End(cause)
	c.done.Give()
	if e.sole == c {
		e.driver.EndLocked(cause)
	}
}
