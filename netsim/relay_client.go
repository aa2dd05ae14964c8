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

	// Guarded by Relay.mu.
	up, down *Link
	used     time.Duration // when a datagram came last, to or from the client
}

// readClients forwards from the clients to the server until the relay closes.
func (r *Relay) readClients() {
	r.read(r.cfg.Listen, func(data []byte, from net.Addr) {
		if c := r.client(from); c != nil {
			r.forward(c, c.up, packet{data: data, peer: r.cfg.Server, out: c.upstream})
		}
	})
}

// readServer forwards from the server to one client until the relay closes.
func (r *Relay) readServer(c *client) {
	r.read(c.upstream, func(data []byte, _ net.Addr) {
		r.forward(c, c.down, packet{data: data, peer: c.addr, out: r.cfg.Listen})
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
		case errors.Is(err, net.ErrClosed):
			return
		default:
			r.count(&r.counts.ReadErrors, err)
			if !r.pause() {
				return
			}
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
	c, room := r.find(key)
	if c != nil || !room {
		return c
	}
	upstream, err := r.cfg.Dial() // can take time: not under the lock
	if err != nil {
		r.count(&r.counts.DialErrors, err)
		return nil
	}
	return r.addClient(key, addr, upstream)
}

// find returns the client of a key, or whether there is room for a new one.
func (r *Relay) find(key string) (c *client, room bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c = r.clients[key]; c != nil {
		return c, false
	}
	if len(r.clients) >= r.cfg.MaxClients {
		r.giveUpIdle()
	}
	if room = len(r.clients) < r.cfg.MaxClients; !room {
		r.counts.Ignored++
	}
	return nil, room
}

// giveUpIdle gives up the client that was idle for the longest, if that is long enough.
func (r *Relay) giveUpIdle() {
	idle, oldest := "", r.clock.now()-r.cfg.Idle
	for key, c := range r.clients {
		if c.used <= oldest {
			idle, oldest = key, c.used
		}
	}
	if c := r.clients[idle]; c != nil && r.cfg.Idle > 0 {
		r.up.add(c.up.Stats())
		r.down.add(c.down.Stats())
		delete(r.clients, idle)
		c.upstream.Close()
	}
}

// count counts one more error of a kind.
func (r *Relay) count(n *int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
	r.counts.LastError = err
}

func (r *Relay) addClient(key string, addr net.Addr, upstream net.PacketConn) *client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		upstream.Close()
		return nil
	}
	// By number, not by address: ports differ from run to run.
	name := strconv.FormatInt(r.counts.Served, 10)
	r.counts.Served++
	c := &client{
		addr:     addr,
		upstream: upstream,
		up:       newLink(r.cfg.Up, deriveSeed(r.cfg.Seed, name, "server")),
		down:     newLink(r.cfg.Down, deriveSeed(r.cfg.Seed, "server", name)),
		used:     r.clock.now(),
	}
	r.clients[key] = c
	r.tasks.Go(func() { r.readServer(c) })
	return c
}

// forward puts a packet on a link and schedules copies of it.
func (r *Relay) forward(c *client, l *Link, p packet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.now() // under the lock: links must not see time go back
	c.used = now
	arrivals := l.Send(now, len(p.data))
	if arrivals.Len() == 0 {
		return
	}
	p.data = bytes.Clone(p.data)
	arrivals.apply(p.data)
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
		if _, err := p.out.WriteTo(p.data, p.peer); err != nil {
			r.count(&r.counts.WriteErrors, err)
		}
	}
}
