package transport

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// client is what a Peer that was dialed has for itself: a socket, and the handshake.
type client struct {
	settings settings
	peer     *Peer
	dial     func(context.Context) (net.Conn, error) // of Dial; nil for a socket of the caller
	routeAt  core.Micros                             // when the route is to be looked at
	machine  *connection.Client
	opened   driver.Signal // the handshake is done, or the connection has ended
}

// Dial connects to a server. The network is "udp", "udp4" or "udp6", the address as
// for net.Dial. It returns when the handshake is done: the server has answered, has a
// place, agrees on everything that must be agreed on, and, if the client has a key,
// has shown that it has the same.
//
// It fails with core.ErrConfig; with an error of the net package; with
// ErrUnreachable, if nobody listens there and the system says so; with ErrRefused,
// and the reason in a *session.RefusedError; with ErrTimeout, if nothing is heard for
// Config.Timeout; or with ErrCanceled. A server with Config.Admit decides later, by what the client sends first: if it
// refuses, the Peer's calls fail with a *ClosedError.
func Dial(ctx context.Context, network, address string, cfg Config) (*Peer, error) {
	if err := udp.CheckNetwork(network); err != nil {
		return nil, err
	}
	set, err := newSettings(cfg)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	socket := udp.Connected(conn)
	to, err := socket.Locate(nil)
	if err != nil {
		conn.Close()
		return nil, err
	}
	again := func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, network, to.String()) }
	return dial(ctx, &client{settings: set, dial: again}, socket, to, conn)
}

// Over is Dial over a socket of the caller, which must not be connected. It takes the
// socket over, and closes it when the connection ends, also if Over fails. It fails
// as Dial does, and with a net.AddrError if the socket cannot reach the server.
func Over(ctx context.Context, pc net.PacketConn, server net.Addr, cfg Config) (*Peer, error) {
	set, err := newSettings(cfg)
	if err == nil && udp.IsConnected(pc) {
		err = core.ConfigError("the socket", "connected", "one that is not")
	}
	if err != nil {
		pc.Close()
		return nil, err
	}
	socket := udp.New(pc)
	to, err := socket.Locate(server)
	if err != nil {
		pc.Close()
		return nil, err
	}
	return dial(ctx, &client{settings: set}, socket, to, pc)
}

// dial makes a peer and waits until its handshake is done.
func dial(ctx context.Context, c *client, socket udp.Socket, to udp.Addr, conn any) (*Peer, error) {
	set := &c.settings
	clock := driver.StartClock()
	d := driver.New(socket, c, clock, session.LargestDatagram)
	var err error
	if c.machine, err = connection.NewClient(set.client(socket.Marks()), d.Now()); err != nil {
		socket.Close()
		return nil, named(err)
	}
	d.Log = driver.NewLog(set.Logger, clock)
	p := newPeer(&driver.Links{Driver: d, RecvQueue: set.RecvQueue}, c.machine, to)
	p.client, p.identity = c, set.Identity
	c.peer = p
	p.link.AddLocked((*polled)(p), 0)
	d.Start(conn, set.SocketBuffer)
	if err := c.awaitOpen(ctx); err != nil {
		p.link.Driver.Close(err)
		return nil, err
	}
	return p, nil
}

// awaitOpen waits until the handshake is done.
func (c *client) awaitOpen(ctx context.Context) error {
	for {
		p := c.peer
		p.link.Driver.Lock()
		open, err, change := p.conn != nil, p.link.ErrLocked(), c.opened.Wait()
		p.link.Driver.Unlock()
		switch {
		case err != nil:
			return err
		case open:
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return driver.Canceled(ctx)
		}
	}
}

// closeSlack is how much longer than it should take Close waits for the end.
const closeSlack = 200 * time.Millisecond

// awaitEnd waits until the other end has heard that the connection is closed, and
// ends the driver.
func (c *client) awaitEnd() error {
	patience := time.NewTimer(connection.CloseTime.Duration() + closeSlack)
	defer patience.Stop()
	select {
	case <-c.peer.link.Driver.Done():
	case <-patience.C:
	}
	return c.peer.link.Driver.Close(fmt.Errorf("%w: connection with %v", ErrClosed, c.peer.link.To))
}

func (c *client) Receive(now core.Micros, in []udp.Arrival) {
	p := c.peer
	d := p.link.Driver
	d.Lock()
	defer d.Unlock()
	for i := range in {
		a := &in[i]
		from := a.From.Key == p.link.To.Key
		for datagram, ok := a.Next(); ok; datagram, ok = a.Next() {
			if d.CountInLocked(len(datagram)); from && d.ErrLocked() == nil {
				c.takeLocked(now, datagram, a.ECN)
			}
		}
	}
	if d.ErrLocked() != nil {
		return
	}
	p.updateLocked(now, now)
	if p.conn != nil || p.link.ErrLocked() != nil {
		c.opened.Give()
	}
}

// takeLocked gives a datagram to the connection.
func (c *client) takeLocked(now core.Micros, datagram []byte, ecn udp.ECN) {
	p := c.peer
	if err := c.machine.ReceiveECN(now, datagram, connection.ECN(ecn)); err == nil {
		p.heardLocked(now, len(datagram))
	}
	if conn := c.machine.Conn(); p.conn == nil && conn != nil {
		p.begunLocked(conn)
		p.link.Driver.Log.Begun(p.link.To)
	}
}

func (c *client) Unreadable(size int, _ udp.Addr) {
	c.peer.link.Driver.Lock()
	defer c.peer.link.Driver.Unlock()
	c.peer.link.Driver.CountInLocked(size)
}

// PortUnreachableLocked ends a handshake that has no chance (CXA-6). Once the server has said
// anything it is no reason to end: anyone who knows the ports could have said it, and
// the server may be back in time.
func (c *client) PortUnreachableLocked(err error) {
	if c.peer.conn == nil && c.peer.link.Traffic.DatagramsIn == 0 {
		c.peer.link.Driver.EndLocked(fmt.Errorf("%w at %v: %w", ErrUnreachable, c.peer.link.To, err))
	}
}

func (c *client) ExpireLocked(now core.Micros) { c.peer.expireLocked(now) }

// EndLocked ends the connection: the socket is closed, or broken.
func (c *client) EndLocked(cause error) {
	c.peer.endLocked(cause)
	if c.machine.State() != session.Closed {
		c.peer.logEndLocked(c.settings.Log, eventlog.Client)
	}
	c.opened.Give()
}

// Rebind makes a dialed peer go on with a new socket, and so perhaps another address:
// when the network has changed, for instance. The connection goes on, with all that is
// under way. A client resumes by itself as well when it hears nothing for three tenths
// of the time-out, with a new socket if the system would give it another address. Rebind
// fails with an error of the net package, and then nothing has changed, or with the error
// that ended the connection.
func (p *Peer) Rebind(ctx context.Context) error {
	if p.client == nil || p.client.dial == nil {
		return core.ConfigError("Rebind", "a peer of a server, or of Over", "one of Dial")
	}
	conn, err := p.client.dial(ctx)
	if err != nil {
		return err
	}
	return p.rebind(udp.Connected(conn), conn)
}

// routeInterval is how often a client that hears nothing looks at the route.
const routeInterval = core.Second

// watchRouteLocked looks whether the system would give a new socket another address, if
// the client links again since it hears nothing: then the network has changed, and the
// socket that it has may never bring anything again.
func (c *client) watchRouteLocked(now core.Micros) {
	if c.dial == nil || now < c.routeAt || c.machine.State() != session.Relinking {
		return
	}
	c.routeAt = now + routeInterval
	c.peer.link.Driver.GoLocked(c.followRoute)
}

// followRoute goes on with a new socket if that has another address.
func (c *client) followRoute() {
	conn, err := c.dial(context.Background())
	if err != nil {
		return // there is no way at all now
	}
	if sameIP(conn.LocalAddr(), c.peer.LocalAddr()) {
		conn.Close()
		return
	}
	_ = c.peer.rebind(udp.Connected(conn), conn) // fails if the connection has ended
}

func sameIP(a, b net.Addr) bool {
	x, okX := a.(*net.UDPAddr)
	y, okY := b.(*net.UDPAddr)
	return okX && okY && x.IP.Equal(y.IP)
}

// RebindOver is Rebind over a socket of the caller, which must not be connected, and
// which it takes over, also if it fails.
func (p *Peer) RebindOver(pc net.PacketConn) error {
	if p.client == nil || udp.IsConnected(pc) {
		pc.Close()
		return core.ConfigError("RebindOver", "a peer of a server, or a connected socket", "a client's, and one that is not")
	}
	return p.rebind(udp.New(pc), pc)
}

// rebind goes on with a socket, whose connection or wrapper is conn.
func (p *Peer) rebind(socket udp.Socket, conn any) error {
	if err := p.link.Driver.ReplaceSocket(socket, conn, p.client.settings.SocketBuffer); err != nil {
		socket.Close()
		return err
	}
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	now := p.link.Driver.Now()
	p.link.Driver.Log.Rebound(p.link.To)
	p.client.machine.Move(now)
	p.updateLocked(now, now)
	return p.link.ErrLocked()
}
