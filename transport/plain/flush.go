package plain

import (
	"context"
	"slices"

	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/machine"
)

// flush is a caller that waits until the acks that are due have been sent.
type flush struct {
	conn *Conn
	done chan struct{}
}

// Flush waits until the socket was given the acks that are due now. What was
// received last is then acked once; if that ack may be lost there is Linger. Flush
// fails with ErrCanceled, or with the error that ended the connection.
func (c *Conn) Flush(ctx context.Context) error {
	e := c.endpoint
	f := flush{c, make(chan struct{})}
	e.driver.Lock()
	e.flushes = append(e.flushes, f)
	if e.driver.IdleLocked() {
		e.reportFlushedLocked(e.driver.Now())
	}
	e.driver.Unlock()
	select {
	case <-f.done:
		return c.Err()
	case <-c.Done():
		return c.Err()
	case <-ctx.Done():
		return driver.Canceled(ctx)
	}
}

// reportFlushedLocked wakes those who wait and have nothing due any more. The
// driver must have written all that it collected.
func (e *Endpoint) reportFlushedLocked(now machine.Micros) {
	e.flushes = slices.DeleteFunc(e.flushes, func(f flush) bool {
		if f.conn.err == nil && f.conn.ackDeadlineLocked() <= now {
			return false
		}
		close(f.done)
		return true
	})
}
