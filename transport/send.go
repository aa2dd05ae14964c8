package transport

import (
	"context"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Delivery is a chunk on its way to the peer.
type Delivery struct {
	conn  *Conn
	chunk []byte // nil once done
	done  chan struct{}
	err   error // set before done is closed
}

// Done returns a channel that is closed when the peer has the whole chunk, or
// when that can no longer happen.
func (d *Delivery) Done() <-chan struct{} { return d.done }

// Err returns nil as long as the delivery is not done, and when it has
// succeeded; else why it failed.
func (d *Delivery) Err() error {
	select {
	case <-d.done:
		return d.err
	default:
		return nil
	}
}

// Wait waits until the delivery is done and returns its Err. If ctx ends first
// it cancels the delivery, with the consequences that Conn.Send describes; to
// stop waiting without that, use Done.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
	case <-ctx.Done():
		d.conn.cancel(d, canceled(ctx))
	}
	return d.Err()
}

// finish ends the delivery. It needs endpoint.mu.
func (d *Delivery) finish(err error) {
	d.err, d.chunk = err, nil
	close(d.done)
	<-d.conn.slots
}

// Send delivers a chunk of 1 to codec.MaxChunkSize bytes and returns nil when
// the peer has all of it; whether the peer's application has read it is not
// known. The chunk is not copied: it must not change until Send returns.
//
// Send fails with statemachine.ErrChunkSize, and then nothing has happened, or
// with the error that ended the connection. If ctx ends first the error is
// ErrCanceled: a chunk that waits in the queue is withdrawn, and the connection
// goes on; but the protocol cannot take back a chunk in flight, so then the
// connection ends with that error.
func (c *Conn) Send(ctx context.Context, chunk []byte) error {
	d, err := c.Enqueue(ctx, chunk)
	if err != nil {
		return err
	}
	return d.Wait(ctx)
}

// Enqueue puts a chunk in line and does not wait for its delivery, but only
// while the queue is full. The chunk is not copied: it must not change until the
// delivery is done. Once Enqueue has returned, ctx has no effect any more.
//
// Enqueue fails like Send, and then the chunk was not and will not be sent.
func (c *Conn) Enqueue(ctx context.Context, chunk []byte) (*Delivery, error) {
	if n := len(chunk); n < 1 || n > codec.MaxChunkSize {
		return nil, fmt.Errorf("transport: chunk of %d bytes for %v: %w", n, c.addr, statemachine.ErrChunkSize)
	}
	if ctx.Err() != nil {
		return nil, canceled(ctx)
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.done:
		return nil, c.Err()
	case <-ctx.Done():
		return nil, canceled(ctx)
	}
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	d := &Delivery{conn: c, chunk: chunk, done: make(chan struct{})}
	c.queue = append(c.queue, d)
	now := c.endpoint.clock.now()
	c.advanceSending(now)
	c.schedule(now)
	return d, nil
}

// cancel ends a delivery that is not done.
func (c *Conn) cancel(d *Delivery, cause error) {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	if d == c.inFlight {
		c.end(fmt.Errorf("%w (chunk %d to %v was in flight)", cause, c.sender.ChunkID(), c.addr))
	} else if i := slices.Index(c.queue, d); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		d.finish(cause)
	}
}

// advanceSending reports the chunk that has been delivered and starts the next.
func (c *Conn) advanceSending(now statemachine.Micros) {
	if c.sender.State() != statemachine.SenderIdle {
		return
	}
	if c.inFlight != nil {
		c.inFlight.finish(nil)
		c.inFlight = nil
	}
	if len(c.queue) == 0 {
		return
	}
	c.inFlight = c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	c.sender.Submit(now, c.inFlight.chunk) // cannot fail: it is idle, and Enqueue checked the size
}

// endSending fails all that is not delivered.
func (c *Conn) endSending() {
	if c.inFlight != nil {
		c.inFlight.finish(c.err)
		c.inFlight = nil
	}
	for _, d := range c.queue {
		d.finish(c.err)
	}
	c.queue = nil
}
