package transport

import (
	"container/list"
	"fmt"
	"net"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Conn is a connection with one peer. All its methods are safe for concurrent
// use. Chunks of concurrent calls of Send or Enqueue go out in some order; each
// complete chunk goes to one caller of Recv.
type Conn struct {
	endpoint *Endpoint
	peer     origin
	addr     net.Addr
	sole     bool // made by the function Dial: the endpoint ends with it
	begun    bool // by the peer

	slots chan struct{} // one taken for each chunk in flight or queued
	recv  chan []byte   // complete chunks; filled and closed under the lock
	done  chan struct{} // closed when the connection has ended

	// Guarded by endpoint.mu.

	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	inFlight *Delivery   // nil while the sender is idle
	queue    []*Delivery // behind inFlight, at most Config.SendQueue
	heardAt  statemachine.Micros
	due      statemachine.Micros // when the driver looks again
	place    int                 // in the endpoint's agenda
	silent   *list.Element       // in the endpoint's silence, if begun
	traffic  Traffic
	err      error // why it has ended; nil while it lives
}

// newConn returns a connection that its endpoint does not know yet.
func (e *Endpoint) newConn(peer origin) *Conn {
	c := &Conn{
		endpoint: e,
		peer:     peer,
		addr:     peer.netAddr(),
		slots:    make(chan struct{}, e.cfg.SendQueue+1),
		// One more than may wait, for the chunk that is complete at the end.
		recv: make(chan []byte, e.cfg.RecvQueue+1),
		done: make(chan struct{}),
	}
	giveUp := statemachine.FromDuration(e.cfg.GiveUp)
	sending := statemachine.SenderConfig{GiveUp: giveUp}
	if e.cfg.NewScheduler != nil {
		sending.Scheduler = e.cfg.NewScheduler()
	}
	if observe := e.cfg.Observe; observe != nil {
		sending.Observe = func(o statemachine.Observation) { observe(c, o) }
	}
	c.sender = statemachine.NewSender(sending)
	c.receiver = statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: giveUp})
	return c
}

// Endpoint returns the endpoint that the connection belongs to.
func (c *Conn) Endpoint() *Endpoint { return c.endpoint }

// LocalAddr returns the address of the endpoint's socket.
func (c *Conn) LocalAddr() net.Addr { return c.endpoint.Addr() }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.addr }

// Err returns why the connection has ended, or nil while it lives.
func (c *Conn) Err() error {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	return c.err
}

// Done returns a channel that is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the connection with ErrClosed. The peer is not told: what it has in
// flight fails when it gives up. Chunks in flight and queued here fail; chunks
// that are complete can still be received. Acks that are due go out, but they
// may be lost: an end that leaves after it received should Linger first.
//
// Close is idempotent and returns nil, or, for a connection made by the function
// Dial, what closing its socket returned; then both goroutines of its endpoint
// have ended.
func (c *Conn) Close() error {
	c.endpoint.mu.Lock()
	c.end(fmt.Errorf("%w: connection with %v", ErrClosed, c.addr))
	c.endpoint.mu.Unlock()
	if c.sole {
		return c.endpoint.Close()
	}
	return nil
}

// The rest of this file needs endpoint.mu.

// handle takes a packet that came from the peer.
func (c *Conn) handle(now statemachine.Micros, p *codec.Packet, size int) {
	c.traffic.in(size)
	valid := false
	if p.Type == codec.TypeSlice {
		c.receiver.HandleSlice(now, p.Slice)
		valid = !ignoredSlice(c.receiver.Row())
	} else {
		c.sender.HandleAck(now, p.Ack)
		valid = !c.ignoredAck(p.Ack)
	}
	if valid {
		c.heard(now)
	}
	c.settle(now)
	c.schedule(now)
}

// ignoredSlice reports whether a slice was of a chunk that the peer has no
// reason to send, as one that has restarted does.
func ignoredSlice(row statemachine.Row) bool {
	switch row {
	case statemachine.R4ForeignSlice, statemachine.R12ForeignSlice, statemachine.R15ForeignSlice:
		return true
	}
	return false
}

// ignoredAck reports whether an ack that the sender has handled was of a chunk
// that the peer has no reason to ack.
func (c *Conn) ignoredAck(a codec.Ack) bool {
	switch c.sender.Row() {
	case statemachine.S6ForeignAck:
		return true
	case statemachine.S5IdleAck: // only of the chunk before, if there was one
		return a.ChunkID != c.sender.ChunkID()-1 || c.sender.Stats().Chunks == 0
	}
	return false
}

// poll puts what is due into the batch, acks first, and then gives the
// connection its next time. One that fills the batch is due again at once,
// behind all that have waited longer.
func (c *Conn) poll(now statemachine.Micros, b *batch) {
	earliest := now
	for !b.full() {
		if a, ok := c.receiver.Poll(now); ok {
			b.addAck(c, a)
		} else if s, ok := c.sender.Poll(now); ok {
			b.addSlice(c, s)
		} else {
			// Nothing is due, so the next time lies ahead, whatever the
			// scheduler says.
			earliest = now + 1
			break
		}
	}
	c.settle(now)
	c.schedule(earliest)
}

// settle draws the consequences of what the machines of a live connection did.
func (c *Conn) settle(now statemachine.Micros) {
	c.advanceSending(now)
	c.advanceReceiving(now)
	giveUp := c.endpoint.cfg.GiveUp
	switch {
	case c.sender.Err() != nil:
		c.end(fmt.Errorf("%w: sending chunk %d to %v: no progress for %v", ErrGaveUp, c.sender.ChunkID(), c.addr, giveUp))
	case c.receiver.Err() != nil:
		c.end(fmt.Errorf("%w: receiving chunk %d from %v: no progress for %v", ErrGaveUp, c.receiver.ChunkID(), c.addr, giveUp))
	case now >= c.idleAt():
		c.end(fmt.Errorf("%w: nothing from %v for %v", ErrIdle, c.addr, c.endpoint.cfg.IdleTimeout))
	}
}

// schedule tells the driver when to look again, not before earliest.
func (c *Conn) schedule(earliest statemachine.Micros) {
	if c.err != nil {
		return
	}
	deadline := min(c.sender.Deadline(), c.receiver.Deadline(), c.idleAt())
	c.endpoint.agenda.move(c, max(earliest, deadline))
	c.endpoint.wakeDriver()
}

// idleAt returns when the connection ends if it hears nothing more.
func (c *Conn) idleAt() statemachine.Micros {
	if c.endpoint.cfg.IdleTimeout == 0 {
		return statemachine.Never
	}
	return c.heardAt + statemachine.FromDuration(c.endpoint.cfg.IdleTimeout)
}

// end ends the connection, unless it has ended. It is the only place where that
// happens: afterwards nothing is left of it in the endpoint.
func (c *Conn) end(cause error) {
	if c.err != nil {
		return
	}
	c.err = cause
	e := c.endpoint
	e.forget(c)
	e.sayGoodbye(c)
	c.endReceiving()
	if len(c.recv) == 0 {
		e.waiting.remove(c)
	}
	c.endSending()
	close(c.done)
	if c.sole {
		e.shutdown(cause)
	}
}
