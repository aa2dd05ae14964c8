package transport

import (
	"context"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/statemachine"
)

// Accept returns the next connection that a peer began. There is none before the
// peer's first chunk has begun to arrive: a client that only waits for what the
// server sends must send a first chunk, and one byte will do.
//
// Accept fails with ErrCanceled, or, once the endpoint has ended, with the error
// that ended it, whoever still waits. At most 128 connections wait for Accept;
// beginnings of further ones are dropped, and their peers try again. Of those
// that have ended while they waited only the ones that left something to receive
// are returned.
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

// waitingList is the connections for Accept. One that ends with nothing to
// receive leaves it at once, so that the dead keep no place from the living.
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

// The rest of this file needs e.mu.

// crowded reports whether there is no place for another peer, and nobody who
// could make room.
func (e *Endpoint) crowded(now statemachine.Micros) bool {
	return e.waiting.full() || len(e.conns) >= e.cfg.MaxPeers && e.evictable(now) == nil
}

// evictable returns the connection that is to make room for another; nil if none
// may. Those that have been silent for so long without being quiet are few: what
// they have in flight fails soon, or they are heard again.
func (e *Endpoint) evictable(now statemachine.Micros) *Conn {
	for i := e.silence.Front(); i != nil; i = i.Next() {
		c := i.Value.(*Conn)
		if now-c.heardAt < statemachine.FromDuration(e.cfg.GiveUp) {
			break
		}
		if c.quiet() {
			return c
		}
	}
	return nil
}

// quiet reports whether nothing is in flight or queued, either way.
func (c *Conn) quiet() bool {
	for i := range c.lanes {
		if c.lanes[i].receiver.State() == statemachine.ReceiverReceiving {
			return false
		}
	}
	return c.sendsNothing()
}

// heard notes that something valid came from the peer.
func (c *Conn) heard(now statemachine.Micros) {
	c.heardAt = max(c.heardAt, now)
	if c.begun {
		c.endpoint.silence.MoveToBack(c.silent)
	}
}

// begin adds a connection that its peer began, gives it the slice that did, and
// evicts another if need be.
func (e *Endpoint) begin(now statemachine.Micros, p *packet, size int, c *Conn) {
	if e.err != nil || e.crowded(now) {
		e.stats.Full++
		return
	}
	if len(e.conns) >= e.cfg.MaxPeers {
		old := e.evictable(now)
		old.end(fmt.Errorf("%w: connection with %v, silent for %v, made room for %v",
			ErrEvicted, old.peer, (now - old.heardAt).Duration(), c.peer))
		e.stats.Evicted++
	}
	c.begun = true
	e.adopt(c)
	e.waiting.add(c)
	c.handle(now, p, size)
}
