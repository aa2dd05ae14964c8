package driver

import (
	"context"
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// flush is a caller that waits until the socket was given what is due.
type flush struct {
	dueLocked func(now core.Micros) bool
	done      chan struct{}
}

// Flush waits until the socket was given what is due of a connection, as long as the
// connection and ctx last. It fails with ErrCanceled alone.
func (d *Driver) Flush(ctx context.Context, ended <-chan struct{}, dueLocked func(now core.Micros) bool) error {
	f := flush{dueLocked, make(chan struct{})}
	d.Lock()
	d.flushes = append(d.flushes, f)
	if d.sleepUntil != awake && !d.watchdog.writing { // so nothing is on its way to the socket
		d.reportFlushedLocked(d.Now())
	}
	d.wakeLocked()
	d.Unlock()
	select {
	case <-f.done:
	case <-ended:
	case <-ctx.Done():
		return Canceled(ctx)
	}
	return nil
}

// reportFlushedLocked wakes those who wait and have nothing due any more. The
// driver must have written all that it collected.
func (d *Driver) reportFlushedLocked(now core.Micros) {
	d.flushes = slices.DeleteFunc(d.flushes, func(f flush) bool {
		if f.dueLocked(now) {
			return false
		}
		close(f.done)
		return true
	})
}
