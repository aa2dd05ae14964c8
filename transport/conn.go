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
	sole     bool // made by the function Dial: the endpoint ends with it
	begun    bool // by the peer

	recv chan *[]byte // complete chunks; filled and closed under the lock

	// Guarded by endpoint.mu.

	lanes   []lane
	only    [1]lane     // their memory, if there is one alone
	nextOut int         // lane of the next chunk to submit
	nextIn  int         // lane of the next chunk to deliver
	queue   []*Delivery // behind those in flight, at most Config.SendQueue
	heardAt statemachine.Micros
	due     statemachine.Micros // when the driver looks again
	place   int                 // in the endpoint's agenda
	silent  *list.Element       // in the endpoint's silence, if begun
	traffic Traffic
	room    signal // the queue is shorter
	done    signal // the connection has ended
	err     error  // why it has ended; nil while it lives
}

// newConn returns a connection that its endpoint does not know yet. Its machines,
// one for each direction, are new and begin with chunk 0 (CON-1, CID-1).
func (e *Endpoint) newConn(peer origin) *Conn {
	c := &Conn{
		endpoint: e,
		peer:     peer,
		// More than may wait, for the chunks that are complete at the end.
		recv: make(chan *[]byte, e.cfg.RecvQueue+e.cfg.Lanes),
	}
	c.lanes = c.only[:]
	if e.cfg.Lanes > 1 {
		c.lanes = make([]lane, e.cfg.Lanes)
	}
	for k := range c.lanes {
		c.lanes[k] = c.newLane()
	}
	return c
}

// newLane returns a pair of machines.
func (c *Conn) newLane() lane {
	e := c.endpoint
	giveUp := statemachine.FromDuration(e.cfg.GiveUp)
	sending := statemachine.SenderConfig{GiveUp: giveUp, Scheduler: e.cfg.NewScheduler()}
	if observe := e.cfg.Observe; observe != nil {
		sending.Observe = func(o statemachine.Observation) { observe(c, o) }
	}
	return lane{
		scheduler: sending.Scheduler,
		sender:    statemachine.NewSender(sending),
		receiver:  statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: giveUp, Memory: &e.memory}),
	}
}

// Endpoint returns the endpoint that the connection belongs to.
func (c *Conn) Endpoint() *Endpoint { return c.endpoint }

// LocalAddr returns the address of the endpoint's socket.
func (c *Conn) LocalAddr() net.Addr { return c.endpoint.Addr() }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.peer.netAddr() }

// Err returns why the connection has ended, or nil while it lives.
func (c *Conn) Err() error {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	return c.err
}

// Done returns a channel that is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	if c.err != nil {
		return alreadyDone
	}
	return c.done.wait()
}

// alreadyDone is what Done returns of every connection that has ended.
var alreadyDone = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

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
	c.end(fmt.Errorf("%w: connection with %v", ErrClosed, c.peer))
	c.endpoint.mu.Unlock()
	if c.sole {
		return c.endpoint.Close()
	}
	return nil
}

// The rest of this file needs endpoint.mu.

// handle takes a packet that came from the peer.
func (c *Conn) handle(now statemachine.Micros, p *packet, size int) {
	l := &c.lanes[p.lane]
	c.traffic.in(size)
	valid := false
	if p.Type == codec.TypeSlice {
		l.receiver.HandleSlice(now, p.Slice)
		valid = !ignoredSlice(l.receiver.Row())
	} else {
		l.sender.HandleAck(now, p.Ack)
		valid = !ignoredAck(l.sender, p.Ack)
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
func ignoredAck(sender *statemachine.Sender, a codec.Ack) bool {
	switch sender.Row() {
	case statemachine.S6ForeignAck:
		return true
	case statemachine.S5IdleAck: // only of the chunk before, if there was one
		return a.ChunkID != sender.ChunkID()-1 || sender.Stats().Chunks == 0
	}
	return false
}

// poll puts what is due into the batch, acks first, until nothing more is, and
// then gives the connection its next time (SND-3, RCV-1). One that fills the
// batch is due again at once, behind all that have waited longer.
func (c *Conn) poll(now statemachine.Micros, b *batch) {
	c.pollAcks(now, b)
	c.pollSlices(now, b)
	earliest := now
	if !b.full() {
		// Nothing is due, so the next time lies ahead, whatever the scheduler says.
		earliest = now + 1
	}
	c.settle(now)
	c.schedule(earliest)
}

func (c *Conn) pollAcks(now statemachine.Micros, b *batch) {
	for k := range c.lanes {
		for !b.full() {
			a, ok := c.lanes[k].receiver.Poll(now)
			if !ok {
				break
			}
			b.addAck(c, k, a)
		}
	}
}

// pollSlices takes those of the earlier chunks first (LAN-8).
func (c *Conn) pollSlices(now statemachine.Micros, b *batch) {
	for k, l := range c.bySubmission() {
		for !b.full() {
			s, ok := l.sender.Poll(now)
			if !ok {
				break
			}
			b.addSlice(c, k, s)
		}
	}
}

// settle draws the consequences of what the machines of a live connection did. A
// lane that fails takes the others with it (LAN-6).
func (c *Conn) settle(now statemachine.Micros) {
	c.advanceSending(now)
	c.advanceReceiving(now)
	giveUp := c.endpoint.cfg.GiveUp
	for i := range c.lanes {
		switch l := &c.lanes[i]; {
		case l.sender.Err() != nil:
			c.end(fmt.Errorf("%w: %ssending chunk %d to %v: no progress for %v", ErrGaveUp, c.laneName(i), l.sender.ChunkID(), c.peer, giveUp))
		case l.receiver.Err() != nil:
			c.end(fmt.Errorf("%w: %sreceiving chunk %d from %v: no progress for %v", ErrGaveUp, c.laneName(i), l.receiver.ChunkID(), c.peer, giveUp))
		}
	}
	if now >= c.idleAt() {
		c.end(fmt.Errorf("%w: nothing from %v for %v", ErrIdle, c.peer, c.endpoint.cfg.IdleTimeout))
	}
}

// schedule tells the driver when to look again, not before earliest.
func (c *Conn) schedule(earliest statemachine.Micros) {
	if c.err != nil {
		return
	}
	deadline := min(c.deadlines(), c.idleAt())
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
	c.done.give()
	if c.sole {
		e.shutdown(cause)
	}
}
