package plain

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// protocol is an endpoint as its driver sees it.
type protocol Endpoint

func (p *protocol) endpoint() *Endpoint { return (*Endpoint)(p) }

func (p *protocol) Receive(now core.Micros, in []udp.Arrival) {
	for i := range in {
		for datagram, ok := in[i].Next(); ok; datagram, ok = in[i].Next() {
			p.endpoint().receive(now, datagram, in[i].From)
		}
	}
}

func (p *protocol) Unreadable(size int, from udp.Addr) {
	e := p.endpoint()
	e.deliver(e.driver.Now(), &connection.PlainPacket{}, codec.ErrTrailingData, size, from)
}

// PortUnreachableLocked ends a connection whose peer has no socket at its port.
func (p *protocol) PortUnreachableLocked(err error) {
	if c := p.sole; c != nil {
		c.endLocked(fmt.Errorf("%w: nobody listens at %v: %w", ErrRefused, c.link.To, err))
	}
}

// ExpireLocked ends the connections whose time is over.
func (p *protocol) ExpireLocked(now core.Micros) {
	for _, c := range p.conns {
		c.end.Expire(now)
		c.updateLocked(now, now)
	}
}

func (p *protocol) EndLocked(cause error) {
	for _, c := range p.conns {
		c.endLocked(cause)
	}
	p.acceptor.End(cause)
}

// receive handles a datagram. A connection is found by the address and port that it
// comes from, and its acks go there (CON-8).
func (e *Endpoint) receive(now core.Micros, datagram []byte, from udp.Addr) {
	p, err := e.ends.Format.Decode(datagram)
	if e.deliver(now, &p, err, len(datagram), from) {
		return
	}
	// Admit is called and the connection made without locks.
	if e.cfg.Admit != nil && !e.cfg.Admit(from.Addr()) {
		e.count(&e.stats.Refused)
		return
	}
	c, err := e.newConn(from, connection.ServerSide)
	if err != nil { // a scheduler that could be made before
		e.count(&e.stats.Refused)
		return
	}
	e.begin(now, &p, len(datagram), c)
}

// firstChunkID is the id with which every connection begins.
const firstChunkID = 0

// deliver gives a packet to its connection. It returns false when the packet is
// the beginning of a connection that can be made: a slice of the first chunk
// of any lane, whatever its id (SEC-2, LAN-11, RPI-5). What did not decode changes only counters
// (CON-4).
func (e *Endpoint) deliver(now core.Micros, p *connection.PlainPacket, invalid error, size int, from udp.Addr) bool {
	e.driver.Lock()
	defer e.driver.Unlock()
	e.driver.CountInLocked(size)
	if invalid != nil {
		e.stats.Undecodable++
		e.undecodableFrom = from
		e.logUndecodableLocked(now, invalid, size, from)
		return true
	}
	if c := e.conns[from.Key]; c != nil {
		c.handleLocked(now, p, size)
		return true
	}
	switch {
	case !from.Known() || p.Type != codec.TypeSlice || p.Slice.ChunkID != firstChunkID:
		e.stats.UnknownPeers++
	case !e.driver.CanBeginLocked(from):
		e.stats.BadSources++
	case e.crowdedLocked(now):
		e.stats.Full++
	default:
		return false
	}
	return true
}

// begin adds a connection that its peer began, gives it the slice that did, and evicts
// another if need be. While nothing was locked there can have been other additions.
func (e *Endpoint) begin(now core.Micros, p *connection.PlainPacket, size int, c *Conn) {
	e.driver.Lock()
	defer e.driver.Unlock()
	if known := e.conns[c.link.To.Key]; known != nil {
		known.handleLocked(now, p, size)
		return
	}
	if e.driver.ErrLocked() != nil || e.crowdedLocked(now) {
		e.stats.Full++
		e.driver.Log.Refused(c.link.To, "full", e.stats.Full)
		return
	}
	if len(e.conns) >= e.cfg.MaxPeers {
		e.evictLocked(now, c)
	}
	e.addLocked(c)
	e.acceptor.Offer(c)
	c.handleLocked(now, p, size)
}

// crowdedLocked reports whether there is no place for another peer, and no
// connection that could make room.
func (e *Endpoint) crowdedLocked(now core.Micros) bool {
	return e.acceptor.Full() || len(e.conns) >= e.cfg.MaxPeers && e.evictableLocked(now) == nil
}

// evictableLocked returns the connection that is to make room for another; nil if
// none can (see Config.MaxPeers). It looks at one connection, however many there
// are (BND-3).
func (e *Endpoint) evictableLocked(now core.Micros) *Conn {
	c := e.quiet.longest()
	if c == nil || now-c.end.HeardAt() < core.FromDuration(e.cfg.GiveUp) {
		return nil
	}
	return c
}

// evictLocked ends a connection, so that another can begin.
func (e *Endpoint) evictLocked(now core.Micros, c *Conn) {
	old := e.evictableLocked(now)
	old.endLocked(fmt.Errorf("%w: connection with %v, silent for %v, made room for %v",
		ErrEvicted, old.link.To, (now - old.end.HeardAt()).Duration(), c.link.To))
	e.stats.Evicted++
}

func (e *Endpoint) count(counter *int64) {
	e.driver.Lock()
	defer e.driver.Unlock()
	*counter++
}
