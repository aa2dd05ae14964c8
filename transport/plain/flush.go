package plain

import (
	"context"

	"github.com/chunkwire/chunkwire/core"
)

// Flush waits until the socket was given the acks that are due now. What was
// received last is then acked once; if that ack may be lost there is Linger. Flush
// fails with ErrCanceled, or with the error that ended the connection.
func (c *Conn) Flush(ctx context.Context) error {
	err := c.endpoint.driver.Flush(ctx, c.Done(), func(now core.Micros) bool {
		return c.err == nil && c.lanes.AckDeadline() <= now
	})
	if err != nil {
		return err
	}
	return c.Err()
}
