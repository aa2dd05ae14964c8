package driver

import "slices"

// Waiting is the connections for Accept. One that ends with nothing to receive is
// removed immediately, so that it does not occupy a slot. It needs a lock.
type Waiting[C comparable] struct {
	most    int
	list    []C
	arrival Signal
}

// NewWaiting returns a list of so many connections at most.
func NewWaiting[C comparable](most int) Waiting[C] { return Waiting[C]{most: most} }

// Full reports whether there is no room for another.
func (w *Waiting[C]) Full() bool { return len(w.list) >= w.most }

// Add puts a connection behind the others.
func (w *Waiting[C]) Add(c C) {
	w.list = append(w.list, c)
	w.arrival.Give()
}

// Take removes the first and returns it, or returns what to wait for.
func (w *Waiting[C]) Take() (c C, arrival <-chan struct{}) {
	if len(w.list) == 0 {
		return c, w.arrival.Wait()
	}
	c = w.list[0]
	w.list = slices.Delete(w.list, 0, 1)
	return c, nil
}

// Remove removes a connection, if it is there.
func (w *Waiting[C]) Remove(c C) {
	if i := slices.Index(w.list, c); i >= 0 {
		w.list = slices.Delete(w.list, i, i+1)
	}
}
