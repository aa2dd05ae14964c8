package netsim

import (
	"bytes"
	"errors"
	"net"
	"strconv"
	"time"
)

// readPause is how long a relay waits after a failed read, so that a socket
// that keeps failing does not keep a processor busy.
const readPause = time.Millisecond

// client is one client of a relay.
type client struct {
	addr     net.Addr
	upstream net.PacketConn
	up, down *Link // guarded by Relay.mu
}

// readClients forwards from the clients to the server until the relay closes.
func (r *Relay) readClients() {
	r.read(r.cfg.Listen, func(data []byte, from net.Addr) {
		if c := r.client(from); c != nil {
			r.forward(c.up, packet{data: data, peer: r.cfg.Server, out: c.upstream})
		}
	})
}

// readServer forwards from the server to one client until the relay closes.
func (r *Relay) readServer(c *client) {
	r.read(c.upstream, func(data []byte, _ net.Addr) {
		r.forward(c.down, packet{data: data, peer: c.addr, out: r.cfg.Listen})
	})
}

// read hands all that arrives on a socket to a function, which must not keep
// the data.
func (r *Relay) read(socket net.PacketConn, handle func(data []byte, from net.Addr)) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := socket.ReadFrom(buf)
		switch {
		case err == nil:
			handle(buf[:n], from)
		case errors.Is(err, net.ErrClosed) || !r.pause():
			return
		}
	}
}

// pause waits a moment. It returns false if the relay is closed.
func (r *Relay) pause() bool {
	select {
	case <-r.done:
		return false
	case <-time.After(readPause):
		return true
	}
}

// client returns the client with an address, a new one if need be. It returns
// nil if there can be no more.
func (r *Relay) client(addr net.Addr) *client {
	key := addr.String()
	r.mu.Lock()
	c, full := r.clients[key], len(r.clients) >= r.cfg.MaxClients
	r.mu.Unlock()
	if c != nil || full {
		return c
	}
	upstream, err := r.cfg.Dial() // may take time: not under the lock
	if err != nil {
		return nil
	}
	return r.addClient(key, addr, upstream)
}

func (r *Relay) addClient(key string, addr net.Addr, upstream net.PacketConn) *client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		upstream.Close()
		return nil
	}
	// By number, not by address: ports differ from run to run.
	name := strconv.Itoa(len(r.clients))
	c := &client{
		addr:     addr,
		upstream: upstream,
		up:       newLink(r.cfg.Up, deriveSeed(r.cfg.Seed, name, "server")),
		down:     newLink(r.cfg.Down, deriveSeed(r.cfg.Seed, "server", name)),
	}
	r.clients[key] = c
	r.tasks.Go(func() { r.readServer(c) })
	return c
}

// forward puts a packet on a link and schedules copies of it.
func (r *Relay) forward(l *Link, p packet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.now() // under the lock: links must not see time go back
	arrivals := l.Send(now, len(p.data))
	if arrivals.Len() == 0 {
		return
	}
	p.data = bytes.Clone(p.data)
	for i := range arrivals.Len() {
		r.line.push(now, arrivals.At(i), p)
	}
}

// deliver sends packets when they are due, until the relay closes.
func (r *Relay) deliver() {
	for {
		p, err := r.line.receive()
		if err != nil {
			return
		}
		p.out.WriteTo(p.data, p.peer) // a failure is one more loss
	}
}
