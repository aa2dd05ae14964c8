package netsim

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// defaultMaxClients is the limit when RelayConfig.MaxClients is zero.
const defaultMaxClients = 64

// RelayConfig says what a [Relay] connects, and how badly.
type RelayConfig struct {
	// Listen is the socket clients send to. The relay owns it and closes it.
	Listen net.PacketConn

	// Server is where datagrams from clients go.
	Server net.Addr

	// Dial opens the socket for one client to the server. It must not be
	// connected, as the relay uses WriteTo. Whatever arrives on it goes to the
	// client. If Dial fails, the client's datagram is lost, and its next one
	// tries again.
	Dial func() (net.PacketConn, error)

	// Up is the path from each client to the server, Down the one back. Every
	// client has links of its own.
	Up, Down Path

	// Seed decides all chance, together with the order in which the clients
	// first appear.
	Seed uint64

	// MaxClients is how many clients the relay serves until it is closed.
	// Zero means 64. Datagrams of further ones are ignored.
	MaxClients int
}

func (c *RelayConfig) validate() error {
	switch {
	case c.Listen == nil:
		return errors.New("netsim: relay without Listen")
	case c.Server == nil:
		return errors.New("netsim: relay without Server")
	case c.Dial == nil:
		return errors.New("netsim: relay without Dial")
	case c.MaxClients < 0:
		return fmt.Errorf("netsim: MaxClients is %d", c.MaxClients)
	}
	return errors.Join(c.Up.Validate(), c.Down.Validate())
}

// Relay forwards datagrams between clients and a server, through two links per
// client.
type Relay struct {
	cfg   RelayConfig
	clock clock
	line  *delayLine // one for all, so one goroutine sends everything
	done  chan struct{}
	tasks sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	clients map[string]*client // by address
}

// NewRelay starts a relay. If it fails, cfg.Listen is left open.
func NewRelay(cfg RelayConfig) (*Relay, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.MaxClients == 0 {
		cfg.MaxClients = defaultMaxClients
	}
	c := startClock()
	r := &Relay{
		cfg:     cfg,
		clock:   c,
		line:    newDelayLine(c),
		done:    make(chan struct{}),
		clients: make(map[string]*client),
	}
	r.tasks.Go(r.deliver)
	r.tasks.Go(r.readClients)
	return r, nil
}

// Stats returns the sums over all clients, toward the server and back.
func (r *Relay) Stats() (up, down LinkStats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.clients {
		up.add(c.up.Stats())
		down.add(c.down.Stats())
	}
	return up, down
}

// Close closes Listen and the sockets made by Dial, and waits for all
// goroutines of the relay to end. Datagrams under way are lost. A second Close
// fails with [net.ErrClosed].
func (r *Relay) Close() error {
	if !r.shut() {
		return net.ErrClosed
	}
	r.line.close()
	err := r.cfg.Listen.Close()
	for _, c := range r.clients { // once shut, the map does not change
		err = errors.Join(err, c.upstream.Close())
	}
	r.tasks.Wait()
	return err
}

// shut stops the relay from adding clients, or returns false if that was done.
func (r *Relay) shut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.closed = true
	close(r.done)
	return true
}
