package driver

import (
	"context"
	"fmt"
)

// Delivery is a chunk on its way to the peer.
type Delivery struct {
	by    Deliverer
	chunk []byte // nil once done
	done  chan struct{}
	err   error // set before done is closed
}

// Deliverer is the connection of a Delivery.
type Deliverer interface {
	// Cancel ends a delivery that is not done, if it can.
	Cancel(d *Delivery, cause error)
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

// Wait waits until the delivery is done and returns its Err. If ctx ends first it
// returns ErrCanceled, and the delivery goes on: to end it there is Cancel.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
		return d.err
	default:
	}
	select {
	case <-d.done:
		return d.err
	case <-ctx.Done():
		return Canceled(ctx)
	}
}

// Cancel ends the delivery with ErrCanceled, which then wraps cause if that is not
// nil. It does nothing to one that is done. A chunk that waits in the queue is
// withdrawn, and the connection goes on; but the protocol cannot take back a chunk
// in flight, so then the connection ends with that error.
func (d *Delivery) Cancel(cause error) {
	if cause == nil {
		d.by.Cancel(d, ErrCanceled)
		return
	}
	d.by.Cancel(d, fmt.Errorf("%w: %w", ErrCanceled, cause))
}

// WaitOrCancel waits until the delivery is done, and cancels it if ctx ends first.
func (d *Delivery) WaitOrCancel(ctx context.Context) error {
	select {
	case <-d.done:
	case <-ctx.Done():
		d.by.Cancel(d, Canceled(ctx))
	}
	return d.Err()
}

// finish ends the delivery.
func (d *Delivery) finish(err error) {
	d.err, d.chunk = err, nil
	close(d.done)
}
