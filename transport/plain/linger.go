package plain

import (
	"context"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/internal/driver"
)

// Linger waits until nothing has come from the peer for quiet. Until then the
// connection goes on answering (CON-7): if the ack of a chunk's last slice was lost the
// peer sends slices again, and needs that answer to know that it is done. An end
// that leaves after it received should linger, for longer than the peer's resend
// timer twice: 600 ms is enough as long as the round trip takes less. If the peer
// goes on sending, Linger returns after ten times quiet.
//
// Linger fails with ErrCanceled, or with the error that ended the connection.
func (c *Conn) Linger(ctx context.Context, quiet time.Duration) error {
	began, limit := time.Now(), lingerLimit(quiet)
	for {
		left := min(quiet-c.silence(), limit-time.Since(began))
		if left <= 0 {
			return c.Err()
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-c.Done():
			timer.Stop()
			return c.Err()
		case <-ctx.Done():
			timer.Stop()
			return driver.Canceled(ctx)
		}
	}
}

// lingerLimit returns how long lingering for quiet can take.
func lingerLimit(quiet time.Duration) time.Duration {
	const times = 10
	if quiet > math.MaxInt64/times {
		return math.MaxInt64
	}
	return times * quiet
}

// silence returns for how long nothing valid has come from the peer.
func (c *Conn) silence() time.Duration {
	c.link.Driver.Lock()
	defer c.link.Driver.Unlock()
	return -c.link.Driver.Until(c.end.HeardAt())
}
