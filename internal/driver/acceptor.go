package driver

import (
	"context"
	"slices"
	"sync"
)

// Acceptor gives an application the connections that others began. It has a lock of its
// own, which is taken after the locks of drivers.
type Acceptor[C comparable] struct {
	mu      sync.Mutex
	most    int // connections that wait
	waiting []C
	arrival Signal
	done    chan struct{} // closed when there will be no more
	err     error         // why
}

// NewAcceptor returns one where so many connections may wait.
func NewAcceptor[C comparable](most int) *Acceptor[C] {
	return &Acceptor[C]{most: most, done: make(chan struct{})}
}

// Accept returns the connection that has waited longest. It fails with ErrCanceled, or with
// what End was called with.
func (a *Acceptor[C]) Accept(ctx context.Context) (c C, err error) {
	for {
		if ctx.Err() != nil {
			return c, Canceled(ctx)
		}
		c, arrival, err := a.take()
		if arrival == nil {
			return c, err
		}
		select {
		case <-arrival:
		case <-a.done:
		case <-ctx.Done():
		}
	}
}

// take removes the first and returns it, or returns what to wait for.
func (a *Acceptor[C]) take() (c C, arrival <-chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return c, nil, a.err
	case len(a.waiting) == 0:
		return c, a.arrival.Wait(), nil
	}
	c = a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	return c, nil, nil
}

// Full reports whether there is no room for another.
func (a *Acceptor[C]) Full() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) >= a.most
}

// Offer puts a connection behind the others.
func (a *Acceptor[C]) Offer(c C) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, c)
	a.arrival.Give()
}

// Withdraw removes a connection that has ended, if it waits: one with nothing to receive
// must not occupy a place. One that is not empty is removed only if no more may wait.
func (a *Acceptor[C]) Withdraw(c C, empty bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.waiting, c); i >= 0 && (empty || len(a.waiting) >= a.most) {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
}

// End ends Accept with a cause, unless it has ended.
func (a *Acceptor[C]) End(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = cause
		close(a.done)
	}
}

// Done returns a channel that is closed when Accept has ended.
func (a *Acceptor[C]) Done() <-chan struct{} { return a.done }

// Err returns why Accept has ended, or nil.
func (a *Acceptor[C]) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}
