package netsim

import (
	"bytes"
	"net"
	"os"
	"sync"
	"time"
)

// Network connects any number of endpoints in memory. Each ordered pair of
// addresses has its own [Link], made at first use from the path set for the
// pair, or from the default. The draws of a link depend on the network's seed
// and the two names alone, not on other traffic.
//
// All methods are safe for concurrent use.
type Network struct {
	clock clock
	seed  uint64

	mu       sync.Mutex
	fallback Path
	paths    map[route]Path
	links    map[route]*Link
	conns    map[Addr]*Conn
}

// route is an ordered pair of addresses.
type route struct{ from, to Addr }

// NewNetwork returns a network of perfect wires without endpoints. It keeps
// time from now on; inside a [testing/synctest] bubble, that is virtual time.
func NewNetwork(seed uint64) *Network {
	return &Network{
		clock: startClock(),
		seed:  seed,
		paths: make(map[route]Path),
		links: make(map[route]*Link),
		conns: make(map[Addr]*Conn),
	}
}

// SetDefault sets the path of links that are yet to be used and have no path of
// their own. It fails if p is not valid, and then changes nothing.
func (n *Network) SetDefault(p Path) error {
	if err := p.Validate(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fallback = p
	return nil
}

// SetPath sets the path from one address to another, in this direction only. If
// the link is in use, it changes as by [Link.SetPath]. SetPath fails if p is not
// valid, and then changes nothing.
func (n *Network) SetPath(from, to Addr, p Path) error {
	if err := p.Validate(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r := route{from, to}
	n.paths[r] = p
	if l := n.links[r]; l != nil {
		l.setPath(p)
	}
	return nil
}

// Share makes a route use the link of another: datagrams of both directions wait in one
// queue. It replaces the link that the route has had.
func (n *Network) Share(from, to, otherFrom, otherTo Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[route{from, to}] = n.link(route{otherFrom, otherTo})
}

// Wait returns how long a datagram that is sent now, from one address to another,
// waits in the queue of their link.
func (n *Network) Wait(from, to Addr) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.link(route{from, to}).Wait(n.clock.now())
}

// Stats returns the counts of the link from one address to another.
func (n *Network) Stats(from, to Addr) LinkStats {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.links[route{from, to}]; l != nil {
		return l.Stats()
	}
	return LinkStats{}
}

// Listen opens an endpoint. It fails if the address is in use by another that
// is not closed.
func (n *Network) Listen(addr Addr) (*Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns[addr] != nil {
		return nil, &net.OpError{Op: "listen", Net: addr.Network(), Addr: addr, Err: errInUse}
	}
	c := &Conn{
		network:       n,
		addr:          addr,
		netAddr:       addr,
		line:          newDelayLine(n.clock),
		writeDeadline: never,
	}
	n.conns[addr] = c
	return c, nil
}

// send puts a datagram on its link. If nobody listens at the far end when it is
// sent, it crosses the link and vanishes.
func (n *Network) send(c *Conn, payload []byte, to Addr, ecn uint8) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock.now() // under the lock: links must not see time go back
	switch {
	case c.closed:
		return net.ErrClosed
	case now >= c.writeDeadline:
		return os.ErrDeadlineExceeded
	}
	arrivals := n.link(route{c.addr, to}).send(now, len(payload), ecn != 0)
	receiver := n.conns[to]
	if receiver == nil || arrivals.Len() == 0 {
		return nil
	}
	if arrivals.Marked() && ecn != 0 {
		ecn = congested
	}
	p := packet{data: bytes.Clone(payload), peer: c.netAddr, ecn: ecn}
	arrivals.apply(p.data)
	for i := range arrivals.Len() {
		receiver.line.push(now, arrivals.At(i), p)
	}
	return nil
}

// link returns the link of a route and makes it at first use.
func (n *Network) link(r route) *Link {
	if l := n.links[r]; l != nil {
		return l
	}
	p, ok := n.paths[r]
	if !ok {
		p = n.fallback
	}
	l := newLink(p, deriveSeed(n.seed, string(r.from), string(r.to)))
	n.links[r] = l
	return l
}
