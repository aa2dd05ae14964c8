package plain

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// protocol is an endpoint as its driver sees it.
type protocol Endpoint

func (p *protocol) endpoint() *Endpoint { return (*Endpoint)(p) }

func (p *protocol) Receive(now core.Micros, datagram []byte, from udp.Peer, _ udp.ECN) {
	p.endpoint().receive(now, datagram, from)
}

func (p *protocol) Unreadable(size int, from udp.Peer) {
	e := p.endpoint()
	e.deliver(e.driver.Now(), &packet{}, codec.ErrTrailingData, size, from)
}

// PortUnreachableLocked ends a connection whose peer has no socket at its port.
func (p *protocol) PortUnreachableLocked(err error) {
	if c := p.sole; c != nil {
		c.endLocked(fmt.Errorf("%w: nobody listens at %v: %w", ErrRefused, c.peer, err))
	}
}

func (p *protocol) ExpireLocked(now core.Micros) { p.endpoint().expireLocked(now) }

func (p *protocol) EndLocked(cause error) {
	for _, c := range p.conns {
		c.endLocked(cause)
	}
}

// expireLocked ends the connections whose time is over. It leaves the driver a
// quarter more than it needs: if it can go on after all, packets that wait in the
// socket come before the timers.
func (e *Endpoint) expireLocked(now core.Micros) {
	slack := core.FromDuration(e.cfg.GiveUp / 4)
	for _, c := range e.conns {
		c.lanes.Expire(now - slack)
		idle := c.idleAtLocked()
		if c.lanes.Err() != nil || idle < core.Never && now-core.FromDuration(e.cfg.IdleTimeout/4) >= idle {
			c.settleLocked(now)
		}
	}
}

// sendLastAcksLocked sends the acks that are due at a connection's end: without
// them a peer whose chunk is complete would not know.
func (e *Endpoint) sendLastAcksLocked(c *Conn) {
	now := e.driver.Now()
	for k, a, ok := c.lanes.PollAck(now); ok; k, a, ok = c.lanes.PollAck(now) {
		if data, err := e.framers[k].AppendAck(nil, a); err == nil && e.driver.SendLastLocked(c.peer, data) {
			c.traffic.Out(len(data))
		}
	}
}
