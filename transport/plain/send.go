package plain

import (
	"context"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/machine"
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
	d, err := c.Enqueue(ctx, chunk)
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
	if n := len(chunk); n < 1 || n > codec.MaxChunkSize {
		return nil, fmt.Errorf("transport: chunk of %d bytes for %v: %w", n, c.peer, statemachine.ErrChunkSize)
	}
	if ctx.Err() != nil {
		return nil, driver.Canceled(ctx)
	}
	for {
		d, room, err := c.tryEnqueue(chunk)
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
func (c *Conn) tryEnqueue(chunk []byte) (d *Delivery, room <-chan struct{}, err error) {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	if c.err != nil {
		return nil, nil, c.err
	}
	// The queue only has chunks while one is in flight.
	if len(c.queue) == c.endpoint.cfg.SendQueue {
		return nil, c.room.Wait(), nil
	}
	now := c.endpoint.driver.Now()
	if c.sendsNothingLocked() {
		c.pacer.restart(now)
	}
	d = driver.NewDelivery((*deliverer)(c), chunk)
	c.queue = append(c.queue, d)
	c.advanceSendingLocked(now)
	c.trackQuietLocked()
	c.scheduleLocked(now)
	return d, nil, nil
}

// finishLocked ends a delivery.
func (c *Conn) finishLocked(d *Delivery, err error) {
	d.FinishLocked(err)
	c.room.Give()
}

// cancel ends a delivery that is not done.
func (c *Conn) cancel(d *Delivery, cause error) {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	for k, l := range c.bySubmissionLocked() {
		if d == l.inFlight {
			c.endLocked(fmt.Errorf("%w (%schunk %d to %v was in flight)", cause, c.laneName(k), l.sender.Vars().ChunkID, c.peer))
			return
		}
	}
	if i := slices.Index(c.queue, d); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.finishLocked(d, cause)
	}
}

// advanceSendingLocked reports the chunks that have been delivered and starts the
// next, one a lane (CON-2, CON-3, LAN-4).
func (c *Conn) advanceSendingLocked(now machine.Micros) {
	finished := false
	for _, l := range c.bySubmissionLocked() {
		if l.inFlight != nil && l.idle() {
			c.finishLocked(l.inFlight, nil)
			l.inFlight = nil
			finished = true
		}
	}
	for len(c.queue) > 0 && c.mayBeginLocked() {
		l := &c.lanes[c.nextOut]
		l.inFlight = c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		c.sharePathLocked(l)
		l.sender.Submit(now, l.inFlight.Chunk()) // cannot fail: it is idle, and Enqueue checked the size
		c.nextOut = c.after(c.nextOut)
	}
	if finished && c.sendsNothingLocked() {
		c.queue = nil
		for i := range c.lanes {
			c.lanes[i].rest() // an idle connection is to cost little
		}
	}
}

// sendsNothingLocked reports whether nothing is in flight or queued.
func (c *Conn) sendsNothingLocked() bool {
	for i := range c.lanes {
		if c.lanes[i].inFlight != nil {
			return false
		}
	}
	return len(c.queue) == 0
}

// endSendingLocked fails all that is not delivered.
func (c *Conn) endSendingLocked() {
	for _, l := range c.bySubmissionLocked() {
		if l.inFlight != nil {
			c.finishLocked(l.inFlight, c.err)
			l.inFlight = nil
		}
	}
	for _, d := range c.queue {
		c.finishLocked(d, c.err)
	}
	c.queue = nil
}
