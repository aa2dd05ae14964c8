package plain

import (
	"context"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Delivery is a chunk on its way to the peer.
type Delivery = driver.Delivery

// deliverer is a connection as its deliveries see it.
type deliverer Conn

func (c *deliverer) Cancel(d *Delivery, cause error) { (*Conn)(c).cancel(d, cause) }

// Send delivers a chunk of 1 to codec.MaxChunkSize bytes and returns nil when
// the peer has all of it; whether the peer's application has read it is not
// known. The chunk is not copied: it must not change until Send returns. For more
// bytes there is package transport/file.
//
// Send fails with statemachine.ErrChunkSize, and then nothing has happened, or
// with the error that ended the connection. If ctx ends first it cancels the
// delivery and returns ErrCanceled, with the consequences that Delivery.Cancel
// describes; Enqueue and Delivery.Wait leave the chunk alone.
func (c *Conn) Send(ctx context.Context, chunk []byte) error {
	return c.SendEncoded(ctx, erasure.EncodeForOne(chunk))
}

// SendEncoded is Send for a chunk that goes to many: with Config.Repair each repair slice is
// made once for all connections that send the same Encoded, at the same time or not.
func (c *Conn) SendEncoded(ctx context.Context, e *erasure.Encoded) error {
	d, err := c.EnqueueEncoded(ctx, e)
	if err != nil {
		return err
	}
	return d.WaitOrCancel(ctx)
}

// Enqueue puts a chunk in line and does not wait for its delivery, but only
// while the queue is full. The chunk is not copied: it must not change until the
// delivery is done. Once Enqueue has returned, ctx has no effect any more.
//
// Enqueue fails like Send, and then the chunk was not and will not be sent.
func (c *Conn) Enqueue(ctx context.Context, chunk []byte) (*Delivery, error) {
	return c.EnqueueEncoded(ctx, erasure.EncodeForOne(chunk))
}

// EnqueueEncoded is Enqueue for a chunk that goes to many, as SendEncoded is.
func (c *Conn) EnqueueEncoded(ctx context.Context, e *erasure.Encoded) (*Delivery, error) {
	if n := len(e.Bytes()); n < 1 || n > codec.MaxChunkSize {
		return nil, fmt.Errorf("transport: chunk of %d bytes for %v: %w", n, c.peer, statemachine.ErrChunkSize)
	}
	if ctx.Err() != nil {
		return nil, driver.Canceled(ctx)
	}
	for {
		d, room, err := c.tryEnqueue(e)
		if room == nil {
			return d, err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return nil, driver.Canceled(ctx)
		}
	}
}

// tryEnqueue puts a chunk in line, or returns what to wait for.
func (c *Conn) tryEnqueue(e *erasure.Encoded) (d *Delivery, room <-chan struct{}, err error) {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	if c.err != nil {
		return nil, nil, c.err
	}
	now := c.endpoint.driver.Now()
	number, err := c.lanes.SubmitEncoded(now, e)
	if errors.Is(err, lanes.ErrBusy) {
		return nil, c.sending.Room(), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("transport: chunk for %v: %w", c.peer, err)
	}
	d = c.sending.Add(number, now, (*deliverer)(c), e.Bytes())
	c.trackQuietLocked()
	c.scheduleLocked(now)
	return d, nil, nil
}

// cancel ends a delivery that is not done.
func (c *Conn) cancel(d *Delivery, cause error) {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	number, ok := c.sending.Number(d)
	switch {
	case !ok:
	case c.lanes.Withdraw(number):
		c.sending.Finish(number, cause)
	default:
		c.endLocked(fmt.Errorf("%w (a chunk to %v was in flight)", cause, c.peer))
	}
}

// finishSendingLocked reports the chunks that have been delivered.
func (c *Conn) finishSendingLocked() {
	for number, ok := c.lanes.Finished(); ok; number, ok = c.lanes.Finished() {
		c.sending.Finish(number, nil)
	}
}
