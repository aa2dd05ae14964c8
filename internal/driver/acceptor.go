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
	bounds  AcceptorBounds
	waiting []waiting[C]
	living  int
	of      map[uint64]int // living ones by source
	arrival Signal
	done    chan struct{} // closed when there will be no more
	err     error         // why
}

// AcceptorBounds are how many connections there can be in all, and how many of one source: living ones, which
// Begin reports, and those that have ended and wait.
type AcceptorBounds struct{ All, OfSource int }

// waiting is a connection that waits.
type waiting[C comparable] struct {
	c      C
	ended  bool
	source uint64 // if it has ended
}

// NewAcceptor returns one where nothing waits.
func NewAcceptor[C comparable](bounds AcceptorBounds) *Acceptor[C] {
	return &Acceptor[C]{bounds: bounds, of: make(map[uint64]int), done: make(chan struct{})}
}

// Begin counts a connection of a source, which has begun. Others that have ended make room for it.
func (a *Acceptor[C]) Begin(source uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.living++
	a.of[source]++
	a.makeRoom(source)
}

// Leave counts a connection as one that does not live any more. If it waits, it keeps its place, unless there are too
// many with it.
func (a *Acceptor[C]) Leave(c C, source uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.living--
	if a.of[source]--; a.of[source] == 0 {
		delete(a.of, source)
	}
	if i := a.find(c); i >= 0 {
		a.waiting[i].ended, a.waiting[i].source = true, source
		a.makeRoom(source)
	}
}

// makeRoom removes connections that have ended, the newest first, until there are no more than can be.
func (a *Acceptor[C]) makeRoom(source uint64) {
	all, ofSource := a.living-a.bounds.All, a.of[source]-a.bounds.OfSource
	for _, w := range a.waiting {
		all += count(w.ended)
		ofSource += count(w.ended && w.source == source)
	}
	for i := len(a.waiting) - 1; i >= 0; i-- {
		w := a.waiting[i]
		if same := w.source == source; w.ended && (all > 0 || ofSource > 0 && same) {
			a.waiting = slices.Delete(a.waiting, i, i+1)
			all--
			ofSource -= count(same)
		}
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (a *Acceptor[C]) find(c C) int {
	return slices.IndexFunc(a.waiting, func(w waiting[C]) bool { return w.c == c })
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
	c = a.waiting[0].c
	a.waiting = slices.Delete(a.waiting, 0, 1)
	return c, nil, nil
}

// Full reports whether there is no room for another.
func (a *Acceptor[C]) Full() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) >= a.bounds.All
}

// Offer puts a connection behind the others.
func (a *Acceptor[C]) Offer(c C) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, waiting[C]{c: c})
	a.arrival.Give()
}

// Withdraw removes a connection if it waits: one that has ended with nothing to receive must not occupy a place.
func (a *Acceptor[C]) Withdraw(c C) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.find(c); i >= 0 {
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
