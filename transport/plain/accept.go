package plain

import (
	"context"
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
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
			return nil, driver.Canceled(ctx)
		}
		c, arrival, err := e.nextWaiting()
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-arrival:
		case <-e.driver.Done():
		case <-ctx.Done():
		}
	}
}

// nextWaiting returns the connection that has waited for the longest, or what to
// wait for.
func (e *Endpoint) nextWaiting() (c *Conn, arrival <-chan struct{}, err error) {
	e.driver.Lock()
	defer e.driver.Unlock()
	if err := e.driver.ErrLocked(); err != nil {
		return nil, nil, err
	}
	c, arrival = e.waiting.Take()
	return c, arrival, nil
}

// maxWaiting is how many connections wait for Accept at most.
const maxWaiting = 128

// crowdedLocked reports whether there is no place for another peer, and no
// connection that could make room.
func (e *Endpoint) crowdedLocked(now core.Micros) bool {
	return e.waiting.Full() || len(e.conns) >= e.cfg.MaxPeers && e.evictableLocked(now) == nil
}

// evictableLocked returns the connection that is to make room for another; nil if
// none may (see Config.MaxPeers). It looks at one connection, however many there
// are (BND-3).
func (e *Endpoint) evictableLocked(now core.Micros) *Conn {
	c := e.quiet.longest()
	if c == nil || now-c.heardAt < core.FromDuration(e.cfg.GiveUp) {
		return nil
	}
	return c
}

// beginLocked adds a connection that its peer began, gives it the slice that did,
// and evicts another if need be.
func (e *Endpoint) beginLocked(now core.Micros, p *packet, size int, c *Conn) {
	if e.driver.ErrLocked() != nil || e.crowdedLocked(now) {
		e.stats.Full++
		e.driver.Log.Refused(c.peer, "full", e.stats.Full)
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
	e.waiting.Add(c)
	c.handleLocked(now, p, size)
}
