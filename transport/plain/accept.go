package plain

import (
	"context"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/machine"
)

// Accept returns the next connection that a peer began. There is none before the
// peer's first chunk has begun to arrive: a client that only waits for what the
// server sends must send a first chunk, and one byte will do.
//
// Accept fails with ErrCanceled, or, once the endpoint has ended, with the error
// that ended it. At most 128 connections wait for Accept; beginnings of further
// ones are dropped, and their peers try again. Of those that have ended while they
// waited only the ones that left something to receive are returned.
func (e *Endpoint) Accept(ctx context.Context) (*Conn, error) {
	for {
		if ctx.Err() != nil {
			return nil, canceled(ctx)
		}
		c, arrival, err := e.nextWaiting()
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-arrival:
		case <-e.done:
		case <-ctx.Done():
		}
	}
}

// nextWaiting returns the connection that has waited for the longest, or what to
// wait for.
func (e *Endpoint) nextWaiting() (c *Conn, arrival <-chan struct{}, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return nil, nil, e.err
	}
	return e.waiting.take(), e.waiting.arrival, nil
}

// waitingList is the connections for Accept. A connection that ends with nothing
// to receive is removed immediately, so that it does not occupy a slot.
type waitingList struct {
	most    int
	list    []*Conn
	arrival chan struct{} // closed, and made anew, when one is added
}

// maxWaiting is how many connections wait for Accept at most.
const maxWaiting = 128

func newWaitingList(peers int) waitingList {
	return waitingList{most: min(peers, maxWaiting), arrival: make(chan struct{})}
}

func (w *waitingList) full() bool { return len(w.list) >= w.most }

func (w *waitingList) add(c *Conn) {
	w.list = append(w.list, c)
	close(w.arrival)
	w.arrival = make(chan struct{})
}

// take removes the first and returns it; nil if there is none.
func (w *waitingList) take() *Conn {
	if len(w.list) == 0 {
		return nil
	}
	c := w.list[0]
	w.list = slices.Delete(w.list, 0, 1)
	return c
}

// remove removes a connection, if it is there.
func (w *waitingList) remove(c *Conn) {
	if i := slices.Index(w.list, c); i >= 0 {
		w.list = slices.Delete(w.list, i, i+1)
	}
}

// crowdedLocked reports whether there is no place for another peer, and no
// connection that could make room.
func (e *Endpoint) crowdedLocked(now machine.Micros) bool {
	return e.waiting.full() || len(e.conns) >= e.cfg.MaxPeers && e.evictableLocked(now) == nil
}

// evictableLocked returns the connection that is to make room for another; nil if
// none may (see Config.MaxPeers). It looks at one connection, however many there
// are (BND-3).
func (e *Endpoint) evictableLocked(now machine.Micros) *Conn {
	c := e.quiet.longest()
	if c == nil || now-c.heardAt < machine.FromDuration(e.cfg.GiveUp) {
		return nil
	}
	return c
}

// beginLocked adds a connection that its peer began, gives it the slice that did,
// and evicts another if need be.
func (e *Endpoint) beginLocked(now machine.Micros, p *packet, size int, c *Conn) {
	if e.err != nil || e.crowdedLocked(now) {
		e.stats.Full++
		return
	}
	if len(e.conns) >= e.cfg.MaxPeers {
		old := e.evictableLocked(now)
		old.endLocked(fmt.Errorf("%w: connection with %v, silent for %v, made room for %v",
			ErrEvicted, old.peer, (now - old.heardAt).Duration(), c.peer))
		e.stats.Evicted++
	}
	c.begun = true
	e.addLocked(c)
	e.waiting.add(c)
	c.handleLocked(now, p, size)
}
